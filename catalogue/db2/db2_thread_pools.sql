-- What the thread of each accounting record did to buffer pools, all pools together.
select source_id, record_no,
    sum(qbacget::double) as qbacget, sum(qbacrio::double) as qbacrio, sum(qbacsws::double) as qbacsws,
    sum(qbacimw::double) as qbacimw, sum(qbacseq::double) as qbacseq, sum(qbaclpf::double) as qbaclpf,
    sum(qbacdpf::double) as qbacdpf, sum(qbacsio::double) as qbacsio
from smf101_ifcid3_qbac
group by source_id, record_no
