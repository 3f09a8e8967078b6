-- Every class period in SMF 72-3.
--
-- CPU seconds are service units divided by the coefficient of the service definition and by the rate of the processor:
-- seconds = units / coefficient / (16,000,000 / R723MADJ) (IBM SMF Explorer, cpu_service_coefficient_adjusted).
-- R723CCPU holds the service of all kinds of engine. zIIP and zAAP service, made equivalent to a general processor by
-- R723NFFS and R723NFFI, is taken out of it to get the time on general processors (RMF: APPL% CP).
with entry as (
    -- Buckets of response times. The first section is the map with the bounds, so the entry numbered R723CRTX is the
    -- section after that one.
    select *, section_no::bigint - 1 as number
    from smf72_3_response_distribution
),
period as (
    select p.*,
        c.r723mscf, c.r723mwnm, c.r723mcnm, c.r723mcde, c.r723mnsp,
        -- A coefficient of zero leaves no service to convert.
        16e6 / nullif(c.r723madj::double, 0) * nullif(c.r723mcpu::double, 0) as units_per_cpu_second,
        16e6 / nullif(c.r723madj::double, 0) * nullif(c.r723msrb::double, 0) as units_per_srb_second,
        coalesce(nullif(c.r723nffs::double, 0), 1) as ziip_factor,
        coalesce(nullif(c.r723nffi::double, 0), 1) as zaap_factor,
        -- R723CADF says which kinds of data a period records. What it does not record stands as zero in it, which would
        -- read as work that cost nothing.
        r723cadf is null or bit_of_byte(r723cadf, 0) as has_work,
        r723cadf is null or bit_of_byte(r723cadf, 1) as has_ended,
        r723cadf is null or bit_of_byte(r723cadf, 2) as has_states,
        -- R723CRGF and R723CRTF: the first bit that is on.
        case
            when bit_of_byte(p.r723crgf, 0) then 'percentile'
            when bit_of_byte(p.r723crgf, 1) then 'average'
            when bit_of_byte(p.r723crgf, 2) then 'velocity'
            when bit_of_byte(p.r723crgf, 3) then 'discretionary'
            when bit_of_byte(p.r723crgf, 4) then 'system'
        end as kind_of_goal,
        case
            when bit_of_byte(p.r723crtf, 0) then 0.001::double
            when bit_of_byte(p.r723crtf, 1) then 1
            when bit_of_byte(p.r723crtf, 2) then 60
            when bit_of_byte(p.r723crtf, 3) then 3600
            else 0.001
        end as seconds_per_goal_unit
    from smf72_3_period p
    join smf72_3_wlm_control c on c.source_id = p.source_id and c.record_no = p.record_no
)
select p.system, p.sysplex, p.interval_start, p.interval_end, p.utc_offset,
    case when bit_of_byte(r723mscf, 0) then 'report class' else 'service class' end as class_kind,
    r723mwnm as workload,
    r723mcnm as class_name,
    r723cper::bigint as period,
    r723mcde as description,
    r723mnsp as policy,
    kind_of_goal as goal,
    seconds_between(p.interval_start, p.interval_end) as interval_seconds,
    r723cimp as importance,
    r723cpct as goal_percentile,
    case when kind_of_goal in ('percentile', 'average') then r723cval::double * seconds_per_goal_unit end
        as goal_seconds,
    case when kind_of_goal = 'velocity' then r723cval::double / 100 end as goal_velocity,
    case when has_ended then r723crcp end as transactions,
    r723carc as abnormal_transactions,
    r723cncp as executed_transactions,
    -- The fields in microseconds where the record has them, else the older ones.
    case when has_ended then coalesce(nullif(r723ctetx::double, 0), r723ctet::double) end as elapsed_seconds,
    case when has_ended then coalesce(nullif(r723cetsx::double, 0), r723cets::double) end as elapsed_squares,
    case when has_ended then coalesce(nullif(r723cxetx::double, 0), r723cxet::double) end as execution_seconds,
    case when has_ended then coalesce(nullif(r723cqdtx::double, 0), r723cqdt::double) end as queue_seconds,
    case when has_work then r723ctat end as active_seconds,
    case when has_work then r723ctrr end as resident_seconds,
    case when has_work then r723csrv end as service_units,
    case when has_work then r723ccpu end as service_units_cpu,
    case when has_work then r723csrb end as service_units_srb,
    case when has_work then r723cioc end as service_units_io,
    case when has_work then r723cmso end as service_units_mso,
    case when has_work then r723ccpu::double / units_per_cpu_second end as tcb_seconds,
    case when has_work then r723csrb::double / units_per_srb_second end as srb_seconds,
    case when has_work then r723crct end as rct_seconds,
    case when has_work then r723ciit end as iit_seconds,
    case when has_work then r723chst end as hst_seconds,
    case when has_work then r723csup::double / units_per_cpu_second * ziip_factor end as ziip_seconds,
    case when has_work then r723csup::double / units_per_cpu_second end as ziip_engine_seconds,
    case when has_work then r723csuc::double / units_per_cpu_second end as ziip_on_cp_seconds,
    case when has_work then r723cifa::double / units_per_cpu_second * zaap_factor end as zaap_seconds,
    case when has_work then r723cifa::double / units_per_cpu_second end as zaap_engine_seconds,
    case when has_work then r723cifc::double / units_per_cpu_second end as zaap_on_cp_seconds,
    case when has_work then r723circ end as dasd_requests,
    case when has_work then r723cict end as dasd_connect_seconds,
    case when has_work then r723cidt end as dasd_disconnect_seconds,
    case when has_work then r723ciwt end as dasd_wait_seconds,
    case when has_work then r723ciot end as dasd_ios_queue_seconds,
    case when has_work then r723cprs end as page_residency_seconds,
    case when has_states then r723ctou end as using_samples,
    case when has_states then r723ctot end as delay_samples,
    case when has_states then r723ctsa end as execution_samples,
    r723ccus as cpu_using_samples,
    r723ccde as cpu_delay_samples,
    r723ccca as capping_delay_samples,
    r723supu as ziip_using_samples,
    r723sucu as ziip_on_cp_samples,
    r723supd as ziip_delay_samples,
    r723ciou as io_using_samples,
    r723ciod as io_delay_samples,
    r723cunk as unknown_samples,
    r723cidl as idle_samples,
    r723rtdm as distribution_midpoint,
    e.r723trdb_1 as bucket_1, e.r723trdb_2 as bucket_2, e.r723trdb_3 as bucket_3, e.r723trdb_4 as bucket_4,
    e.r723trdb_5 as bucket_5, e.r723trdb_6 as bucket_6, e.r723trdb_7 as bucket_7, e.r723trdb_8 as bucket_8,
    e.r723trdb_9 as bucket_9, e.r723trdb_10 as bucket_10, e.r723trdb_11 as bucket_11, e.r723trdb_12 as bucket_12,
    e.r723trdb_13 as bucket_13, e.r723trdb_14 as bucket_14,
    m.r723trdb_1::double / 100 as bound_1, m.r723trdb_2::double / 100 as bound_2,
    m.r723trdb_3::double / 100 as bound_3, m.r723trdb_4::double / 100 as bound_4,
    m.r723trdb_5::double / 100 as bound_5, m.r723trdb_6::double / 100 as bound_6,
    m.r723trdb_7::double / 100 as bound_7, m.r723trdb_8::double / 100 as bound_8,
    m.r723trdb_9::double / 100 as bound_9, m.r723trdb_10::double / 100 as bound_10,
    m.r723trdb_11::double / 100 as bound_11, m.r723trdb_12::double / 100 as bound_12,
    m.r723trdb_13::double / 100 as bound_13
from period p
left join entry e on e.source_id = p.source_id and e.record_no = p.record_no
    and e.number = p.r723crtx::bigint and e.number > 0
left join entry m on m.source_id = p.source_id and m.record_no = p.record_no and m.number = 0
