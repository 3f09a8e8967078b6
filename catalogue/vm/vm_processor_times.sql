-- Times of each processor as counters that run up. IBM's page says that time in emulation runs down from a start value; which
-- way the other three run stands in a part of the page that was not read, so each is there both ways.
select system, sysplex, subsystem, interval_start, interval_end, utc_offset, source_id, record_no, section_no,
    sytprp_pfxcpuad as processor,
    sytprp_pfxcputy as processor_type,
    -sytprp_pfxprbtm as emulation_up,
    sytprp_pfxutime as user_up,
    -sytprp_pfxutime as user_down,
    sytprp_pfxtmsys as system_up,
    -sytprp_pfxtmsys as system_down,
    sytprp_pfxtotwt as wait_up,
    -sytprp_pfxtotwt as wait_down
from vm_sytprp
