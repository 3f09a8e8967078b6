-- What each record of SMF 30 says, in the names of the grains.
select system, sysplex, interval_start, interval_end, local_offset, subtype, record_no, written, initiated, read_in,
    smf30jbn as job, nullif(smf30jnm, '') as job_id, printf('%04X', smf30asi::bigint) as asid,
    nullif(smf30pgm, '') as program, nullif(smf30stm, '') as step, nullif(smf30psn, '') as procedure_step,
    smf30stn::bigint as step_number, coalesce(nullif(smf30cl8, ''), nullif(smf30cls, '')) as job_class,
    work_type, nullif(smf30scn, '') as service_class, nullif(smf30rcn, '') as report_class,
    nullif(smf30wlm, '') as workload, nullif(smf30rud, '') as "user",

    -- Both are times of day: a program that starts after midnight starts on the day after its allocation.
    case when smf30pps > 0 and smf30ast > 0 then
        smf30pps::double - smf30ast::double + if(smf30pps < smf30ast, 86400, 0)
    end as allocation_seconds,
    smf30jqt as conversion_seconds, smf30rqt as affinity_seconds, smf30hqt as held_seconds, smf30sqt as queue_seconds,

    -- How a step ended; of a job, whether a step of it abended (SMF30STI bit 13).
    (bit_of_halfword(smf30sti, 6) or bit_of_halfword(smf30sti, 13))::double as abends,
    bit_of_halfword(smf30sti, 7)::double as flushed,
    (smf30sti is not null and smf30sti::bigint >> 11 <> 0)::double as cancelled,
    case
        when smf30sti is null then null
        when (bit_of_halfword(smf30sti, 6) or bit_of_halfword(smf30sti, 13)) then
            case
                when bit_of_halfword(smf30scc, 0) then 'U' || printf('%04d', smf30scc::bigint & 4095)
                when coalesce(smf30scc::bigint & 4095, 0) <> 0 then 'S' || printf('%03X', smf30scc::bigint & 4095)
                else 'abend in an earlier step'
            end
        when bit_of_halfword(smf30sti, 7) then 'flushed'
        when smf30sti::bigint >> 11 <> 0 then 'cancelled'
        else 'RC ' || printf('%04d', coalesce(smf30scc::bigint, 0) & 4095)
    end as completion,

    smf30_time(smf30cpt, bit_of_halfword(smf30tfl, 1)) as tcb_seconds,
    smf30_time(smf30cps, bit_of_halfword(smf30tfl, 2)) as srb_seconds,
    smf30_time(smf30icu, bit_of_halfword(smf30tfl, 6)) as initiator_tcb_seconds,
    smf30_time(smf30isb, bit_of_halfword(smf30tfl, 5)) as initiator_srb_seconds,
    smf30_time(smf30iip, bit_of_halfword(smf30tfl, 9)) as io_interrupt_seconds,
    smf30_time(smf30rct, bit_of_halfword(smf30tfl, 11)) as region_control_seconds,
    smf30_time(smf30hpt, bit_of_halfword(smf30tfl, 10)) as hiperspace_seconds,
    smf30_time(smf30asr, bit_of_halfword(smf30tfl, 12)) as preemptable_srb_seconds,
    smf30_time(smf30enc, bit_of_halfword(smf30tfl, 13)) as enclave_seconds,
    smf30_time(smf30det, bit_of_halfword(smf30tfl, 14)) as dependent_enclave_seconds,
    smf30_time(smf30cepi, bit_of_byte(smf30tf2, 6)) as enqueue_promoted_seconds,
    smf30_time(smf30crp, bit_of_byte(smf30tf2, 7)) as contention_promoted_seconds,
    smf30_time(smf30_time_on_ziip, bit_of_byte(smf30t32, 0)) as ziip_engine_seconds,
    smf30_time(smf30_enclave_time_on_ziip, bit_of_byte(smf30t32, 1)) as ziip_enclave_seconds,
    smf30_time(smf30_time_ziip_on_cp, bit_of_byte(smf30t32, 3)) as ziip_on_cp_seconds,
    smf30_time(smf30_time_on_ifa, bit_of_byte(smf30tf2, 0)) as zaap_engine_seconds,
    smf30_time(smf30_time_java_on_ziip, bit_of_byte(smf30t32, 6)) as java_ziip_seconds,
    smf30_time(smf30_time_java_on_cp, bit_of_byte(smf30t33, 5)) as java_on_cp_seconds,
    smf30_time(smf30_time_on_ziip, bit_of_byte(smf30t32, 0)) * coalesce(nullif(smf30snf::double, 0), 1) as ziip_seconds,
    smf30_time(smf30_time_on_ifa, bit_of_byte(smf30tf2, 0)) * coalesce(nullif(smf30znf::double, 0), 1) as zaap_seconds,
    smf30csc::double as crypto_services, smf30_highest_task_cpu_percent::double / 100 as highest_task_fraction,

    coalesce(smf30tex::double, case when not bit_of_word(smf30dcf, 2) then smf30tep::double end) as excps,
    smf30tcn::double as connect_seconds,
    smf30ais::double as dasd_ios, smf30aic::double as dasd_connect_seconds,
    smf30aid::double as dasd_disconnect_seconds, smf30aiw::double as dasd_pending_seconds,
    smf30eis::double as enclave_dasd_ios, smf30eic::double as enclave_dasd_connect_seconds,
    smf30eid::double as enclave_dasd_disconnect_seconds, smf30eiw::double as enclave_dasd_pending_seconds,
    smf30tpt::double as terminal_writes, smf30tgt::double as terminal_reads,

    smf30pgi::double as page_ins, smf30pgo::double as page_outs, smf30bia::double as blocked_page_ins,
    smf30vpi::double as vio_page_ins, smf30vpo::double as vio_page_outs, smf30cpi::double as common_page_ins,
    smf30lpi::double as lpa_page_ins, smf30hpi::double as hiperspace_page_ins, smf30pai::double as shared_page_ins,

    smf30urb::double as user_below_bytes, smf30eur::double as user_above_bytes,
    smf30arb::double as system_below_bytes, smf30ear::double as system_above_bytes,
    smf30dsv::double as data_space_bytes, smf30hvh::double as above_bar_bytes,
    smf30hsh::double as shared_above_bar_bytes,
    smf30hvr::double as above_bar_frames, smf30hva::double as above_bar_slots, smf30rgb::double as region_below_bytes,
    -- A MEMLIMIT of X'00000FFFFFFFF000' MiB or more is none.
    case when smf30mem::double < 17592186040320::double * 1048576 then smf30mem::double end as memory_limit_bytes,

    smf30trs::double as transactions, smf30tat::double as active_seconds, smf30res::double as resident_seconds,
    smf30etc::double as enclave_transactions, smf30eta::double as enclave_active_seconds,
    coalesce(smf30srv_l::double, smf30srv::double) as service_units,
    (bit_of_byte(smf30pf2, 4) or bit_of_word(smf30dcf, 1) or bit_of_byte(smf30sfl, 3))::double as incomplete
from smf30_record
