-- A row for each kind that the control section counts.
select c.system, c.sysplex, c.interval_start, c.interval_end, c.utc_offset, kind.name as kind,
    seconds_between(c.interval_start, c.interval_end) as interval_seconds,
    case kind.name
        when 'ENQ, STEP' then c.r725sstr::double when 'ENQ, SYSTEM' then c.r725ssyr::double
        when 'ENQ, SYSTEMS' then c.r725sssr::double
    end as requests,
    case kind.name
        when 'CMS lock' then c.r725scms::double when 'CMS ENQ/DEQ lock' then c.r725seds::double
        when 'CMS latch lock' then c.r725slas::double when 'CMS SMF lock' then c.r725ssms::double
        when 'local lock' then c.r725slos::double when 'CML lock' then c.r725scls::double
        when 'latch' then c.r725slrs::double when 'ENQ, STEP' then c.r725ssts::double
        when 'ENQ, SYSTEM' then c.r725ssys::double when 'ENQ, SYSTEMS' then c.r725ssss::double
    end as waits,
    case kind.name
        when 'CMS lock' then c.r725scma::double when 'CMS ENQ/DEQ lock' then c.r725seda::double
        when 'CMS latch lock' then c.r725slaa::double when 'CMS SMF lock' then c.r725ssma::double
        when 'local lock' then c.r725sloa::double when 'CML lock' then c.r725scla::double
    end as waits_behind_others,
    case kind.name
        when 'CMS lock' then c.r725scmt when 'CMS ENQ/DEQ lock' then c.r725sedt
        when 'CMS latch lock' then c.r725slat when 'CMS SMF lock' then c.r725ssmt
        when 'local lock' then c.r725slot when 'CML lock' then c.r725sclt
        when 'latch' then c.r725slrt when 'ENQ, STEP' then c.r725sstt
        when 'ENQ, SYSTEM' then c.r725ssyt when 'ENQ, SYSTEMS' then c.r725ssst
    end as wait_seconds
from smf72_5_control c
cross join (
    values ('CMS lock'), ('CMS ENQ/DEQ lock'), ('CMS latch lock'), ('CMS SMF lock'), ('local lock'), ('CML lock'), ('latch'),
        ('ENQ, STEP'), ('ENQ, SYSTEM'), ('ENQ, SYSTEMS')
) kind (name)
