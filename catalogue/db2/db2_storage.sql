-- Threads of a Db2 in each interval, with the storage that its address spaces DBM1 and DIST hold and that they share.
-- Frames and slots have 4096 bytes.
with space as (
    select source_id, record_no,
        max(case when qw0225an = 'DBM1' then qw0225rg::double end) as qw0225rg,
        max(case when qw0225an = 'DBM1' then qw0225av::double end) as qw0225av,
        sum(qw0225rl::double * 4096) as private_real_bytes,
        sum(qw0225ax::double * 4096) as private_aux_bytes,
        -- 64-bit private storage without what is no pool.
        max(case when qw0225an = 'DBM1' then qw0225hvpagesinreal::double * 4096 end)
            - max(case when qw0225an = 'DBM1' then qw0225pristg_real::double * 4096 end) as pool_real_bytes
    from smf100_ifcid225_space
    group by source_id, record_no
),
common as (
    select source_id, record_no,
        total2(qw0225shrstg_real, qw0225shrstkstg_real) * 4096 as shared_real_bytes,
        qw0225comstg_real::double * 4096 as common_real_bytes,
        total2(qw0225_lmwrite_real, qw0225_lmctrl_real) * 4096 as log_real_bytes,
        list_sum([
            qw0225shrstg_aux::double, qw0225shrstkstg_aux::double, qw0225comstg_aux::double,
            qw0225_lmwrite_aux::double, qw0225_lmctrl_aux::double
        ]) * 4096 as shared_aux_bytes,
        qw0225_realavail::double * 4096 as available_bytes
    from smf100_ifcid225_common
)
select *
from intervals
left join space using (source_id, record_no)
left join common using (source_id, record_no)
