-- Hardware accelerators. A function says how many sections there are before its own: of accelerators, and of compression.
select a.system, a.sysplex, a.interval_start, a.interval_end, a.utc_offset,
    printf('%04X', f.r749pfid::bigint) as function, nullif(a.r749fdsc, '') as application, nullif(f.r749jobn, '') as job,
    seconds_between(a.interval_start, a.interval_end) as interval_seconds,
    f.r749allt as allocated_seconds, a.r749frqc as requests, a.r749frqe as failed_requests, a.r749fqfl as full_queues,
    a.r749ftet as execution_seconds, a.r749ftqt as queue_seconds, a.r749fdrd::double + a.r749fdwr::double as dma_bytes,
    c.r7491dct as compressions, c.r7491dib as compression_input_bytes, c.r7491dob as compression_output_bytes,
    c.r7491ict as decompressions, c.r7491iib as decompression_input_bytes, c.r7491iob as decompression_output_bytes,
    c.r7491bps as pool_bytes, c.r7491bpc as used_pool_bytes
from smf74_9_accelerator a
join smf74_9_function f
    on f.source_id = a.source_id and f.record_no = a.record_no
    and a.section_no > f.r749fpfo::bigint and a.section_no <= f.r749fpfo::bigint + f.r749fpfn::bigint
left join smf74_9_compression c
    on c.source_id = a.source_id and c.record_no = a.record_no
    and f.r749fp1n::bigint > 0 and c.section_no = f.r749fp1o::bigint + 1 and a.section_no = f.r749fpfo::bigint + 1
