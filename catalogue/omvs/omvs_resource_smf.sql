-- A row for each limit of z/OS UNIX. What was in use was sampled in each cycle and added up: the mean is that over the samples,
-- if it lies between the least and the most.
with sampled as (
    select k.*, p.smf7xsam::double as samples
    from smf74_3_kernel k
    left join (only_section(rmf_product_section)) p on p.source_id = k.source_id and p.record_no = k.record_no
),
limits as (
    select *, 'processes' as limited, r743curp::double as added_up, r743cpmn::double as least,
        r743cpmx::double as most, r743maxp::double as allowed, r743opr::double as refusals
    from sampled
    union all
    select *, 'users' as limited, r743curu::double as added_up, r743cumn::double as least,
        r743cumx::double as most, r743maxu::double as allowed, r743ous::double as refusals
    from sampled
    union all
    select *, 'processes of a user' as limited, null::double as added_up, null::double as least,
        null::double as most, r743mxpu::double as allowed, r743opru::double as refusals
    from sampled
    union all
    select *, 'message queues' as limited, r743cmsg::double as added_up, r743cmmn::double as least,
        r743cmmx::double as most, r743mmsg::double as allowed, r743omsg::double as refusals
    from sampled
    union all
    select *, 'semaphores' as limited, r743csem::double as added_up, r743csmn::double as least,
        r743csmx::double as most, r743msem::double as allowed, r743osem::double as refusals
    from sampled
    union all
    select *, 'shared memory segments' as limited, r743cshm::double as added_up, r743chmn::double as least,
        r743chmx::double as most, r743mshm::double as allowed, r743oshm::double as refusals
    from sampled
    union all
    select *, 'shared memory pages' as limited, r743cspg::double as added_up, r743cgmn::double as least,
        r743cgmx::double as most, r743mspg::double as allowed, r743ospg::double as refusals
    from sampled
    union all
    select *, 'memory mapping pages' as limited, r743cmap::double as added_up, r743camn::double as least,
        r743camx::double as most, r743mmap::double as allowed, r743omap::double as refusals
    from sampled
    union all
    select *, 'shared storage pages' as limited, r743cpag::double as added_up, r743cxmn::double as least,
        r743cxmx::double as most, r743mpag::double as allowed, r743opag::double as refusals
    from sampled
    union all
    select *, 'shared library MiB' as limited, r743cslr::double as added_up, r743clmn::double as least,
        r743clmx::double as most, r743mslr::double / 1048576 as allowed, r743oslr::double as refusals
    from sampled
    union all
    select *, 'queued signals of a process' as limited, null::double as added_up, null::double as least,
        null::double as most, r743mqds::double as allowed, r743oqds::double as refusals
    from sampled
)
select system, sysplex, interval_start, interval_end, utc_offset, limited,
    seconds_between(interval_start, interval_end) as interval_seconds,
    case
        when added_up / nullif(samples, 0) >= least * 0.999 and added_up / nullif(samples, 0) <= most * 1.001
        then added_up / nullif(samples, 0)
    end as in_use,
    most as most_in_use, nullif(allowed, 0) as allowed, refusals
from limits
