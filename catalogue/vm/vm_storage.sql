-- States of the frames, one row per record.
select *
from vm_sytrsg
