-- CPU of address spaces as statistics reports print it; their total is left out.
with space as (
    select * replace (
        coalesce(srb_seconds, total2(preemptable_srb_seconds, nonpreemptable_srb_seconds)) as srb_seconds
    )
    from db2_statistics_report
    where address_space <> 'TOTAL'
)
select * replace (coalesce(cp_seconds, total2(tcb_seconds, srb_seconds)) as cp_seconds)
from space
