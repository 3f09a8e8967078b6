-- I/O of data sets, with the names that IFCID 105 and 107 give to numbers of databases and page sets, as told last.
--
-- Db2 writes the records at the statistics interval. A record tells no interval: it is the time since the record
-- before of the same Db2. The first record of the data is taken to cover as long an interval as the next; a single
-- one has none.
with told as (
    select system, subsystem, interval_end, qw0105db::bigint as number, qw0105ob::bigint as page_set_number,
        nullif(qw0105dn, '') as database_name, nullif(qw0105tn, '') as page_set_name
    from smf102_ifcid105
    union all
    select system, subsystem, interval_end, qw0107db::bigint, qw0107ob::bigint,
        nullif(qw0107dn, ''), nullif(qw0107tn, '')
    from smf102_ifcid107
),
names as (
    select system, subsystem, number, page_set_number,
        arg_max(database_name, (interval_end, database_name)) as database_name,
        arg_max(page_set_name, (interval_end, page_set_name)) as page_set_name
    from told
    group by system, subsystem, number, page_set_number
),
data_set as (
    select *, qw0199db::bigint as number, qw0199ob::bigint as page_set_number,
        -- The records of one interval are written one after another: the second nearest names them all.
        date_trunc('second', interval_end + interval 500 milliseconds) as written
    from smf102_ifcid199
),
covered as (
    select system, subsystem, written,
        coalesce(
            lag(written) over records,
            to_timestamp(2 * epoch(written) - epoch(lead(written) over records))
        ) as since
    from (select distinct system, subsystem, written from data_set)
    window records as (partition by system, subsystem order by written)
)
select d.system, d.sysplex, d.subsystem, d.utc_offset,
    c.since as interval_start,
    d.written as interval_end,
    date_diff('second', c.since, d.written)::double as interval_seconds,
    pool_name('BP', d.qw0199bp) as pool,
    coalesce(n.database_name, d.number::varchar) as database,
    coalesce(n.page_set_name, d.page_set_number::varchar) as page_set,
    d.qw0199dn::bigint::varchar as partition,
    case d.qw0199ty when 'T' then 'table space' when 'I' then 'index space' else d.qw0199ty end as kind,
    d.qw0199sr::double as sync_ios,
    d.qw0199sr::double * d.qw0199sa::double as sync_delay_seconds,
    d.qw0199sm as sync_delay_longest_seconds,
    d.qw0199ar::double as async_ios,
    d.qw0199ap as async_pages,
    d.qw0199ar::double * d.qw0199aa::double as async_delay_seconds,
    d.qw0199am as async_delay_longest_seconds,
    d.qw0199vc as pages_cached,
    d.qw0199vd as pages_changed
from data_set d
left join covered c on c.system = d.system and c.subsystem = d.subsystem and c.written = d.written
left join names n on n.system = d.system and n.subsystem = d.subsystem
    and n.number = d.number and n.page_set_number = d.page_set_number
