-- A row for each kind of wait of an address space.
select system, sysplex, interval_start, interval_end, utc_offset,
    case r725cmty::bigint
        when 1 then 'CMS lock' when 2 then 'CMS ENQ/DEQ lock' when 3 then 'CMS latch lock' when 4 then 'CMS SMF lock'
        else 'CMS lock, type ' || r725cmty::bigint::varchar
    end as kind,
    nullif(r725cmjn, '') as job, printf('%04X', r725cmas::bigint) as address_space, nullif(r725cmsn, '') as service_class,
    seconds_between(interval_start, interval_end) as interval_seconds,
    null::double as requests, r725cmsu::double as waits, r725cmal::double as waits_behind_others, r725cmti as wait_seconds
from (
    select system, sysplex, interval_start, interval_end, utc_offset,
        r725cmjn, r725cmas, r725cmsn, r725cmty, r725cmsu, r725cmal, r725cmti
    from smf72_5_cms
    union all
    select system, sysplex, interval_start, interval_end, utc_offset,
        r725cmjn, r725cmas, r725cmsn, r725cmty, r725cmsu, r725cmal, r725cmti
    from smf72_5_cms_enqueue
    union all
    select system, sysplex, interval_start, interval_end, utc_offset,
        r725cmjn, r725cmas, r725cmsn, r725cmty, r725cmsu, r725cmal, r725cmti
    from smf72_5_cms_latch
    union all
    select system, sysplex, interval_start, interval_end, utc_offset,
        r725cmjn, r725cmas, r725cmsn, r725cmty, r725cmsu, r725cmal, r725cmti
    from smf72_5_cms_smf
)
union all
select system, sysplex, interval_start, interval_end, utc_offset,
    'local lock' as kind,
    nullif(r725lojn, '') as job, printf('%04X', r725loas::bigint) as address_space, nullif(r725losn, '') as service_class,
    seconds_between(interval_start, interval_end) as interval_seconds,
    null::double as requests, r725losu::double as waits, r725loal::double as waits_behind_others, r725loti as wait_seconds
from smf72_5_local
union all
select system, sysplex, interval_start, interval_end, utc_offset,
    'CML lock, owner' as kind,
    nullif(r725cojn, '') as job, printf('%04X', r725coas::bigint) as address_space, nullif(r725cosn, '') as service_class,
    seconds_between(interval_start, interval_end) as interval_seconds,
    null::double as requests, r725cosu::double as waits, r725coal::double as waits_behind_others, r725coti as wait_seconds
from smf72_5_cml_owner
union all
select system, sysplex, interval_start, interval_end, utc_offset,
    'CML lock, requestor' as kind,
    nullif(r725crjn, '') as job, printf('%04X', r725cras::bigint) as address_space, nullif(r725crsn, '') as service_class,
    seconds_between(interval_start, interval_end) as interval_seconds,
    null::double as requests, r725crsu::double as waits, r725cral::double as waits_behind_others, r725crti as wait_seconds
from smf72_5_cml_requestor
union all
select system, sysplex, interval_start, interval_end, utc_offset,
    case r725laty::bigint
        when 1 then 'latch, creator of the set' when 2 then 'latch, requestor'
        else 'latch, type ' || r725laty::bigint::varchar
    end as kind,
    nullif(r725lajn, '') as job, printf('%04X', r725laas::bigint) as address_space, nullif(r725lasn, '') as service_class,
    seconds_between(interval_start, interval_end) as interval_seconds,
    null::double as requests, r725lasu::double as waits, null::double as waits_behind_others, r725lati as wait_seconds
from (
    select system, sysplex, interval_start, interval_end, utc_offset,
        r725lajn, r725laas, r725lasn, r725laty, r725lasu, r725lati
    from smf72_5_latch_creator
    union all
    select system, sysplex, interval_start, interval_end, utc_offset,
        r725lajn, r725laas, r725lasn, r725laty, r725lasu, r725lati
    from smf72_5_latch_requestor
)
union all
select system, sysplex, interval_start, interval_end, utc_offset,
    case r725ensc::bigint
        when 1 then 'ENQ, STEP' when 2 then 'ENQ, SYSTEM' when 3 then 'ENQ, SYSTEMS'
        else 'ENQ, scope ' || r725ensc::bigint::varchar
    end as kind,
    nullif(r725enjn, '') as job, printf('%04X', r725enas::bigint) as address_space, nullif(r725ensn, '') as service_class,
    seconds_between(interval_start, interval_end) as interval_seconds,
    r725enrc::double as requests, r725ensu::double as waits, null::double as waits_behind_others, r725enti as wait_seconds
from (
    select system, sysplex, interval_start, interval_end, utc_offset,
        r725enjn, r725enas, r725ensn, r725ensc, r725enrc, r725ensu, r725enti
    from smf72_5_enqueue_step
    union all
    select system, sysplex, interval_start, interval_end, utc_offset,
        r725enjn, r725enas, r725ensn, r725ensc, r725enrc, r725ensu, r725enti
    from smf72_5_enqueue_system
    union all
    select system, sysplex, interval_start, interval_end, utc_offset,
        r725enjn, r725enas, r725ensn, r725ensc, r725enrc, r725ensu, r725enti
    from smf72_5_enqueue_systems
)
