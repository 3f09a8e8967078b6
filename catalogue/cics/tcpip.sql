-- TCPIPSERVICEs, and the sockets of the region as a whole.
select *, sor_service_name as service, sor_port_number::bigint as port
from cics_statistics(smf110_2_tcpip_service)
union all by name
select *, '(region)' as service
from cics_statistics(smf110_2_tcpip)
