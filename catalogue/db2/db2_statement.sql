-- Statements by their last record. Identifiers of dynamic statements begin anew with Db2: the text tells such statements apart.
with dynamic as (
    select *, row_number() over (
        partition by system, subsystem, qw0316tk, qw0316st order by interval_end desc, record_no desc, section_no desc
    ) as age
    from smf102_ifcid316
),
static as (
    select *, row_number() over (
        partition by system, subsystem, qw0401id order by interval_end desc, record_no desc, section_no desc
    ) as age
    from smf102_ifcid401
)
select system, sysplex, subsystem, utc_offset, quarter_of(interval_end) as interval_start,
    quarter_end(quarter_of(interval_end)) as interval_end,
    'dynamic' as kind, qw0316tk::bigint::varchar as statement,
    nullif(trim(qw0316st), '') as statement_text,
    nullif(trim(substr(qw0316t1, 1, coalesce(qw0316t1l, 0)::bigint)), '') as program,
    nullif(trim(qw0316t2), '') as transaction_name, nullif(trim(qw0316xe), '') as end_user,
    nullif(trim(qw0316xf), '') as workstation,
    case
        when bit_of_byte(qw0316fl, 0) then 'DROP or ALTER' when bit_of_byte(qw0316fl, 1) then 'REVOKE'
        when bit_of_byte(qw0316fl, 2) then 'least recently used' when bit_of_byte(qw0316fl, 3) then 'RUNSTATS'
    end as left_for,
    1::double as statements, qw0316ne::double as executions, qw0316ct as cpu_seconds, qw0316ae as elapsed_seconds,
    null::double as sync_wait_seconds,
    qw0316ng::double as getpages, qw0316nb::double as sync_reads, qw0316nw::double as sync_writes,
    qw0316nr::double as rows_examined, qw0316np::double as rows_processed, qw0316ns::double as sorts,
    qw0316ni::double as index_scans, qw0316nt::double as table_space_scans, qw0316nl::double as parallel_groups,
    qw0316rt::double + qw0316rs::double as rid_failures
from dynamic
where age = 1
union all
select system, sysplex, subsystem, utc_offset, quarter_of(interval_end), quarter_end(quarter_of(interval_end)),
    'static', qw0401id::decimal(20, 0)::varchar,
    null::varchar, null::varchar, null::varchar, null::varchar, null::varchar, null::varchar,
    1::double, qw0401ne::double, qw0401ct, qw0401ae, qw0401w1,
    qw0401ng::double, qw0401nb::double, qw0401nw::double,
    qw0401nr::double, qw0401np::double, qw0401ns::double,
    qw0401ni::double, qw0401nt::double, qw0401nl::double,
    qw0401rt::double + qw0401rs::double
from static
where age = 1
