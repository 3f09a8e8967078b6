-- Dynamic storage areas. Their sizes are in bytes, above the bar in MiB.
select *,
    case when smslocn::bigint = 3 then 1048576::double else 1 end as unit_bytes
from cics_statistics(smf110_2_storage_area)
