-- Samples of service class periods at each policy interval, by quarter of an hour. Records have local time alone. Periods of
-- servers and of the system ($SRM...) are left out. A record has one class, whose name is that of the policy; the period has the
-- internal one.
with class_of as (
    select source_id, record_no, max(smf99_cnam) as policy_class
    from smf99_2_class
    group by source_id, record_no
    having count(*) = 1
),
sampled as (
    select p.*, epoch(r.written_at) as local_at, floor(epoch(r.written_at) / 900) * 900 as local_quarter,
        coalesce(nullif(c.policy_class, ''), p.smf99_pcnm) as class_name
    from smf99_2_period p
    join smf_record r on r.source_id = p.source_id and r.record_no = p.record_no
    left join class_of c on c.source_id = p.source_id and c.record_no = p.record_no
    where r.written_at is not null
),
offset_of as (
    offset_of_quarters(sampled, rmf_product_section)
),
placed as (
    select d.*, o.utc_offset as local_offset, quarter_of(moment(d.local_at - coalesce(o.utc_offset, 0))) as quarter
    from sampled d
    left join offset_of o on o.system = d.system and o.local_quarter = d.local_quarter
    where not starts_with(d.class_name, '$SRM')
)
select system, max(sysplex) as sysplex, max(local_offset) as utc_offset, bool_or(local_offset is null) as local_time,
    quarter as interval_start, quarter_end(quarter) as interval_end,
    class_name, smf99_pnum::bigint as period,
    seconds_between(quarter, quarter_end(quarter)) as interval_seconds,
    count(*)::double as policy_intervals,
    sum(smf99_pcpuu::double) as processor_using, sum(smf99_pcpud::double) as processor_delay,
    sum(smf99_pcapd::double) as capping_delay,
    sum(smf99_psupu::double) as ziip_using, sum(smf99_psupd::double) as ziip_delay,
    sum(smf99_piou::double) as io_using, sum(smf99_piod::double) as io_delay,
    sum(smf99_pauxp::double + smf99_pauxc::double + coalesce(smf99_pauxs::double, 0)) as paging_delay,
    sum(smf99_pvio::double + smf99_phss::double + smf99_phsc::double) as hiperspace_delay,
    sum(smf99_paswp::double) as swap_delay, sum(smf99_pmpld::double) as mpl_delay,
    sum(
        smf99_pcpuu::double + smf99_pcpud + smf99_pcapd + coalesce(smf99_psupu, 0) + coalesce(smf99_psupd, 0)
        + smf99_piou + smf99_piod + smf99_pauxp + smf99_pauxc + coalesce(smf99_pauxs, 0) + smf99_pvio + smf99_phss
        + smf99_phsc + smf99_paswp + smf99_pmpld
    ) as sampled,
    sum(smf99_pothr::double) as other_samples, sum(smf99_pidle::double) as idle_samples
from placed
group by system, quarter, class_name, smf99_pnum
