-- Data sharing group and member name of each Db2, as its statistics records tell them.
select system, subsystem, max(nullif(qwhadsgn, '')) as group_name, max(nullif(qwhamemn, '')) as member
from smf100_qwha
group by system, subsystem
