-- What the sections of one collection tell of a region as a whole: a row each.
select * from cics_statistics(smf110_2_transaction_manager)
union all by name
select * from cics_statistics(smf110_2_dispatcher)
union all by name
select *,
    case when dsgtcbnm = 'QR' then dsgact end as qr_cpu_seconds,
    case when dsgtcbnm = 'QR' then dsgtdt end as qr_dispatch_seconds,
    case when dsgtcbnm = 'QR' then dsgtwt end as qr_wait_seconds,
    -- Open modes: their TCBs belong to one task at a time.
    case when dsgtcbnm in ('L8', 'L9', 'X8', 'X9', 'T8', 'S8', 'J8', 'J9', 'H8') then dsgact end as open_cpu_seconds,
    case when coalesce(dsgtcbnm, '') not in ('QR', 'L8', 'L9', 'X8', 'X9', 'T8', 'S8', 'J8', 'J9', 'H8') then dsgact end
        as other_cpu_seconds
from cics_statistics(smf110_2_dispatcher_tcb_mode)
