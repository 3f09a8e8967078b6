-- Channels (QCST), when they ran within the interval, and what their averages are weighted by. An average without the
-- batches or messages it is of counts as one.
select *,
    greatest(qcststrt, interval_start) as run_start,
    least(coalesce(qcstludt, interval_end), interval_end) as run_end,
    if(qcstntav > 0, greatest(qcstbatc::double, 1), qcstbatc::double) as net_weight,
    case when qcstetav > 0 then greatest(qcstnmsg::double, 1) when qcstetav is not null then 0 end as exit_weight
from smf116_10_qcst
