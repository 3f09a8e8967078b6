-- A row for each limit of z/OS UNIX. What was in use was sampled in each cycle and added up: the mean is that over the samples,
-- if it lies between the least and the most.
with sampled as (
    select k.*, p.smf7xsam::double as samples
    from smf74_3_kernel k
    left join (only_section(rmf_product_section)) p on p.source_id = k.source_id and p.record_no = k.record_no
),
limits as (
    omvs_limit(sampled, 'processes', r743curp, r743cpmn, r743cpmx, r743maxp, r743opr)
    union all
    omvs_limit(sampled, 'users', r743curu, r743cumn, r743cumx, r743maxu, r743ous)
    union all
    omvs_limit(sampled, 'processes of a user', null, null, null, r743mxpu, r743opru)
    union all
    omvs_limit(sampled, 'message queues', r743cmsg, r743cmmn, r743cmmx, r743mmsg, r743omsg)
    union all
    omvs_limit(sampled, 'semaphores', r743csem, r743csmn, r743csmx, r743msem, r743osem)
    union all
    omvs_limit(sampled, 'shared memory segments', r743cshm, r743chmn, r743chmx, r743mshm, r743oshm)
    union all
    omvs_limit(sampled, 'shared memory pages', r743cspg, r743cgmn, r743cgmx, r743mspg, r743ospg)
    union all
    omvs_limit(sampled, 'memory mapping pages', r743cmap, r743camn, r743camx, r743mmap, r743omap)
    union all
    omvs_limit(sampled, 'shared storage pages', r743cpag, r743cxmn, r743cxmx, r743mpag, r743opag)
    union all
    omvs_limit(sampled, 'shared library MiB', r743cslr, r743clmn, r743clmx, r743mslr / 1048576, r743oslr)
    union all
    omvs_limit(sampled, 'queued signals of a process', null, null, null, r743mqds, r743oqds)
)
select system, sysplex, interval_start, interval_end, utc_offset, limited,
    seconds_between(interval_start, interval_end) as interval_seconds,
    case
        when added_up / nullif(samples, 0) >= least * 0.999 and added_up / nullif(samples, 0) <= most * 1.001
        then added_up / nullif(samples, 0)
    end as in_use,
    most as most_in_use, nullif(allowed, 0) as allowed, refusals
from limits
