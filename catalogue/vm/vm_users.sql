-- Numbers of users, one row per record.
select *
from vm_sytusr
