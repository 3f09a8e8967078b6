-- CSA by key, with the subpools of the key below 16 MiB. Elements of keys are numbered 1 to 9, those of subpools 1 to 40: ten for each
-- of subpools 227, 228, 231 and 241, of which the tenth is that of all keys. An element of zeros has no row.
with keys as (
    select k.*, p.smf7xsam::double as samples
    from smf78_2_csa_key k
    left join (only_section(rmf_product_section)) p on p.source_id = k.source_id and p.record_no = k.record_no
),
subpools as (
    select source_id, record_no, (section_no::bigint - 1) % 10 + 1 as key_no,
        max(case when section_no between 1 and 10 then r782spk_vsdbmax end) as most_227,
        max(case when section_no between 11 and 20 then r782spk_vsdbmax end) as most_228,
        max(case when section_no between 21 and 30 then r782spk_vsdbmax end) as most_231,
        max(case when section_no between 31 and 40 then r782spk_vsdbmax end) as most_241
    from smf78_2_csa_subpool
    group by source_id, record_no, (section_no::bigint - 1) % 10 + 1
)
select k.system, k.sysplex, k.interval_start, k.interval_end, k.utc_offset,
    case when k.section_no = 9 then '8 to 15' else (k.section_no::bigint - 1)::varchar end as storage_key,
    seconds_between(k.interval_start, k.interval_end) as interval_seconds,
    mean_of_samples(k.r782csak_vsdbtotl, k.samples, k.r782csak_vsdbmin, k.r782csak_vsdbmax) as below_bytes,
    k.r782csak_vsdbmax as most_below_bytes,
    mean_of_samples(k.r782csak_vsdatotl, k.samples, k.r782csak_vsdamin, k.r782csak_vsdamax) as above_bytes,
    k.r782csak_vsdamax as most_above_bytes,
    s.most_227 as most_227_bytes, s.most_228 as most_228_bytes, s.most_231 as most_231_bytes,
    s.most_241 as most_241_bytes
from keys k
left join subpools s on s.source_id = k.source_id and s.record_no = k.record_no and s.key_no = k.section_no
