-- Who called: thread identification (WTID) of every class 3 accounting record.
select source_id, record_no,
    wtidccn as connection, mq_application_type(wtidatyp) as application_type, mq_program(wtidatyp, wtidcori) as program,
    wtidopid as "user", wtidchl as channel, wtidchlc as partner
from smf116_1_wtid
