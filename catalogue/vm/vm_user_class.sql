-- Virtual machines by their virtual I/O per hour, one row per class and day.
with used as (
    select *, to_timestamp(floor(epoch(interval_end) / 86400) * 86400) as day
    from vm_account
),
of_user as (
    select system, max(sysplex) as sysplex, day, acntuser,
        sum(acntcont::double) as connected_seconds,
        sum(acnttime::double) as cpu_seconds,
        sum(acntioct::double) as virtual_ios
    from used
    group by system, day, acntuser
),
classed as (
    select *,
        case
            when virtual_ios = 0 then 'VIO0'
            when connected_seconds = 0 then 'no time connected'
            when virtual_ios * 3600 < 1000 * connected_seconds then 'VIO1'
            when virtual_ios * 3600 < 2500 * connected_seconds then 'VIO2'
            when virtual_ios * 3600 < 5000 * connected_seconds then 'VIO3'
            when virtual_ios * 3600 < 20000 * connected_seconds then 'VIO4'
            when virtual_ios * 3600 < 25000 * connected_seconds then 'VIO5'
            when virtual_ios * 3600 < 50000 * connected_seconds then 'VIO6'
            when virtual_ios * 3600 < 100000 * connected_seconds then 'VIO7'
            else 'above VIO7'
        end as user_class
    from of_user
    where virtual_ios is not null and connected_seconds is not null
),
class as (
    select system, max(sysplex) as sysplex, day, user_class,
        count(*)::double as users,
        sum(connected_seconds) as connected_seconds,
        sum(cpu_seconds) as cpu_seconds,
        sum(virtual_ios) as virtual_ios
    from classed
    group by system, day, user_class
),
-- Shares of a customer's users and of all processor time, in the appendix of the report of 1992.
published as (
    select 'VIO0' as user_class, 0.068 as study_user_fraction, 0.004 as study_cpu_fraction
    union all select 'VIO1', 0.759, 0.291
    union all select 'VIO2', 0.106, 0.110
    union all select 'VIO3', 0.028, 0.051
    union all select 'VIO4', 0.012, 0.030
    union all select 'VIO5', 0.007, 0.115
    union all select 'VIO6', 0.002, 0.004
    union all select 'VIO7', 0.001, 0.013
)
select c.system, c.sysplex, c.day as interval_start, to_timestamp(epoch(day) + 86400) as interval_end,
    null::double as utc_offset, true as local_time,
    c.user_class, c.users, c.connected_seconds, c.cpu_seconds, c.virtual_ios,
    sum(c.users) over (partition by c.system, c.day) as all_users,
    sum(c.cpu_seconds) over (partition by c.system, c.day) as all_cpu_seconds,
    p.study_user_fraction, p.study_cpu_fraction
from class c
left join published p on p.user_class = c.user_class
