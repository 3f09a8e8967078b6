-- CPU time of address spaces, beside the transactions of CICS that their system ran in the same time.
with statistics as (
    select system, interval_start as starts, interval_end as ends, xmgnum::double as ended
    from cics_statistics(smf110_2_transaction_manager)
),
-- Of a system without statistics, the tasks that monitoring tells of.
monitored as (
    -- The minute by microseconds: a calendar function takes a microsecond per task.
    select t.system, to_timestamp(epoch_us(t.task_stop) // 60000000 * 60) as starts, count(*)::double as ended
    from cics_tasks t
    where t.is_ended and not exists (select 1 from statistics s where s.system = t.system)
    group by t.system, starts
),
cics as (
    select system, starts, ends, ended from statistics where ends > starts
    union all
    select system, starts, starts + interval 1 minute as ends, ended from monitored where starts is not null
),
space as (
    select system, sysplex, interval_start, interval_end, utc_offset, job,
        -- Programs that address spaces are known by, and what works in them.
        case program
            when 'DFHSIP' then 'CICS region'
            when 'DFHSIPZ' then 'CICS region'
            when 'ISTINM01' then 'VTAM'
            when 'EZBTCPIP' then 'TCP/IP'
            when 'IXCINJST' then 'XCF'
            when 'CSQYASCP' then 'MQ queue manager'
            when 'CSQXJST' then 'MQ channel initiator'
            when 'DSNYASCP' then 'Db2'
            when 'DSNX9WLM' then 'Db2 stored procedures'
            when 'DXRRLM00' then 'IRLM'
            when 'CTGBATCH' then 'CICS Transaction Gateway'
            when 'IGWSSI' then 'VSAM RLS'
            when 'IXGINLPA' then 'System logger'
            else 'other'
        end as role,
        seconds_between(interval_start, interval_end) as interval_seconds,
        total5(
            total3(tcb_seconds, srb_seconds, initiator_tcb_seconds),
            initiator_srb_seconds, io_interrupt_seconds, region_control_seconds, hiperspace_seconds
        ) as cp_seconds,
        coalesce(ziip_seconds, 0) as specialty_seconds,
        -- Steps of a job can share an interval: each keeps its own number.
        row_number() over () as number
    from address_space_smf
),
-- Where the interval of CICS is not that of the address space, its transactions are shared out by time.
met as (
    select s.*, c.ended * seconds_between(greatest(c.starts, s.interval_start), least(c.ends, s.interval_end))
            / seconds_between(c.starts, c.ends) as transactions
    from space s
    join cics c on c.system = s.system and c.starts < s.interval_end and c.ends > s.interval_start
)
select system, sysplex, interval_start, interval_end, utc_offset, job, role,
    interval_seconds, cp_seconds, specialty_seconds, sum(transactions) as cics_transactions
from met
group by number, system, sysplex, interval_start, interval_end, utc_offset, job, role,
    interval_seconds, cp_seconds, specialty_seconds
