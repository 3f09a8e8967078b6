-- Parts of private areas. Data that RMF marks as not valid, since it ended while it sampled, are left out.
with parts as (
    virtual_part(
        smf78_2_private, 'below 16 MiB', r782gmlb, r782usal_vsdbtotl, r782usal_vsdbmin, r782usal_vsdbmax,
        r782lsal_vsdbtotl, r782lsal_vsdbmin, r782lsal_vsdbmax
    )
    union all
    virtual_part(
        smf78_2_private, 'above 16 MiB', r782gmla, r782usal_vsdatotl, r782usal_vsdamin, r782usal_vsdamax,
        r782lsal_vsdatotl, r782lsal_vsdamin, r782lsal_vsdamax
    )
    union all
    virtual_part(
        smf78_2_private, 'above 2 GiB', r782meml, r782toby_vsdgtotl, r782toby_vsdgmin, r782toby_vsdgmax, null, null, null
    )
)
select system, sysplex, interval_start, interval_end, utc_offset, nullif(r782jobn, '') as job, part,
    nullif(r782pgmn, '') as program, nullif(r782step, '') as step,
    seconds_between(interval_start, interval_end) as interval_seconds, r782samp::double as samples,
    nullif(limit_bytes, 0) as limit_bytes,
    mean_of_samples(user_added, r782samp::double, user_least, most_user_bytes) as user_bytes, most_user_bytes,
    mean_of_samples(system_added, r782samp::double, system_least, most_system_bytes) as system_bytes, most_system_bytes
from parts
where not bit_of_halfword(r782flgs, 3)
