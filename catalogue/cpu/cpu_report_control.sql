-- The machine of a CPU activity report, in XML or as text: one row a report.
select *,
    named(
        case when coalesce(machine_type, '') = '' then coalesce(sequence_code, '')
            else machine_type || '-' || coalesce(sequence_code, '')
        end,
        source_id, record_no
    ) as machine
from control_report
