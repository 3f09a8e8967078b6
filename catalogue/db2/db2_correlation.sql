-- What the correlation header (QWHC) of an accounting record says of its thread.
select source_id, record_no,
    connection_type_of(qwhcatyp) as connection_type,
    qwhccn as connection,
    qwhcplan as plan,
    correlation_name_of(qwhcatyp, qwhccv) as correlation,
    qwhcaid as auth,
    nullif(qwhceuid, '') as end_user,
    nullif(qwhceuwn, '') as workstation,
    nullif(qwhceutx, '') as transaction_name
from smf101_qwhc
where section_no = 1
