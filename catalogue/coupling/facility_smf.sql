-- The facility's own section of a record, with what its processors, its storage and the structures in it add up to.
with processor as (
    select source_id, record_no,
        sum(r744pbsy::double) as busy_seconds,
        sum(r744pwai::double) as wait_seconds,
        sum(total2(r744pbsy, r744pwai)) as effective_seconds,
        count(*) as logical_processors,
        sum(r744pcct::double) as r744pcct
    from smf74_4_processor
    group by source_id, record_no
),
storage as (
    select source_id, record_no,
        sum(r744gtsd::double) as r744gtsd, sum(r744gtsf::double) as r744gtsf,
        sum(r744gcsd::double) as r744gcsd, sum(r744gcsf::double) as r744gcsf,
        sum(r744gdsa::double) as r744gdsa
    from smf74_4_storage
    group by source_id, record_no
),
request as (
    select source_id, record_no,
        sum(r744ssrc::double) as r744ssrc, sum(r744sstm::double) as r744sstm,
        sum(r744sarc::double) as r744sarc, sum(r744satm::double) as r744satm,
        sum(r744ssta::double) as r744ssta,
        sum(r744sqrc::double) as r744sqrc, sum(r744sqtm::double) as r744sqtm,
        sum(r744ssiz::double) as r744ssiz
    from smf74_4_request
    group by source_id, record_no
),
-- R744HLAT is 0 where a round trip was not measured.
path as (
    select source_id, record_no, sum(r744hlat::double) as r744hlat, count(*) as measured_paths
    from smf74_4_channel_path
    where r744hlat > 0
    group by source_id, record_no
)
select l.*,
    processor.* exclude (source_id, record_no),
    storage.* exclude (source_id, record_no),
    request.* exclude (source_id, record_no),
    path.* exclude (source_id, record_no)
from smf74_4_local_cf l
left join processor on processor.source_id = l.source_id and processor.record_no = l.record_no
left join storage on storage.source_id = l.source_id and storage.record_no = l.record_no
left join request on request.source_id = l.source_id and request.record_no = l.record_no
left join path on path.source_id = l.source_id and path.record_no = l.record_no
