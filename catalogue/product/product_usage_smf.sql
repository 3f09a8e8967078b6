-- Usage of products in the hours of SMF 89. Documents do not say whether several records of one hour (with an SMF interval
-- below an hour) add up: an hour with several records of a product has no times, and its records are counted as doubtful.
with used as (
    select u.*, s.* exclude (source_id, record_no),
        local_clock(s.smf89usd, s.smf89ust) as local_start, local_clock(s.smf89ued, s.smf89uet) as local_end
    from smf89_1_usage u
    join (only_section(smf89_1_system)) s on s.source_id = u.source_id and s.record_no = u.record_no
),
added as (
    select system, max(sysplex) as sysplex, smf89upo, smf89upn, smf89upv, smf89upq,
        max(smf89upi) as smf89upi, local_start, local_start as local_quarter, local_end,
        count(distinct (source_id, record_no)) as records,
        sum(smf89uct::double) as smf89uct, sum(smf89usr::double) as smf89usr
    from used
    where local_end > local_start
    group by system, smf89upo, smf89upn, smf89upv, smf89upq, local_start, local_end
),
offset_of as (
    -- Systems begin the hours of SMF 89 as they begin intervals of RMF.
    offset_of_quarters(added, rmf_product_section)
)
select a.system, a.sysplex, o.utc_offset, o.utc_offset is null as local_time,
    moment(a.local_start - coalesce(o.utc_offset, 0)) as interval_start,
    moment(a.local_end - coalesce(o.utc_offset, 0)) as interval_end,
    a.smf89upo as owner, a.smf89upn as product, a.smf89upv as version, a.smf89upq as qualifier,
    nullif(a.smf89upi, '') as product_id,
    a.local_end - a.local_start as interval_seconds,
    case when a.records = 1 then a.smf89uct end as tcb_seconds,
    case when a.records = 1 then a.smf89usr end as srb_seconds,
    a.records::double as records, if(a.records > 1, a.records, 0)::double as doubtful_records
from added a
left join offset_of o on o.system = a.system and o.local_quarter = a.local_start
