"""A slow, obvious decode of CICS statistics (SMF 110-2), independent of the product.

It reads no layout file and imports nothing of plexlens, so that the two can disagree. Offsets are typed from IBM's
"CICS data areas" (hexadecimal there) and from a published program that spells out the copybooks of dispatcher and
storage; past what those show, from the order in which the fields are published.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.oracle.slow_forms import Field, Row, decode, structure, whole

PRODUCT = structure("""
0 u2 smfstrvn
2 text8 smfstprn smfstspn
18 u2 smfstmfl
24 u4 smfstdtk
28 text2 smfstdid
30 text3 smfstrqt smfsticd
36 text8 smfstdat
44 text6 smfstclt smfstint
56 u4 smfstino
60 hex8 smfstrtk
68 text6 smfstlrt
74 hex8 smfstcst
82 text8 smfstjbn
""")

DISPATCHER = structure("""
0 u2 dsglen dsgid
4 u1 dsgdvers
8 u2 dsgglen dsgasize dsgpsize
16 u4 dsgicvt dsgicvrt
24 u2 dsgicvsd dsgpriag dsgstsks dsgmbtch
36 u2 dsgcnt dsgpnt
56 utc dsgstart
64 local dsglstrt
72 tod dsgejst dsgsrbt
104 u4 dsgxscns dsgxscnn dsgxtcbd
120 utc dsggxscn
128 local dsglxscn
136 utc dsggxsnd
144 local dsglxsnd
""")

#: From the start of the element; the first element is at 160, and each has 160 bytes.
MODE = structure("""
0 text2 dsgtcbnm
2 u1 dsgtcbmd
4 u2 dsgtcbmp
8 u4 dsgntcba dsgtcbaf dsgtcbca dsgtcbpa
28 u4 dsgtcbcu dsgtcbpu
44 u4 dsgtcbal
52 u4 dsgtcbdu dsgtcbds dsgtcbdx dsgtcbdo
72 u4 dsgtcbst dsgtcbmm dsgsysw
96 u4 dsgtmcdq dsgtmpdq
104 hex4 dsgtmadq
112 tod dsgtwt dsgtdt dsgtct dsgact
""")

#: Behind the modes, 160 bytes each.
POOL = structure("""
0 u2 dsgtcbpn
4 u4 dsgmxtcb dsgcnuat dsgpnuat dsgcnuus dsgpnuus
32 u4 dsgntcbl
40 tod dsgtotwl dsgcurwt dsgtotmt
64 u4 dsgtotnw dsgtotmw dsgcurnw dsgpeanw
92 u4 dsgmmwts
96 tod dsgmmwtm
112 u4 dsgcmmws dsgpmmws
120 tod dsgcmmwt
128 utc dsggtcbl
136 local dsgltcbl
""")

TRANSACTIONS = structure("""
0 u2 xmglen xmgid
4 u1 xmgdvers
8 u4 xmgnum xmgmxt xmgcat xmgcqt xmgtamxt xmgpat xmgpqt xmgtat xmgtdt
44 tod xmgtqtme xmgcqtme
""")

STORAGE = structure("""
0 u2 smslen smsid
4 u1 smsdvers
8 u2 smsgbllen smsnpagp
12 u1 smsstgprot smsrentpgm smstraniso smsmemlimitsrc
16 u4 smsusscur smsusscum smsusshwm smscsscur smscsscum smscsshwm
40 u4 smsdsalimit smsedsalimit smsdsatotal smsedsatotal smshwmdsatotal smshwmedsatotal
64 tod smstimewaitmvs
72 u4 smsmvsstgreqwaits
88 mib8 smsmemlimit smsgetstorsize smsasactive smshwmasactive smsgdsaactive smshwmgdsaactive smsgdsaalloc
144 mib8 smshwmgdsaalloc
""")

#: From the start of the element; the first is at 360, and each has 128 bytes.
AREA = structure("""
0 text8 smsdsaname
8 u1 smslocn smsaccess smsdsaindex
12 u4 smsdsasz smshwmdsasz smscsize smsgmreq smsfmreq smsasr smsdsr smscriss smsucss smscss smshwmss smspwws smscrel
64 u4 smssos
72 tod smstsos
80 u4 smscsubp smsfstg smshwmfstg smslwmfstg smslfa smssv smsexts smsextsa smsextsr
""")

DB2_CONNECTION = structure("""
0 u2 d2glen d2gid
4 u1 d2gdvers
8 text8 d2g_db2conn_name
16 text4 d2g_db2_id d2g_db2_release
24 utc d2g_connect_time_gmt
32 local d2g_connect_time_local
40 utc d2g_disconnect_time_gmt
48 local d2g_disconnect_time_local
56 u4 d2g_tcb_limit d2g_tcb_current d2g_tcb_hwm d2g_tcb_free d2g_tcb_readyq_current d2g_tcb_readyq_hwm
80 text4 d2g_db2_group_id
84 u1 d2g_resyncmember
88 u4 d2g_reuselimit d2g_tcb_protected_current
96 text8 d2g_pool_plan_name d2g_pool_planexit_name d2g_pool_authid
120 u1 d2g_pool_authtype d2g_pool_accountrec d2g_pool_threadwait d2g_pool_priority
124 u4 d2g_pool_calls d2g_pool_signons d2g_pool_commits d2g_pool_aborts d2g_pool_single_phase
144 u4 d2g_pool_thread_reuse d2g_pool_thread_term d2g_pool_thread_waits
156 u4 d2g_pool_thread_limit d2g_pool_thread_current d2g_pool_thread_hwm
168 u4 d2g_pool_task_current d2g_pool_task_hwm d2g_pool_task_total d2g_pool_readyq_current d2g_pool_readyq_hwm
188 u4 d2g_pool_partial_signons d2g_pool_thread_create d2g_pool_reuselimit_count
200 text8 d2g_comd_authid
208 u1 d2g_comd_authtype
212 u4 d2g_comd_calls d2g_comd_signons d2g_comd_thread_term d2g_comd_thread_overf
228 u4 d2g_comd_thread_limit d2g_comd_thread_current d2g_comd_thread_hwm d2g_comd_thread_create
""")

DB2_ENTRY = structure("""
0 u2 d2rlen d2rid
4 u1 d2rdvers
8 text8 d2r_db2entry_name d2r_plan_name d2r_planexit_name d2r_authid
40 u1 d2r_authtype d2r_accountrec d2r_threadwait d2r_priority
44 u4 d2r_calls d2r_signons d2r_commits d2r_aborts d2r_single_phase d2r_thread_reuse d2r_thread_term
72 u4 d2r_thread_wait_or_overfl
76 u4 d2r_thread_limit d2r_thread_current d2r_thread_hwm d2r_pthread_limit d2r_pthread_current d2r_pthread_hwm
100 u4 d2r_task_current d2r_task_hwm d2r_task_total d2r_readyq_current d2r_readyq_hwm
120 u4 d2r_partial_signons d2r_thread_create d2r_reuselimit_count
""")

SERVICE = structure("""
0 u2 sords_len sords_id
4 u1 sords_vers
8 text8 sor_service_name
16 u4 sor_trans_attached sor_current_conns sor_peak_conns
28 utc sor_open_gmt
36 local sor_open_local
44 utc sor_close_gmt
52 local sor_close_local
60 u2 sor_port_number
62 u1 sor_ssl_support
64 u4 sor_backlog sor_sends
72 u8 sor_bytes_sent
80 u4 sor_receives
84 u8 sor_bytes_received
""")

SOCKETS = structure("""
0 u2 sogds_len sogds_id
4 u1 sogds_vers
8 u4 sog_maxsockets_limit sog_curr_inbound_sockets sog_peak_inbound_sockets sog_curr_outb_sockets
24 u4 sog_peak_outb_sockets
""")

#: Identifier of an entry, and the table and structure of it as a whole.
ENTRIES: dict[int, tuple[str, list[Field]]] = {
    10: ("smf110_2_transaction_manager", TRANSACTIONS),
    29: ("smf110_2_storage", STORAGE),
    62: ("smf110_2_dispatcher", DISPATCHER),
    102: ("smf110_2_db2_connection", DB2_CONNECTION),
    103: ("smf110_2_db2_entry", DB2_ENTRY),
    107: ("smf110_2_tcpip_service", SERVICE),
    108: ("smf110_2_tcpip", SOCKETS),
}


def _elements(data: bytes, start: int, length: int, most: int) -> Iterator[tuple[int, bytes]]:
    """Number and bytes of the elements that are in use: others are binary zeros."""
    for number in range(most):
        element = data[start + number * length : start + (number + 1) * length]
        if len(element) == length and any(element):
            yield number + 1, element


def tables(path: Path) -> dict[str, list[Row]]:
    """Rows by table of the CICS statistics in a file of whole records with descriptor words."""
    content = path.read_bytes()
    found: dict[str, list[Row]] = {}

    def add(table: str, fields: list[Field], data: bytes, record_no: int, section_no: int) -> None:
        row = decode(fields, data)
        if table == "smf110_2_dispatcher_tcb_mode":
            row["dsgtmadq"] = whole(bytes(row["dsgtmadq"])) / 100  # type: ignore[arg-type]
        found.setdefault(table, []).append(row | {"record_no": record_no, "section_no": section_no})

    at = number = 0
    while at < len(content):
        length = whole(content[at : at + 2])
        record = content[at : at + length]
        at, number = at + length, number + 1
        if record[5] != 110 or whole(record[22:24]) != 2:
            continue
        product, data = whole(record[28:32]), whole(record[36:40])
        add("smf110_2_product", PRODUCT, record[product : product + whole(record[32:34])], number, 1)
        end = data + whole(record[40:42]) * whole(record[42:44])
        seen: dict[int, int] = {}
        while data < end:
            entry = record[data : data + whole(record[data : data + 2])]
            identifier = whole(entry[2:4])
            seen[identifier] = seen.get(identifier, 0) + 1
            data += len(entry)
            if identifier not in ENTRIES:
                continue
            table, fields = ENTRIES[identifier]
            add(table, fields, entry, number, seen[identifier])
            if identifier == 62:
                modes, pools = whole(entry[10:12]), whole(entry[12:14])
                for place, element in _elements(entry, 160, 160, modes):
                    add("smf110_2_dispatcher_tcb_mode", MODE, element, number, place)
                for place, element in _elements(entry, 160 + 160 * modes, 160, pools):
                    add("smf110_2_dispatcher_tcb_pool", POOL, element, number, place)
            if identifier == 29:
                areas = whole(entry[10:12])
                for place, element in _elements(entry, 360, 128, areas):
                    add("smf110_2_storage_area", AREA, element, number, place)
    return found
