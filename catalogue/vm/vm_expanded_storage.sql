-- Counters of the processors, one row per record.
select *
from vm_sytxsp
