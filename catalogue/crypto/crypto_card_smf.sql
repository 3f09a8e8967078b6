-- Operations of crypto cards by function. Times are before scaling; the card's factor makes them seconds. Flags say which
-- pairs of time and count are valid, of CCA coprocessors from record level 97 on and of accelerators from 91 on (SMF70SRL).
with level as (
    select source_id, record_no, smf7xsrl as record_level from rmf_product_section
),
cca as (
    select system, sysplex, interval_start, interval_end, utc_offset,
        'CEX' || crypto_generation(r7023ct) || 'C' as card_type, r7023ax as card, r7023scope as scope,
        r7023did as domain, 1 as engines,
        {'function': 'all operations', 'valid': coalesce(record_level, 0) < 97 or bit_of_byte(r7023msk, 0),
                'operations': r7023c0::double,
            'seconds': r7023t0 * r7023sf} as one,
        case when coalesce(record_level, 0) < 97 or bit_of_byte(r7023msk, 1) then r7023c1::double end as key_generations
    from smf70_2_cca c
    left join level p on p.source_id = c.source_id and p.record_no = c.record_no
),
engines as (
    select source_id, record_no, (section_no - 1) // 5 + 1 as card_no,
        sum(r7021met::double) as r7021met, sum(r7021mec::double) as r7021mec,
        sum(r7022met::double) as r7022met, sum(r7022mec::double) as r7022mec,
        sum(r7021crt::double) as r7021crt, sum(r7021crc::double) as r7021crc,
        sum(r7022crt::double) as r7022crt, sum(r7022crc::double) as r7022crc
    from smf70_2_accelerator_engine
    group by all
),
accelerator as (
    select a.system, a.sysplex, a.interval_start, a.interval_end, a.utc_offset,
        'CEX' || crypto_generation(a.r7024ct) || 'A' as card_type, a.r7024ax as card, a.r7024scope as scope,
        a.r7024did as domain, a.r7024en as engines,
        -- An engine of zeros gives no row: it did nothing.
        unnest([
            {'function': '1024-bit RSA, ME format', 'valid': coalesce(record_level, 0) < 91 or bit_of_byte(a.r7024msk, 0),
                'operations': coalesce(e.r7021mec, 0), 'seconds': coalesce(e.r7021met, 0) * a.r7024sf},
            {'function': '2048-bit RSA, ME format', 'valid': coalesce(record_level, 0) < 91 or bit_of_byte(a.r7024msk, 1),
                'operations': coalesce(e.r7022mec, 0), 'seconds': coalesce(e.r7022met, 0) * a.r7024sf},
            {'function': '4096-bit RSA, ME format', 'valid': coalesce(record_level, 0) < 91 or bit_of_byte(a.r7024msk, 4),
                'operations': a.r7023mec::double, 'seconds': a.r7023met * a.r7024sf},
            {'function': '1024-bit RSA, CRT format', 'valid': coalesce(record_level, 0) < 91 or bit_of_byte(a.r7024msk, 2),
                'operations': coalesce(e.r7021crc, 0), 'seconds': coalesce(e.r7021crt, 0) * a.r7024sf},
            {'function': '2048-bit RSA, CRT format', 'valid': coalesce(record_level, 0) < 91 or bit_of_byte(a.r7024msk, 3),
                'operations': coalesce(e.r7022crc, 0), 'seconds': coalesce(e.r7022crt, 0) * a.r7024sf},
            {'function': '4096-bit RSA, CRT format', 'valid': coalesce(record_level, 0) < 91 or bit_of_byte(a.r7024msk, 5),
                'operations': a.r7023crc::double, 'seconds': a.r7023crt * a.r7024sf}
        ]) as one
    from smf70_2_accelerator a
    left join engines e
        on e.source_id = a.source_id and e.record_no = a.record_no and e.card_no = a.section_no
    left join level p on p.source_id = a.source_id and p.record_no = a.record_no
),
pkcs11 as (
    select system, sysplex, interval_start, interval_end, utc_offset,
        'CEX' || crypto_generation(r7025ct) || 'P' as card_type, r7025ax as card, r7025scope as scope,
        r7025did as domain, 1 as engines,
        unnest([
            {'function': 'slow asymmetric', 'valid': bit_of_byte(r7025msk, 0), 'operations': r7025sac::double,
                'seconds': r7025sat * r7025sf},
            {'function': 'fast asymmetric', 'valid': bit_of_byte(r7025msk, 1), 'operations': r7025fac::double,
                'seconds': r7025fat * r7025sf},
            {'function': 'symmetric, partial result', 'valid': bit_of_byte(r7025msk, 2), 'operations': r7025spc::double,
                'seconds': r7025spt * r7025sf},
            {'function': 'symmetric, complete result', 'valid': bit_of_byte(r7025msk, 3),
                'operations': r7025scc::double,
                'seconds': r7025sct * r7025sf},
            {'function': 'asymmetric key generation', 'valid': bit_of_byte(r7025msk, 4), 'operations': r7025agc::double,
                'seconds': r7025agt * r7025sf}
        ]) as one
    from smf70_2_pkcs11
),
cards as (
    from cca union all by name from accelerator union all by name from pkcs11
)
select system, sysplex, interval_start, interval_end, utc_offset,
    card_type || ' ' || card::bigint as card, card_type,
    case scope when 0 then 'machine' when 1 then 'this system' else 'not recorded' end as scope,
    case when scope = 1 then domain::bigint end as domain,
    one.function as function,
    seconds_between(interval_start, interval_end) as interval_seconds,
    case when one.valid then one.operations end as operations,
    case when one.valid then one.seconds end as execution_seconds,
    key_generations,
    seconds_between(interval_start, interval_end) * nullif(engines::double, 0) as engine_seconds
from cards
