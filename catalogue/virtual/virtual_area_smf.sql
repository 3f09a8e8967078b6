-- A row for each common area. Amounts of CSA include a restricted use CSA; whether its size does is not documented, so that there is
-- no size then.
with sampled as (
    select c.*, p.smf7xsam::double as samples, bit_of_byte(c.r782flg, 0) as restricted
    from smf78_2_common c
    left join (only_section(rmf_product_section)) p on p.source_id = c.source_id and p.record_no = c.record_no
),
areas as (
    virtual_area(
        sampled, 'CSA', if(restricted, null, r782cs), r782csau_vsdbtotl, r782csau_vsdbmin, r782csau_vsdbmax,
        r782csaf_vsdbmin, r782cslf_vsdbmin, null
    )
    union all
    virtual_area(
        sampled, 'ECSA', if(restricted, null, r782ecs), r782csau_vsdatotl, r782csau_vsdamin, r782csau_vsdamax,
        r782csaf_vsdamin, r782cslf_vsdamin, null
    )
    union all
    virtual_area(
        sampled, 'SQA', r782ss, r782sqau_vsdbtotl, r782sqau_vsdbmin, r782sqau_vsdbmax,
        r782sqaf_vsdbmin, r782sqlf_vsdbmin, r782sqex_vsdbmax
    )
    union all
    virtual_area(
        sampled, 'ESQA', r782ess, r782sqau_vsdatotl, r782sqau_vsdamin, r782sqau_vsdamax,
        r782sqaf_vsdamin, r782sqlf_vsdamin, r782sqex_vsdamax
    )
)
select system, sysplex, interval_start, interval_end, utc_offset, area,
    seconds_between(interval_start, interval_end) as interval_seconds, size_bytes,
    mean_of_samples(added_up, samples, least, most_allocated_bytes) as allocated_bytes, most_allocated_bytes,
    least_free_bytes, least_block_bytes, most_expanded_bytes
from areas
