-- Every channel initiator has dispatchers; the other kinds of task may be absent.
select 'dispatcher' as task_type, *, qctchln as channels from smf115_231_qct_dsp
union all by name
select 'adapter' as task_type, * from smf115_231_qct_adp
union all by name
select 'SSL' as task_type, *, qctlsdu as longest_seconds from smf115_231_qct_ssl
union all by name
select 'DNS' as task_type, *, qctlgdu as longest_seconds from smf115_231_qct_dns
