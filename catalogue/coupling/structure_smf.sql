-- Requests of each system to each structure, with what the coupling facility counted for the structure as a whole.
with facility as (
    select source_id, record_no, max(r744fnam) as facility
    from smf74_4_local_cf
    group by source_id, record_no
),
-- Cache sections are those that a request section points at: R744CDNE of them from number R744CDSI on.
cache as (
    select r.source_id, r.record_no, r.section_no,
        sum(c.r744crhc::double) as r744crhc, sum(c.r744crmd::double) as r744crmd, sum(c.r744crma::double) as r744crma,
        sum(c.r744crmn::double) as r744crmn, sum(c.r744crmt::double) as r744crmt, sum(c.r744cwh0::double) as r744cwh0,
        sum(c.r744cwh1::double) as r744cwh1, sum(c.r744cwmn::double) as r744cwmn, sum(c.r744cwmi::double) as r744cwmi,
        sum(c.r744cwmt::double) as r744cwmt, sum(c.r744cder::double) as r744cder, sum(c.r744cdtr::double) as r744cdtr,
        sum(c.r744cxdr::double) as r744cxdr, sum(c.r744cxfw::double) as r744cxfw, sum(c.r744cxni::double) as r744cxni,
        sum(c.r744cxci::double) as r744cxci, sum(c.r744cxrl::double) as r744cxrl, sum(c.r744ccoc::double) as r744ccoc,
        sum(c.r744ctcc::double) as r744ctcc
    from smf74_4_request r
    join smf74_4_cache c on c.source_id = r.source_id and c.record_no = r.record_no
        and c.section_no >= r.r744cdsi and c.section_no < r.r744cdsi::bigint + r.r744cdne
    group by r.source_id, r.record_no, r.section_no
)
select r.*, facility.facility,
    cache.* exclude (source_id, record_no, section_no)
from smf74_4_request r
left join facility on facility.source_id = r.source_id and facility.record_no = r.record_no
left join cache on cache.source_id = r.source_id and cache.record_no = r.record_no and cache.section_no = r.section_no
