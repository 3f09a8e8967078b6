-- States of shared storage, one row per record.
select *
from vm_sytshs
