-- Of a time that is there both ways, the way in which it did not fall. A time longer than the interval is none.
with time as (
    select *, interval_seconds * 1.01 as most,
        coalesce(user_up, user_down) as user_seconds,
        coalesce(system_up, system_down) as system_seconds,
        coalesce(wait_up, wait_down) as wait_seconds
    from intervals
)
select * replace (
        case when user_seconds <= most then user_seconds end as user_seconds,
        case when system_seconds <= most then system_seconds end as system_seconds,
        case when wait_seconds <= most then wait_seconds end as wait_seconds
    ),
    case when emulation_up <= most then emulation_up end as emulation_seconds
from time
