"""Excerpts as people paste them: cells set apart by tabs, blocks cut off, headings left out.

Numbers are those of published performance studies; what is expected of them is read off the print by hand, or is a
relation that the numbers must keep among themselves.
"""

# ruff: noqa: E501  (reports are printed wider than code)

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.ingest.text_report_documents import Rows, read_text, understood, value

LOCK_STRUCTURE = """\
STRUCTURE NAME = DSNDB2B_LOCK1 TYPE = LOCK

SYSTEM NAME	TOTAL AVG/SEC		REQ	% OF ALL	Service Time Average (MIC)	STD_D EV	REQUEST	CONTENTIONS
SYS1	30179	SYNC	30K	50.20%	150.4	29.1	# REQ	29K
	251.5	ASYNC	0	0.00%	0	0	# REQ DELAYED	517
		CHNGD	0	0.00%	INCLUDED IN ASYNC		-CONT	515
							-FALSE CONT	199
"""

CACHE_STRUCTURES = """\
COUPLING FACILITY NAME = T1CF1LP
TOTAL SAMPLES(AVG) = 119 (MAX) = 119 (MIN) = 119
COUPLING FACILITY USAGE SUMMARY
STRUCTURE SUMMARY
TYPE	STRUCTURE NAME	STATUS CHG	ALLOC SIZE	% OF CF STORAGE	# REQ	% OF ALL REQ	AVG REQ/SEC
LIST	IXCXC	ACTIVE	4M	0.40%	924	3.40%	7.7
CACHE	DSNDB2U1_GBP0	ACTIVE	2M	0.20%	13	0.00%	0.11
	DSNDB2U1_GBP1	ACTIVE	73M	7.80%	12910	47.10%	107.58
	DSNDB2U1_GBP2	ACTIVE	73M	7.80%	7603	27.70%	63.36
	DSNDB2I1_GBP0	ACTIVE	2M	0.20%	22	0.10%	0.18
	DSNDB2I1_GBP1	ACTIVE	73M	7.80%	1588	5.80%	13.23
	DSNDB2I1_GBP2	ACTIVE	73M	7.80%	2669	9.70%	22.24
	DSNDB2I1_GBP4	ACTIVE	34M	3.70%	11	0.00%	0.09
	DSNDB2I1_GBP5	ACTIVE	34M	3.70%	12	0.00%	0.1
	DSNDB2I1_GBP6	ACTIVE	147M	15.60%	560	2.00%	4.67
"""

LOCK_STRUCTURES = """\
COUPLING FACILITY ACTIVITY
MVS/ESA	SYSPLX CPLEX1	DATE	5/29/96	INTERVAL	002.00.000
SP5.2.2	RPT VERSION 5.2.0	TIME	14.04.00	CYCLE	01.000 SECONDS
COUPLING FACILITY NAME = T1CF2LP
TOTAL SAMPLES(AVG) = 119 (MAX) = 119 (MIN) = 119
COUPLING FACILITY USAGE SUMMARY
STRUCTURE SUMMARY
TYPE	STRUCTURE NAME	STATUS CHG	ALLOC SIZE	% OF CF STORAGE	# REQ	% OF ALL REQ	AVG REQ/SEC
LIST	DSNDB2U1_SCA	ACTIVE	4M	0.40%	48	0.20%	0.4
	DSNDB2I1_SCA	ACTIVE	4M	0.40%	44	0.10%	0.37
LOCK	DSNDB2U1_LOCK1	ACTIVE	8M	0.90%	18514	62.30%	154.28
	DSNDB2I1_LOCK1	ACTIVE	8M	0.90%	11096	37.40%	92.47
	STRUCTURE	TOTALS	24M	2.60%	29702	100%	247.52
"""

GROUP_POOL_PANEL = """\
Read Operations	Reads Due To Cross Invalidation =	12%	Reads Due To Page Not Found in Buffer Pool =	88%
	Data Returned =	53	Data Returned =	4
	Data Not Returned - R/W Interest =	0	Data Not Returned - R/W Interest =	347
	Data Not Returned - No R/W Interest =	0	Data Not Returned - No R/W Interest =	25
	Reads Done by Prefetch =	0%	Total Number of Reads =	429
	Data Returned =	0	Read Hit Percentage =	13%
	Data Not Returned - R/W Interest =	0	Percent Not Returned - R/W Interest =	81%
	Data Not Returned - No R/W Interest =	0	Percent Not Returned - No R/W Interest =	6%
	Other Requests =	1231	Reads Failed - No Storage =	0
	Write Operations	Changed Pages - Sync =	430	Castout Engine Not Available =
Clean Pages - Sync =		0	Write Engine Not Available =	0
Changed Pages - Async =		0	Write Engine Failed - No Storage =	0
Clean Pages - Async =		0	Pages Castout from GBP to DASD =	1

Figure 2. Group Buffer Pool 6
"""

CACHE_REQUESTS = """\
SYSTEM NAME	TOTAL AVG/SEC		#REQ	% OF ALL
SYS1	316	SYNC	316	56.40%
	2.63	ASYNC	0	0.00%
		CHNGD	0	0.00%
SYS2	244	SYNC	244	43.60%
	2.03	ASYNC	0	0.00%
		CHNGD	0	0.00%
TOTAL	560	SYNC	560	100%
	4.67	ASYNC	0	0.00%
"""

DDF_WORKLOAD = """\
REPORT BY: POLICY=POL_XML		WORKLOAD=DB2		SERVICE CLASS=DB2DDF		RESOURCE GROUP=*NONE		PERIOD=1 IMPORTANCE=1
				CRITICAL =NONE
-TRANSACTIONS-	TRANS-TIME	HHH.MM.SS.TTT	--DASD	I/O--	---SERVICE---	---SERVICE	TIMES--	---APPL %---	-----STORAGE-----
AVG	32.99	ACTUAL	18	SSCHRT	0.1	IOC	0	CPU	1153.804	CP	102.55	AVG	0.00
MPL	32.99	EXECUTION	18	RESP	0.2	CPU	327320K	SRB	0.000	AAPCP	0.00	TOTAL	0.00
ENDED	869793	QUEUED	0	CONN	0.1	MSO	0	RCT	0.000	IIPCP	14.32	SHARED	0.00
END/S	1773.96	R/S AFFIN	0	DISC	0.0	SRB	0	IIT	0.000
#SWAPS	0	INELIGIBLE	0	Q+PEND	0.1	TOT	327320K	HST	0.000	AAP	0.00	--PAGE-IN RATES--
EXCTD	0	CONVERSION	0	IOSQ	0.0	/SEC	667575	AAP	0.000	IIP	132.77	SINGLE	0.0
AVG ENC	32.99	STD DEV	17					IIP	651.003			BLOCK	0.0
REM ENC	0.00					ABSRPTN	20K					SHARED	0.0
MS ENC	0.00					TRX SERV	20K	PROMOTED	0.000			HSP	0.0
"""

DDF_ACCOUNTING = """\
AVERAGE	APPL (CL.1)	DB2 (CL.2)
ELAPSED TIME	0.019216	0.017801
NONNESTED	0.019216	0.017801
STORED PROC	0.000000	0.000000
UDF	0.000000	0.000000
TRIGGER	0.000000	0.000000
<b>CP CPU TIME</b>	<b>0.000575</b>	0.000536
AGENT	0.000575	0.000536
NONNESTED	0.000575	0.000536
STORED PROC	0.000000	0.000000
UDF	0.000000	0.000000
TRIGGER	0.000000	0.000000
PAR.TASKS	0.000000	0.000000
<b>SECP CPU</b>	<b>0.000078</b>	N/A
<b>SE CPU TIME</b>	<b>0.000750</b>	0.000701
NONNESTED	0.000750	0.000701
STORED PROC	0.000000	0.000000
"""

POOL_2006 = """\
BP1	GENERAL	QUANTITY	/SECOND	BP1	READ OPERATIONS	QUANTITY	/SECOND
	CURRENT ACTIVE BUFFERS	3014.44	N/A		BPOOL HIT RATIO (%)	13.07
	UNAVAIL.BUFFER-VPOOL FULL	0.00	0.00		GETPAGE REQUEST	7270.9K	2424.49
	NUMBER OF DATASET OPENS	0.00	0.00		GETPAGE REQUEST-SEQUENTIAL	3.00	0.00
	BUFFERS ALLOCATED - VPOOL	40000.00	N/A		GETPAGE REQUEST-RANDOM	7270.9K	2424.49
	DFHSM MIGRATED DATASET	0.00	0.00		SYNCHRONOUS READS	624.5K	208.24
	DFHSM RECALL TIMEOUTS	0.00	0.00		SYNCHRON. READS-SEQUENTIAL	1.00	0.00
	VPOOL EXPANS. OR CONTRACT.	0.00	0.00		SYNCHRON. READS-RANDOM	624.5K	208.24
	VPOOL OR HPOOL EXP.FAILURE	0.00	0.00		GETPAGE PER SYN.READ-RANDOM	11.64
	CONCUR.PREF.I/O STREAMS-HWM	0.00	N/A		SEQUENTIAL PREFETCH REQUEST	2.00	0.00
	PREF.I/O STREAMS REDUCTION	0.00	0.00		SEQUENTIAL PREFETCH READS	2.00	0.00
	PARALLEL QUERY REQUESTS	0.00	0.00		PAGES READ VIA SEQ.PREFETCH	61.00	0.02
	PARALL.QUERY REQ.REDUCTION	0.00	0.00		S.PRF.PAGES READ/S.PRF.READ	30.50
	PREF.QUANT.REDUCED TO 1/2	0.00	0.00		LIST PREFETCH REQUESTS	0.00	0.00
	PREF.QUANT.REDUCED TO 1/4	0.00	0.00		LIST PREFETCH READS	0.00	0.00
	BP1 WRITE OPERATIONS	QUANTITY	/SECOND		PAGES READ VIA LIST PREFETCH	0.00	0.00
	BUFFER UPDATES	8674.5K	2892.52		L.PRF.PAGES READ/L.PRF.READ	N/C
	PAGES WRITTEN	1662.7K	554.43		DYNAMIC PREFETCH REQUESTED	361.3K	120.47
	BUFF.UPDATES/PAGES WRITTEN	5.22			DYNAMIC PREFETCH READS	233.3K	77.80
	SYNCHRONOUS WRITES	1127.00	0.38		PAGES READ VIA DYN.PREFETCH	5696.0K	1899.35
	ASYNCHRONOUS WRITES	147.1K	49.06		D.PRF.PAGES READ/D.PRF.READ	24.41
	PAGES WRITTEN PER WRITE I/O	11.22			PREF.DISABLED-NO BUFFER	0.00	0.00
	HORIZ.DEF.WRITE THRESHOLD	0.00	0.00		PREF.DISABLED-NO READ ENG	0.00	0.00
	VERTI.DEF.WRITE THRESHOLD	1593.00	0.53		PAGE-INS REQUIRED FOR READ	1270.00	0.40
	DM THRESHOLD	0.00	0.00
	WRITE ENGINE NOT AVAILABLE	0.00	0.00
	PAGE-INS REQUIRED FOR WRITE	0.00	0.00
"""

LOG_AND_SERVICES = """\
SUBSYSTEM SERVICES	QUANTITY	LOG ACTIVITY	QUANTITY	/SECOND
IDENTIFY	6189.00	READS SATISFIED-OUTPUT BUFF	67691.3K	817.53
CREATE THREAD	1464.6K	READS SATISFIED-OUTP.BUF(%)	38.30
SIGNON	1455.4K	READS SATISFIED-ACTIVE LOG	109.1M	1317.22
TERMINATE	1473.9K	READS SATISFIED-ACTV.LOG(%)	61.70
ROLLBACK	23038.00	READS SATISFIED-ARCHIVE LOG	0.00	0.00
		READS SATISFIED-ARCH.LOG(%)	0.00
COMMIT PHASE 1	1452.5K
COMMIT PHASE 2	322.1K	TAPE VOLUME CONTENTION WAIT	0.00	0.00
READ ONLY COMMIT	1232.0K	READ DELAYED-UNAVAIL.RESOUR	0.00	0.00
UNITS OF RECOVERY INDOUBT	0.00	ARCHIVE LOG READ ALLOCATION	0.00	0.00
UNITS OF REC.INDBT RESOLVED	0.00	ARCHIVE LOG WRITE ALLOCAT.	304.00	0.00
SYNCHS(SINGLE PHASE COMMIT)	367.4K	CONTR.INTERV.OFFLOADED-ARCH	9138.2K	110.37
QUEUED AT CREATE THREAD	0.00	LOOK-AHEAD MOUNT ATTEMPTED	0.00	0.00
SUBSYSTEM ALLIED MEMORY EOT	2251.00	LOOK-AHEAD MOUNT SUCCESSFUL	0.00	0.00
SUBSYSTEM ALLIED MEMORY EOM	0.00
SYSTEM EVENT CHECKPOINT	381.00	UNAVAILABLE OUTPUT LOG BUFF	11.00	0.00
		OUTPUT LOG BUFFER PAGED IN	0.00	0.00
HIGH WATER MARK IDBACK	73.00	LOG RECORDS CREATED	156.7M	1892.84
HIGH WATER MARK IDFORE	28.00	LOG CI CREATED	9143.0K	110.42
HIGH WATER MARK CTHREAD	130.00	LOG WRITE I/O REQ (LOG1&2)	4285.9K	51.76
		LOG CI WRITTEN (LOG1&2)	20273.8K	244.85
		LOG RATE FOR 1 LOG (MB)	N/A	0.48
		LOG WRITE SUSPENDED	1321.9K	15.96
"""

POOL_2009 = """\
BP1	GENERAL	QUANTITY	/SECOND	/THREAD	/COMMIT	BP1	READ OPERATIONS	QUANTITY	/SECOND
	CURRENT ACTIVE BUFFERS	1037.85	N/A	N/A	N/A		BPOOL HIT RATIO (%)	53.81
	UNAVAIL.BUFFER-VPOOL FULL	0.00	0.00	0.00	0.00		GETPAGE REQUEST	447.0M	5398.69
	NUMBER OF DATASET OPENS	3217.00	0.04	0.00	0.00		GETPAGE REQUEST-SEQUENTIAL	110.8M	1337.65
	BUFFERS ALLOCATED - VPOOL	232.3K	N/A	N/A	N/A		GETPAGE REQUEST-RANDOM	336.3M	4061.04
	DFHSM MIGRATED DATASET	0.00	0.00	0.00	0.00		SYNCHRONOUS READS	20658.6K	249.50
	DFHSM RECALL TIMEOUTS	0.00	0.00	0.00	0.00		SYNCHRON. READS-SEQUENTIAL	4244.1K	51.26
	VPOOL EXPANS. OR CONTRACT.	2.00	0.00	0.00	0.00		SYNCHRON. READS-RANDOM	16414.5K	198.24
	VPOOL OR HPOOL EXP. FAILURE	0.00	0.00	0.00	0.00		GETPAGE PER SYN.READ-RANDOM	20.49
							PAGES READ VIA DYN.PREFETCH	133.9M	1617.50
							PREF.DISABLED-NO READ ENG	25475.00	0.31
BP1	WRITE OPERATIONS	QUANTITY	/SECOND

	BUFFER UPDATES	57165.1K	690.40
	PAGES WRITTEN	7549.6K	91.18
	BUFF.UPDATES/PAGES WRITTEN	7.57
	SYNCHRONOUS WRITES	17486.00	0.21
	PAGES WRITTEN PER WRITE I/O	3.18		Low, but normal...
	HORIZ.DEF.WRITE THRESHOLD	25819.00	0.31	← turn these round
	VERTI.DEF.WRITE THRESHOLD	5658.00	0.07	←
	WRITE ENGINE NOT AVAILABLE	47.00	0.00	← look here
"""

ADDRESS_SPACE_TIMES = """\
     SERVICE TIME   ---APPL %---

     CPU  144.943  CP     80.84

     SRB   99.908  AAPCP   0.00

     RCT    0.000  IIPCP   0.00

     IIT    0.000

     HST    0.000  AAP      N/A

     AAP      N/A  IIP     0.00

     IIP    0.000
"""

REGION_TRANSACTIONS = """\
     -TRANSACTIONS-  TRANS-TIME HHH.MM.SS.TTT

     AVG       1.00  ACTUAL                13

     MPL       1.00  EXECUTION              0

     ENDED  3077678  QUEUED                 0

     END/S 10160.81  R/S AFFIN              0

     #SWAPS       0  INELIGIBLE             0

     EXCTD        0  CONVERSION             0

     AVG ENC   0.00  STD DEV               68
"""

GROUP_TIMES = """\
     SERVICE TIME  ---APPL %---

    CPU  221.605  CP     37.37

    SRB   13.441  AAPCP   0.00

    RCT    0.000  IIPCP   2.94

    IIT    0.000

    HST    0.000  AAP      N/A

    AAP      N/A  IIP    40.23

    IIP  121.848
"""

TCB_MODES = """\
    TCB    < TCBs Attached >     TCB     Attach        MVS       Accumulated          Accumulated          Accumulated
    Mode   Current      Peak  Attaches  Failures     Waits    Time in MVS wait      Time Dispatched         Time / TCB
    ____________________________________________________________________________________________________________________
     QR          1         1         0         0    379875      00:00:21.818431      00:00:41.164024  00:00:38.716120
     SL          1         1         0         0    131990      00:01:02.093076      00:00:00.889425  00:00:00.893424
     SO          1         1         0         0   1268919      00:00:43.914826      00:00:19.067638  00:00:19.266394
     S8        130       130         1         0   2698526      02:46:08.936419      00:02:02.565503  00:01:13.496820
"""


def only(rows: Rows, table: str) -> dict[str, Any]:
    assert len(rows[table]) == 1
    return rows[table][0]


def seconds_of_quantities(rows: Rows) -> tuple[float, float]:
    """The lengths of interval that every pair of QUANTITY and /SECOND allows at once."""
    printed: dict[tuple[object, ...], dict[str, dict[str, Any]]] = {}
    for row in rows["text_report_value"]:
        if row["number"] is not None and row["column_head"] in ("QUANTITY", "/SECOND"):
            printed.setdefault((row["object"], row["block"], row["name"]), {})[row["column_head"]] = row
    pairs = [(pair["QUANTITY"], pair["/SECOND"]) for pair in printed.values() if len(pair) == 2]
    assert len(pairs) >= 12
    least = max(quantity["low"] / rate["high"] for quantity, rate in pairs)
    most = min(quantity["high"] / rate["low"] for quantity, rate in pairs if rate["low"] > 0)
    return least, most


# --- coupling facility --------------------------------------------------------------------------------------------


def test_lock_structure(tmp_path: Path) -> None:
    rows, reading = read_text(tmp_path, LOCK_STRUCTURE)
    understood(reading)
    lock = only(rows, "text_rmf_coupling_structure")
    assert (lock["structure_name"], lock["structure_type"], lock["system"]) == ("DSNDB2B_LOCK1", "LOCK", "SYS1")
    assert (lock["requests"], lock["requests_per_second"], lock["sync_requests"]) == (30179, 251.5, 30179)
    assert lock["sync_service_seconds"] == pytest.approx(150.4e-6, rel=1e-12)
    assert lock["sync_deviation_seconds"] == pytest.approx(29.1e-6, rel=1e-12)
    assert (lock["lock_requests"], lock["deferred_requests"]) == (29000, 517)
    assert (lock["contended_requests"], lock["false_contended_requests"]) == (515, 199)
    # None were asynchronous, so all 30179 were synchronous, and the rounded 30K must leave room for them.
    printed = value(rows, "SYNC", "# REQ")
    assert printed["low"] <= lock["requests"] <= printed["high"]
    # 30179 requests at 251.5 a second are two minutes.
    assert lock["requests"] / lock["requests_per_second"] == pytest.approx(120, rel=0.001)


def test_cache_structures(tmp_path: Path) -> None:
    rows, reading = read_text(tmp_path, CACHE_STRUCTURES)
    understood(reading)
    facility = only(rows, "text_rmf_coupling_facility")
    assert (facility["cf_name"], facility["samples_average"]) == ("T1CF1LP", 119)
    structures = {row["structure_name"]: row for row in rows["text_rmf_coupling_structure"]}
    assert len(structures) == 10
    assert structures["IXCXC"]["structure_type"] == "LIST"
    assert {row["structure_type"] for name, row in structures.items() if name != "IXCXC"} == {"CACHE"}
    # 147M is of powers of 1024: 154,140,672 bytes.
    assert structures["DSNDB2I1_GBP6"]["size_bytes"] == 154_140_672
    assert sum(row["requests"] for row in structures.values()) == 26312
    for row in structures.values():
        assert row["requests"] / 120 == pytest.approx(row["requests_per_second"], abs=0.006)
    assert {row["cf_name"] for row in structures.values()} == {"T1CF1LP"}


def test_lock_structures_and_their_total(tmp_path: Path) -> None:
    rows, reading = read_text(tmp_path, LOCK_STRUCTURES)
    understood(reading)
    structures = rows["text_rmf_coupling_structure"]
    assert [row["structure_name"] for row in structures] == [
        *("DSNDB2U1_SCA", "DSNDB2I1_SCA", "DSNDB2U1_LOCK1", "DSNDB2I1_LOCK1")
    ]
    total = value(rows, "# REQ", value="29702")
    assert total["number"] == sum(row["requests"] for row in structures)
    assert {(row["sysplex"], row["interval_seconds"]) for row in structures} == {("CPLEX1", 120.0)}
    start = structures[0]["interval_start"]
    assert (start.isoformat()[:19], structures[0]["utc_offset"]) == ("1996-05-29T14:04:00", None)


def test_requests_to_a_structure_of_two_systems(tmp_path: Path) -> None:
    rows, reading = read_text(tmp_path, CACHE_REQUESTS)
    understood(reading)
    first, second = rows["text_rmf_coupling_structure"]
    assert (first["system"], first["requests"], first["sync_requests"]) == ("SYS1", 316, 316)
    assert (second["system"], second["requests"], second["sync_requests"]) == ("SYS2", 244, 244)
    # 316 of 560 is 56.43 %, and the total is not a row of its own.
    assert first["sync_percent"] == 56.4
    assert value(rows, "REQUESTS", "TOTAL", object="TOTAL")["number"] == first["requests"] + second["requests"]


def test_group_buffer_pool_as_a_panel(tmp_path: Path) -> None:
    rows, reading = read_text(tmp_path, GROUP_POOL_PANEL)
    understood(reading)
    pool = only(rows, "text_db2_group_buffer_pool")
    reads = (
        *("reads_invalid_data", "reads_invalid_no_data_interest", "reads_invalid_no_data_no_interest"),
        *("reads_absent_data", "reads_absent_no_data_interest", "reads_absent_no_data_no_interest"),
    )
    assert [pool[name] for name in reads] == [53, 0, 0, 4, 347, 25]
    assert sum(pool[name] for name in reads) == pool["reads_total"] == 429
    # Accesses of the pool: reads, writes, castouts, others.
    assert pool["reads_total"] + pool["changed_pages_sync"] + pool["pages_castout"] + pool["other_requests"] == 2091
    # 53 + 4 of 429 reads found data: 13.3 %, printed 13 %.
    printed = value(rows, "Read Hit Percentage")
    assert printed["low"] <= 100 * 57 / 429 <= printed["high"]
    assert pool["castout_engine_unavailable"] is None, "the value was not printed"
    assert pool["pool_name"] == "GBP6"
    assert (reading.summary["values"], reading.summary["numbers"]) == (26, 25)


# --- distributed work: workload activity and accounting -----------------------------------------------------------


def test_workload_of_a_service_class(tmp_path: Path) -> None:
    rows, reading = read_text(tmp_path, DDF_WORKLOAD)
    understood(reading)
    period = only(rows, "text_rmf_workload_period")
    assert (period["policy"], period["workload"], period["class_name"]) == ("POL_XML", "DB2", "DB2DDF")
    assert (period["class_kind"], period["period"]) == ("service class", 1)
    assert (period["ended_transactions"], period["ended_per_second"]) == (869793, 1773.96)
    assert (period["response_seconds"], period["response_deviation_seconds"]) == (0.018, 0.017)
    assert (period["cpu_seconds"], period["iip_seconds"]) == (1153.804, 651.003)
    cp, iip, on_cp = (period[f"{name}_percent"] for name in ("cp_appl", "iip_appl", "iip_on_cp_appl"))
    assert (cp, iip, on_cp) == (102.55, 132.77, 14.32)
    # The study's eligible and redirected shares.
    assert round(100 * (iip + on_cp) / (cp + iip), 1) == 62.5
    assert round(100 * iip / (cp + iip), 1) == 56.4
    # 869793 ended at 1773.96 a second took 490.31 s; 651.003 s of zIIP are 132.77 % of it.
    interval = period["ended_transactions"] / period["ended_per_second"]
    assert 100 * period["iip_seconds"] / interval == pytest.approx(iip, abs=0.006)
    assert (period["total_service"], period["service_per_second"]) == (327_320_000, 667_575)


def test_accounting_of_the_same_work(tmp_path: Path) -> None:
    rows, reading = read_text(tmp_path, DDF_ACCOUNTING)
    understood(reading)
    thread = only(rows, "text_db2_accounting")
    assert (thread["level"], thread["is_average"]) == ("plan", True)
    assert (thread["class1_elapsed_seconds"], thread["class2_elapsed_seconds"]) == (0.019216, 0.017801)
    cp, engine, on_cp = (thread[f"class1_{name}_seconds"] for name in ("cp_cpu", "se_cpu", "secp_cpu"))
    assert (cp, engine, on_cp) == (0.000575, 0.00075, 0.000078)
    assert thread["class2_secp_cpu_seconds"] is None, "N/A"
    assert round(100 * (engine + on_cp) / (cp + engine), 1) == 62.5
    assert round(100 * engine / (cp + engine), 1) == 56.6
    # The same words stand under both kinds of CPU time.
    nested = [row for row in rows["text_report_value"] if row["name"] == "NONNESTED"]
    assert [(row["parent"], row["number"]) for row in nested if row["column_head"] == "APPL(CL.1)"] == [
        ("ELAPSED TIME", 0.019216),
        ("CP CPU TIME", 0.000575),
        ("SE CPU TIME", 0.00075),
    ]


# --- statistics ---------------------------------------------------------------------------------------------------


def test_pool_with_its_writes_below_its_general_block(tmp_path: Path) -> None:
    rows, reading = read_text(tmp_path, POOL_2006)
    # 1270 page-ins in the 2998.9 s of all other pairs are 0.42 a second, not the 0.40 printed.
    assert reading.summary["damage"] == {"interval computed": 1, "printed numbers disagree": 1}
    (disagree,) = [damage.detail for damage in reading.damage if damage.reason == "printed numbers disagree"]
    assert "PAGE-INS REQUIRED FOR READ 1270.00 at 0.40 per second" in disagree
    pool = only(rows, "text_db2_pool")
    assert pool["interval_seconds"] == pytest.approx(2998.93, abs=0.02)
    assert (pool["pool_name"], pool["buffers"], pool["active_buffers"]) == ("BP1", 40000, 3014.44)
    assert (pool["getpages"], pool["getpages_sequential"], pool["getpages_random"]) == (7_270_900, 3, 7_270_900)
    assert (pool["sync_reads"], pool["sync_reads_random"]) == (624_500, 624_500)
    assert (pool["buffer_updates"], pool["pages_written"]) == (8_674_500, 1_662_700)
    assert (pool["sync_writes"], pool["async_writes"]) == (1127, 147_100)
    assert (pool["dynamic_prefetch_requests"], pool["dynamic_prefetch_reads"]) == (361_300, 233_300)
    assert (pool["dynamic_prefetch_pages"], pool["sequential_prefetch_pages"]) == (5_696_000, 61)
    assert (pool["vertical_write_threshold"], pool["page_ins_read"]) == (1593, 1270)
    assert pool["hit_ratio_percent"] == 13.07
    # Getpages less pages read, of getpages.
    pages = pool["sync_reads"] + pool["sequential_prefetch_pages"] + pool["dynamic_prefetch_pages"]
    assert 100 * (pool["getpages"] - pages) / pool["getpages"] == pytest.approx(13.07, abs=0.01)
    assert pool["buffer_updates"] / pool["pages_written"] == pytest.approx(5.22, abs=0.005)
    assert value(rows, "L.PRF.PAGES READ/L.PRF.READ", "QUANTITY")["value_type"] == "not calculated"
    assert value(rows, "CURRENT ACTIVE BUFFERS", "/SECOND")["value_type"] == "not applicable"


def test_one_interval_explains_every_rate(tmp_path: Path) -> None:
    """Quantities and rates were rounded by themselves; with the bounds of both, one length fits all of a report."""
    rows, _ = read_text(tmp_path, POOL_2006.replace("1270.00	0.40", "1270.00	0.42"))  # 1270 in 2999 s is 0.42.
    least, most = seconds_of_quantities(rows)
    assert 2998.8 < least <= most < 2999.1
    rows, _ = read_text(tmp_path, LOG_AND_SERVICES)
    least, most = seconds_of_quantities(rows)
    assert 82_799 < least <= most < 82_801


def test_log_beside_services(tmp_path: Path) -> None:
    rows, reading = read_text(tmp_path, LOG_AND_SERVICES)
    understood(reading)
    log = only(rows, "text_db2_log")
    assert (log["reads_output_buffer"], log["reads_active_log"]) == (67_691_300, 109_100_000)
    assert (log["records_created"], log["control_intervals_created"]) == (156_700_000, 9_143_000)
    assert (log["write_requests"], log["control_intervals_written"]) == (4_285_900, 20_273_800)
    assert (log["output_buffer_unavailable"], log["write_suspensions"]) == (11, 1_321_900)
    assert log["megabytes_per_second"] == 0.48
    # 110.42 control intervals of 4 KiB a second are 0.43 MB: what is written again makes the rest.
    assert log["control_intervals_created"] * 4096 / 82_800 / (1 << 20) <= log["megabytes_per_second"]
    # 67691.3K may be off by 50, 109.1M by 50,000.
    first = value(rows, "READS SATISFIED-OUTPUT BUFF", "QUANTITY")
    second = value(rows, "READS SATISFIED-ACTIVE LOG", "QUANTITY")
    assert (first["low"], first["high"]) == (67_691_250, 67_691_350)
    assert (second["low"], second["high"]) == (109_050_000, 109_150_000)
    services = {row["name"]: row["number"] for row in rows["text_report_value"] if row["block"] == "SUBSYSTEM SERVICES"}
    assert len(services) == 18
    assert (services["IDENTIFY"], services["CREATE THREAD"], services["HIGH WATER MARK CTHREAD"]) == (
        6189,
        1464600,
        130,
    )


def test_pool_with_remarks_in_the_margin(tmp_path: Path) -> None:
    rows, reading = read_text(tmp_path, POOL_2009)
    understood(reading)
    pool = only(rows, "text_db2_pool")
    assert (pool["getpages"], pool["getpages_sequential"], pool["getpages_random"]) == (447e6, 110.8e6, 336.3e6)
    assert (pool["buffers"], pool["data_set_opens"], pool["expansions"]) == (232_300, 3217, 2)
    assert (pool["prefetch_disabled_no_engine"], pool["write_engine_unavailable"]) == (25475, 47)
    assert (pool["deferred_write_threshold"], pool["vertical_write_threshold"]) == (25819, 5658)
    assert pool["sync_reads_sequential"] + pool["sync_reads_random"] == pool["sync_reads"] == 20_658_600


# --- CICS -------------------------------------------------------------------------------------------------------


def test_workload_extracts_without_any_heading(tmp_path: Path) -> None:
    rows, reading = read_text(tmp_path, f"{ADDRESS_SPACE_TIMES}\n\n{REGION_TRANSACTIONS}\n\n{GROUP_TIMES}")
    understood(reading)
    space, region, group = rows["text_rmf_workload_period"]
    assert (space["cpu_seconds"], space["srb_seconds"], space["cp_appl_percent"]) == (144.943, 99.908, 80.84)
    assert space["aap_seconds"] is None, "N/A"
    assert (region["ended_transactions"], region["ended_per_second"]) == (3_077_678, 10160.81)
    assert (region["response_seconds"], region["response_deviation_seconds"]) == (0.013, 0.068)
    assert (group["iip_seconds"], group["iip_appl_percent"], group["iip_on_cp_appl_percent"]) == (121.848, 40.23, 2.94)
    # All three are of one interval: its length follows from each of them.
    lengths = [
        (space["cpu_seconds"] + space["srb_seconds"]) / (space["cp_appl_percent"] / 100),
        region["ended_transactions"] / region["ended_per_second"],
        (group["cpu_seconds"] + group["srb_seconds"] - group["iip_seconds"]) / (group["cp_appl_percent"] / 100),
        group["iip_seconds"] / (group["iip_appl_percent"] / 100),
    ]
    assert lengths == pytest.approx([302.9] * 4, abs=0.05)


def test_tcb_modes(tmp_path: Path) -> None:
    rows, reading = read_text(tmp_path, TCB_MODES)
    understood(reading)
    modes: dict[str, dict[str, float]] = {}
    for row in rows["text_cics_statistics"]:
        modes.setdefault(row["resource"], {})[row["statistic"]] = row["number"]
    assert list(modes) == ["QR", "SL", "SO", "S8"]
    assert modes["QR"]["cpu_seconds"] == 38.71612
    assert modes["S8"]["tcbs_attached"] == 130
    # 2 h 46 min 8.936419 s.
    assert modes["S8"]["mvs_wait_seconds"] == 9968.936419
    assert (modes["S8"]["dispatched_seconds"], modes["S8"]["cpu_seconds"]) == (122.565503, 73.49682)
    # A TCB that was there all the minute was dispatched, or waited.
    for mode in ("QR", "SL", "SO"):
        assert modes[mode]["mvs_wait_seconds"] + modes[mode]["dispatched_seconds"] == pytest.approx(62.98, abs=0.01)
