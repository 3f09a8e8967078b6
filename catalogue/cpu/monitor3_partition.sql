-- Partitions as the CPC report of Monitor III lists them: a line for the sum of each kind of processor, then its
-- partitions, then PHYSICAL. Percentages are printed to a tenth; times are made of them.
with numbered as (
    select *,
        -- The kind is that of the sum above: *CP, *IFL.
        last_value(case when starts_with(partition_name, '*') then substr(partition_name, 2) end ignore nulls) over (
            partition by source_id, record_no order by section_no
            rows between unbounded preceding and current row
        ) as processor_type
    from rmf_xml_m3_partition
)
select * exclude (partition_name, weight),
    named(
        case when coalesce(machine_type, '') = '' then coalesce(sequence_code, '')
            else machine_type || '-' || coalesce(sequence_code, '')
        end,
        source_id, record_no
    ) as machine,
    partition_name as partition,
    partition_name = 'PHYSICAL' as is_physical,
    case processor_type
        when 'CP' then physical_cp
        when 'AAP' then physical_aap
        when 'IIP' then physical_iip
        when 'ICF' then physical_icf
        when 'IFL' then physical_ifl
    end as physical_processors,
    case when coalesce(dedicated_processors, 0) > 0 then 0 else weight end as shared_weight,
    logical_processors * interval_seconds as online_seconds,
    -- A partition's share of its own processors is printed more finely than its share of the machine's.
    coalesce(logical_processors * logical_total_percent, physical_processors * physical_total_percent)
    / 100 * interval_seconds as dispatch_seconds,
    coalesce(logical_processors * logical_effective_percent, physical_processors * physical_effective_percent)
    / 100 * interval_seconds as effective_seconds
from numbered
where not starts_with(partition_name, '*')
