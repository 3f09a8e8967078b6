-- Service class periods with the samples of their interval. Which period a section of swap reasons belongs to follows from its
-- number, and only in a record that has as many of them as of periods.
with periods as (
    select p.*, r.smf7xsam, count(*) over (partition by p.source_id, p.record_no) as sections
    from smf72_4_period p
    left join rmf_product_section r on r.source_id = p.source_id and r.record_no = p.record_no
),
reasons as (
    select *, count(*) over (partition by source_id, record_no) as sections from same_section(smf72_4_swap_reason)
)
select p.system, p.sysplex, p.interval_start, p.interval_end, p.utc_offset,
    nullif(p.r724lcnm, '') as class_name, p.r724per::bigint as period, nullif(p.r724pnam, '') as policy,
    seconds_between(p.interval_start, p.interval_end) as interval_seconds,
    p.r724user::double / samples as address_spaces, p.r724actv::double / samples as active_address_spaces,
    p.r724actf::double / samples as active_frames, p.r724idle::double / samples as idle_frames,
    p.r724lscf::double / samples as swapped_frames, p.r724fix::double / samples as fixed_frames,
    p.r724div::double / samples as div_frames, p.r724slot::double / samples as slots,
    p.r724pgin as page_ins, p.r724gpi as shared_page_ins, p.r724end as transactions,
    coalesce(p.r724etx, p.r724et) as execution_seconds, coalesce(p.r724qtx, p.r724qt) as queue_seconds,
    p.r724vald as valid_samples, p.r724idls as idle_samples, p.r724unkn as unknown_samples,
    p.r724upro as processor_samples, p.r724udev as device_samples,
    p.r724dpro as processor_delay_samples, p.r724ddev as device_delay_samples, p.r724dsto as storage_delay_samples,
    p.r724page as paging_delay_samples, p.r724swap as swap_delay_samples, p.r724outr as out_samples,
    p.r724denq as enqueue_delay_samples,
    p.r724djes::double + p.r724dhsm::double + p.r724dxcf::double as subsystem_delay_samples,
    p.r724dmnt::double + p.r724dmsg::double as operator_delay_samples,
    p.r724lsct as long_logical_swaps, p.r724psct as long_physical_swaps,
    o.r724or4 as out_auxiliary_samples, o.r724or5 as out_real_samples, o.r724or7a as out_pool_samples,
    o.r724or8::double + o.r724or9::double as out_exchange_samples, o.r724or10 as out_unilateral_samples,
    o.r724or12::double + o.r724or13::double + o.r724or14::double as out_improve_samples,
    o.r724or1::double + o.r724or2::double + o.r724or3::double + o.r724or6::double + o.r724or11::double
        + o.r724or15::double + o.r724or16::double + o.r724or17::double + o.r724or18::double as out_wait_samples
from (select *, nullif(smf7xsam::double, 0) as samples from periods) p
left join reasons o
    on o.source_id = p.source_id and o.record_no = p.record_no and o.section_no = p.section_no and o.sections = p.sections
