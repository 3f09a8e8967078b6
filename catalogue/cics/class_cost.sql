-- Classes that use CPU time, beside the transactions of the classes that end transactions and use none: transactions of
-- CICS have classes of their own, and what they use is recorded with the region's class.
with period as (
    select *,
        total5(tcb_seconds, srb_seconds, rct_seconds, iit_seconds, hst_seconds) as all_engines,
        total2(ziip_seconds, zaap_seconds) as specialty
    from {periods}
),
class as (
    select system, sysplex, interval_start, interval_end, utc_offset, class_kind, class_name,
        max(interval_seconds) as interval_seconds,
        sum(all_engines - coalesce(specialty, 0)) as cp_seconds,
        sum(coalesce(specialty, 0)) as specialty_seconds,
        sum(coalesce(total3(tcb_seconds, srb_seconds, ziip_seconds), 0)) as used_seconds,
        sum(transactions::double) as ended,
        used_seconds = 0 and ended > 0 as is_of_cics
    from period
    group by system, sysplex, interval_start, interval_end, utc_offset, class_kind, class_name
),
seen as (
    select *,
        bool_or(is_of_cics and class_kind = 'report class') over together as is_reported,
        bool_or(is_of_cics and class_kind = 'service class') over together as is_served
    from class
    window together as (partition by system, sysplex, interval_start, interval_end)
),
-- Report classes and service classes hold the same work: those are taken that hold transactions of CICS.
taken as (
    select * from seen
    where (is_reported or is_served)
        and class_kind = case when is_reported then 'report class' else 'service class' end
)
select *,
    sum(case when is_of_cics then ended else 0 end)
        over (partition by system, sysplex, interval_start, interval_end) as cics_transactions
from taken
qualify used_seconds > 0
