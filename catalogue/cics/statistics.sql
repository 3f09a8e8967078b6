-- One section of CICS statistics.
select * from cics_statistics(section)
