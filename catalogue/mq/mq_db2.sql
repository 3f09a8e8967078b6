-- One row for each kind of request to Db2 that was made: how many, time of the thread and of the SQL.
with kinds as (
    select system, sysplex, subsystem, interval_start, interval_end, utc_offset,
        unnest([
            'delete', 'list', 'read', 'update', 'write',
            'select channel status', 'insert channel status', 'update channel status', 'delete channel status',
            'select synchronization key', 'insert synchronization key', 'delete synchronization key',
            'select large message', 'insert large message', 'update large message', 'delete large message',
            'list large messages'
        ]) as request,
        unnest([
            delecnt, listcnt, readcnt, updtcnt, writcnt,
            scssel, scsins, scsupd, scsdel,
            ssksel, sskins, sskdel,
            lmssel, lmsins, lmsupd, lmsdel,
            lmslis
        ]) as requests,
        unnest([
            deletcuw, listtcuw, readtcuw, updttcuw, writtcuw,
            scsstcuw, scsitcuw, scsutcuw, scsdtcuw,
            sskstcuw, sskitcuw, sskdtcuw,
            lmsstcuw, lmsitcuw, lmsutcuw, lmsdtcuw,
            lmsltcuw
        ]) as thread_seconds,
        unnest([
            delescuw, listscuw, readscuw, updtscuw, writscuw,
            scssscuw, scsiscuw, scsuscuw, scsdscuw,
            ssksscuw, sskiscuw, sskdscuw,
            lmssscuw, lmsiscuw, lmsuscuw, lmsdscuw,
            lmslscuw
        ]) as sql_seconds,
        unnest([
            deletmxw, listtmxw, readtmxw, updttmxw, writtmxw,
            scsstmxw, scsitmxw, scsutmxw, scsdtmxw,
            sskstmxw, sskitmxw, sskdtmxw,
            lmsstmxw, lmsitmxw, lmsutmxw, lmsdtmxw,
            lmsltmxw
        ]) as longest_thread_seconds,
        unnest([
            delesmxw, listsmxw, readsmxw, updtsmxw, writsmxw,
            scsssmxw, scsismxw, scsusmxw, scsdsmxw,
            sskssmxw, sskismxw, sskdsmxw,
            lmsssmxw, lmsismxw, lmsusmxw, lmsdsmxw,
            lmslsmxw
        ]) as longest_sql_seconds
    from smf115_2_q5st
)
select *, subsystem as queue_manager, seconds_between(interval_start, interval_end) as interval_seconds
from kinds
where requests > 0
