"""Real RMF Postprocessor XML: every text and number of the files, found again; some checked by eye.

The oracle is a walk of the whole tree with lxml that knows nothing of reports, and a second, slow reading of printed
numbers by `datetime.strptime` and `str.split`.
"""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
from lxml import etree

from plexlens.ingest.printed import xml as rmf_xml
from tests.ingest.rmf_documents import Rows, read_bytes, read_path, values

FILES = ("cf", "cpu", "paging", "wlmgl", "xcf")
EPOCH = datetime(1970, 1, 1)


@pytest.fixture(params=FILES)
def file(request: pytest.FixtureRequest, shared_data: Path) -> Path:
    return shared_data / "rmf" / f"{request.param}.xml"


@pytest.fixture
def rmf(shared_data: Path) -> Path:
    return shared_data / "rmf"


def texts(root: etree._Element) -> list[tuple[etree._Element, str]]:
    """Every text of a document with the element it stands in, blank ones left out."""
    found = []
    for element in root.iter(tag=etree.Element):
        found.append((element, element.text or ""))
        parent = element.getparent()
        if parent is not None:
            found.append((parent, element.tail or ""))
    return [(element, text.strip()) for element, text in found if text.strip()]


def slow_number(text: str, *, says_number: bool) -> float | None:
    """A printed number, read the slow way; None for text."""
    for form in ("%m/%d/%Y-%H.%M.%S", "%m/%d/%Y %H:%M:%S", "%m/%d/%Y"):
        try:
            return (datetime.strptime(text, form) - EPOCH).total_seconds()
        except ValueError:
            pass
    groups = text.split(".")
    if len(groups) in {3, 4} and all(group.isdigit() and len(group) > 1 for group in groups):
        hours, minutes, seconds, *fraction = groups
        return int(hours) * 3600 + int(minutes) * 60 + float(f"{seconds}.{fraction[0] if fraction else '0'}")
    if text.count(":") == 2 and text.replace(":", "").isdigit():
        minutes, seconds, thousandths = text.split(":")
        return int(minutes) * 60 + int(seconds) + int(thousandths) / 1000
    if text.isdigit() and text[0] == "0" and len(text) > 1 and not says_number:
        return None
    factor = 1.0
    if re.fullmatch(r"[\d.]+M", text):
        # Of these files only the paging report scales: 200M of storage, 136902.1M pages.
        text, factor = text[:-1], 1048576.0 if text == "200M" else 1e6
    return float(text) * factor if re.fullmatch(r"\d+(\.\d+)?", text) else None


def test_every_text_and_attribute_is_a_value(file: Path) -> None:
    root = etree.parse(file).getroot()
    printed, names = Counter[str](), Counter[str]()
    for element, text in texts(root):
        parent = element.getparent()
        if element.tag == "name" and parent is not None and parent.tag == "var":
            names[text] += 1
        else:
            printed[text] += 1
    for element in root.iter(tag=etree.Element):
        # The type of a head is the column_type of its row.
        attributes = dict(element.attrib)
        if element.tag == "col" and element.getparent().tag == "column-headers":
            assert set(attributes) == {"type"}
            attributes = {}
        printed.update(value for value in attributes.values())
        if element is root:
            printed.update(url for prefix, url in element.nsmap.items() if prefix)
    rows, _ = read_path(file)
    assert Counter(value["value"] for value in values(rows) if value["value"] is not None) == printed
    assert Counter(value["name"] for value in values(rows, "var")) == names
    assert sum(names.values()) > 0 or file.stem == "xcf"


def test_every_number_is_typed_and_bears_its_interval(file: Path) -> None:
    rows, reading = read_path(file)
    numbers = 0
    for value in values(rows):
        text, kind = value["value"], value["kind"]
        assert value["interval_start"] is not None
        assert value["interval_end"] > value["interval_start"]
        if kind in {"name", "head", "mfpmsg"} or text is None:
            assert value["number"] is None
            continue
        expected = slow_number(text, says_number=value["column_type"] in {"N", "S", "M"})
        if kind == "time" and value["name"] == "cycle":
            expected = 1.0  # <cycle unit="milliseconds">1000</cycle>
        assert value["number"] == (None if expected is None else pytest.approx(expected, rel=1e-12)), text
        assert (value["value_type"] in {"text", "empty"}) == (expected is None), text
        numbers += expected is not None
    assert numbers == reading.summary["numbers"] > 20


def test_every_digit_of_a_cell_or_variable_is_accounted_for(file: Path) -> None:
    """Texts with a digit that are not number, listed by hand: names, models, members and bounds, and nothing else."""
    rows, _ = read_path(file)
    left = {
        value["value"]
        for value in values(rows)
        if value["kind"] in {"cell", "var"} and value["number"] is None and re.search(r"\d", value["value"] or "")
    }
    names = {value["name"] for value in values(rows, "var")}
    known = {
        "cf": set(),
        "cpu": {
            "Z02", "T02", "000000000005ED28", "QCK2", "KVMOCP1", "KVMOCP2", "ICF1LP7", "ICF2LP8", "VISSC1",
            "=N+1", "=N+2", "=N+3", "<=N+5", "<=N+10", "<=N+15", "<=N+20", "<=N+30", "<=N+40", "<=N+60", "<=N+80",
            "<=N+100", "<=N+120", "<=N+150", ">N+150",
        },
        "paging": {"IEAOPT00"},
        "wlmgl": {
            "00", "QS390POL", "QS390DEF", "QLUSER1", "Quick Load 390 Policy",
            *(f"SYSSTC{number}" for number in range(1, 6)),
            *(f"STARTED TASK DEFAULT {number}" for number in range(1, 6)),
        },
        "xcf": {
            "AOPAOP1", "CFGIBM00", "ARCPLEX0", "DFHIR000", "CICS56", "IGG0CAS", "IGG0CAS1RPRT", "ISTCFS01", "N1",
            "N1$RPRT", "SYSIGW00", "SYSIGW01", "IGWCLM01RPRT", "SYSIOS01", "SYSJ2$XD", "N1$RPRT$$$$$$$$$", "SYSMCS2",
        },
    }  # fmt: skip
    assert left == known[file.stem]
    assert names.isdisjoint({None})


def test_cells_stand_under_their_heads(file: Path) -> None:
    expected = []
    for table_no, table in enumerate(etree.parse(file).getroot().iter("table"), start=1):
        columns = [(head.text or "").strip() for head in table.find("column-headers")]
        part = table.getparent()
        segment = part.getparent()
        for row_no, row in enumerate(table.findall("row"), start=1):
            for cell_no, cell in enumerate(row.findall("col"), start=1):
                text = (cell.text or "").strip() or None
                expected.append(
                    (
                        segment.findtext("name").strip(),
                        (part.findtext("name") or "").strip() or None,
                        table_no,
                        row_no,
                        row.get("type"),
                        cell_no,
                        columns[cell_no - 1],
                        text,
                    )
                )
    columns_of_row = ("segment", "part", "table_no", "row_no", "row_type", "cell_no", "column_head", "value")
    rows, _ = read_path(file)
    assert [tuple(cell[name] for name in columns_of_row) for cell in values(rows, "cell")] == expected
    assert len(expected) > 100 or file.stem == "cf"


def test_variables_stand_in_their_parts(file: Path) -> None:
    expected = []
    for variable in etree.parse(file).getroot().iter("var"):
        part = variable.getparent().getparent()
        expected.append(
            (
                part.getparent().findtext("name").strip(),
                (part.findtext("name") or "").strip() or None,
                variable.findtext("name").strip(),
                variable.findtext("value").strip() or None,
            )
        )
    rows, _ = read_path(file)
    got = [(value["segment"], value["part"], value["name"], value["value"]) for value in values(rows, "var")]
    assert got == expected


def rewritten(path: Path, *, pretty: bool) -> bytes:
    """The file without any white space between markup and text, or with plenty."""
    root = etree.parse(path).getroot()
    for element in root.iter(tag=etree.Element):
        for place in ("text", "tail"):
            text = (getattr(element, place) or "").strip()
            if pretty:
                text = f"\n\t\t{text}\r\n   "
            setattr(element, place, text if element is not root or place == "text" else "")
    return etree.tostring(root, encoding="utf-8", xml_declaration=True)


def without_lines(rows: Rows) -> Rows:
    return {
        name: [{column: value for column, value in row.items() if column != "line"} for row in listed]
        for name, listed in rows.items()
    }


def test_compact_and_pretty_printed_files_give_the_same_rows(file: Path, tmp_path: Path) -> None:
    compact, pretty = rewritten(file, pretty=False), rewritten(file, pretty=True)
    assert compact.count(b"\n") <= 1
    assert pretty.count(b"\n") > 500 or file.stem == "cf"
    expected = without_lines(read_path(file)[0])
    assert without_lines(read_bytes(tmp_path, compact)[0]) == expected
    assert without_lines(read_bytes(tmp_path, pretty)[0]) == expected


def test_lines_are_those_of_the_elements(file: Path) -> None:
    lines = Counter(
        element.sourceline
        for element in etree.parse(file).getroot().iter("col", "value")
        if not (element.tag == "col" and element.getparent().tag == "column-headers")
    )
    rows, _ = read_path(file)
    assert Counter(value["line"] for value in values(rows) if value["kind"] in {"cell", "var"}) == lines


def test_damage_of_the_real_files(rmf: Path) -> None:
    """The partition table ends two rows early, in empty cells, which is not damage; one list names MPL twice."""
    found = {}
    for name in FILES:
        _, reading = read_path(rmf / f"{name}.xml")
        found[name] = [(damage.reason, damage.severity.value) for damage in reading.damage]
    assert found == {"cf": [], "cpu": [], "paging": [], "wlmgl": [("duplicate variable", "info")], "xcf": []}
    assert "line 985: a second variable 'MPL'" in read_path(rmf / "wlmgl.xml")[1].damage[0].detail


def test_summaries_of_the_real_files(rmf: Path) -> None:
    _, reading = read_path(rmf / "cpu.xml")
    # Local times: the reports name no offset from UTC.
    summary = reading.summary
    assert summary["records"] == {"CPU": 1}
    assert summary["systems"] == ["RPRT"]
    assert summary["span"] == ["2022-04-06T12:30:00", "2022-04-06T13:00:00"]
    _, reading = read_path(rmf / "wlmgl.xml")
    assert reading.summary["sysplexes"] == ["VIPLEX"]
    assert reading.summary["span"] == ["2022-08-09T00:00:00", "2022-08-09T00:29:59"]


@pytest.mark.parametrize("name", FILES)
def test_real_files_are_recognised(rmf: Path, name: str) -> None:
    assert rmf_xml.sniff((rmf / f"{name}.xml").read_bytes()[:4096], f"{name}.xml")


def subset(row: dict[str, object], **expected: object) -> None:
    """Compare the columns named; numbers to 1e-9."""
    shown = {column: row[column] for column in expected}
    assert shown == {
        column: pytest.approx(value, rel=1e-9) if isinstance(value, float) else value
        for column, value in expected.items()
    }


# The expectations below were copied from the files by eye.


def test_cpu_processors(rmf: Path) -> None:
    rows, _ = read_path(rmf / "cpu.xml")
    first, second = rows["rmf_xml_cpu_processor"]
    subset(
        first,
        system="RPRT",
        interval_start=datetime(2022, 4, 6, 12, 30, tzinfo=UTC),
        interval_end=datetime(2022, 4, 6, 13, 0, tzinfo=UTC),
        utc_offset=None,
        record_no=1,
        interval_seconds=1799.999,
        cpu_number=0,
        cpu_type="CP",
        online_percent=100.0,
        lpar_busy_percent=1.26,
        mvs_busy_percent=1.24,
        parked_percent=0.0,
        logical_share_percent=92.9,
        priority="MED",
        io_interrupts_per_second=19.99,
        tpi_percent=0.71,
        # 1,799.999 s online; 1.26 % of it dispatched; 1.24 % of it not waiting; 19.99 interrupts a second.
        online_seconds=1799.999,
        dispatch_seconds=22.6799874,
        wait_seconds=1777.6790124,
        io_interrupts=35981.98001,
    )
    subset(second, cpu_number=1, lpar_busy_percent=0.22, logical_share_percent=0.0, priority="LOW", tpi_percent=0.56)


def test_cpu_control(rmf: Path) -> None:
    (control,) = read_path(rmf / "cpu.xml")[0]["rmf_xml_cpu_control"]
    subset(
        control,
        machine_type="8562",
        capacity_model="Z02",
        hardware_model="T02",
        sequence_code="000000000005ED28",
        hiperdispatch="YES",
        cpc_capacity_msu=413.0,
        change_reason="NONE",
        partition_name="VIRPT",
        image_capacity_msu=413.0,
        configured_partitions=11.0,
        wait_completion="NO",
        dispatch_interval="DYNAMIC",
        group_name=None,
        group_limit_msu=None,
        physical_cp=2.0,
        physical_aap=0.0,
        physical_iip=0.0,
        physical_icf=1.0,
        physical_ifl=4.0,
        blocked_promote_rate=27.0,
        blocked_waiters=0.0,
    )


def test_cpu_partitions(rmf: Path) -> None:
    partitions = read_path(rmf / "cpu.xml")[0]["rmf_xml_cpu_partition"]
    assert [(row["partition_name"], row["processor_type"]) for row in partitions] == [
        ("VIRPT", "CP"),
        ("QCK2", "CP"),
        ("TRNG", "CP"),
        ("VIDVLP", "CP"),
        ("PHYSICAL", "CP"),
        ("KVMOCP1", "IFL"),
        ("KVMOCP2", "IFL"),
        ("ZVMPROD", "IFL"),
        ("PHYSICAL", "IFL"),
        ("ICF1LP7", "ICF"),
        ("ICF2LP8", "ICF"),
        ("PHYSICAL", "ICF"),
        ("VISSC1", None),
        ("ZVMVIN", None),
    ]
    subset(
        partitions[0],
        is_physical=False,
        status="Active",
        weight=52.0,
        defined_msu=0.0,
        actual_msu=3.0,
        capping_defined="N Y N",
        wlm_capping_percent=0.0,
        logical_processors=2.0,
        effective_dispatch_seconds=25.534,
        dispatch_seconds=26.674,
        logical_effective_percent=0.71,
        logical_total_percent=0.74,
        management_percent=0.03,
        physical_total_percent=0.74,
        management_seconds=1.14,
    )
    subset(partitions[4], is_physical=True, dispatch_seconds=10.983, management_seconds=10.983, weight=None)
    subset(partitions[12], status="Deactivated", weight=None, dispatch_seconds=None, management_seconds=None)
    # The report's own total line: 47.458 s effective and 62.078 s in all on CPs, each line rounded to 1 ms.
    on_cps = [row for row in partitions if row["processor_type"] == "CP"]
    assert sum(row["effective_dispatch_seconds"] or 0.0 for row in on_cps) == pytest.approx(47.458, abs=0.003)
    assert sum(row["dispatch_seconds"] for row in on_cps) == pytest.approx(62.078, abs=0.003)


def test_coupling_facilities(rmf: Path) -> None:
    first, second = read_path(rmf / "cf.xml")[0]["rmf_xml_coupling_facility"]
    subset(
        first,
        system=None,
        sysplex="VIPLEX",
        interval_start=datetime(2022, 7, 26, tzinfo=UTC),
        interval_seconds=1800.0,
        cf_name="ICF7",
        samples_average=1800.0,
        samples_max=1800.0,
        samples_min=1800.0,
        cf_type=None,
        busy_percent=65.2,
        processors_defined=1.0,
        processors_effective=0.0,
        processor_seconds=0.0,
    )
    subset(second, cf_name="ICF8", busy_percent=65.4)


def test_xcf(rmf: Path) -> None:
    rows, _ = read_path(rmf / "xcf.xml")
    systems = rows["rmf_xml_xcf_system"]
    assert [(row["transport_class"], row["requests_rejected"]) for row in systems] == [
        ("_XCFMGD", 0.0),
        ("DEFAULT", 0.0),
    ]
    subset(systems[0], direction="local", remote_system="RPRT", status="Active", system="RPRT")
    members = rows["rmf_xml_xcf_member"]
    assert len(members) == 29
    subset(members[0], group_name="AOPAOP1", member_name="CFGIBM00", status="Active", member_system="RPRT")
    (console,) = [row for row in members if row["group_name"] == "SYSMCS"]
    subset(console, member_name="RPRT", requests_out=18.0, requests_in=18.0)
    assert sum(row["requests_out"] for row in members) == 18.0


def test_paging(rmf: Path) -> None:
    (paging,) = read_path(rmf / "paging.xml")[0]["rmf_xml_paging"]
    subset(
        paging,
        system="RPRT",
        interval_seconds=1799.995,
        opt_member="IEAOPT00",
        samples=181.0,
        uic_min=65535.0,
        uic_avg=65535.0,
        page_moves_per_second=0.85,
        page_moves=0.85 * 1799.995,
        getmain_requests_per_second=489.06,
        getmain_requests=489.06 * 1799.995,
        first_reference_faults_per_second=465.75,
        pageins_per_second=0.0,
        nonvio_pageins=0.0,
        total_frames_avg=8388608.0,
        available_frames_min=7595858.0,
        available_frames_max=7601700.0,
        available_frames_avg=7599552.0,
        sqa_frames_max=4516.0,
        region_frames_avg=660124.0,
        fixed_frames_avg=84762.0,
        fixed_below_2g_frames_min=4700.0,
        shared_pages_avg=255306.0,
        shared_high_4k_pages_avg=13427.0,
        slots_avg=899999.0,
        available_slots_avg=899989.0,
        nonvio_slots_avg=10.0,
        lfarea_1m_bytes=200.0 * 1048576,
        fixed_1m_objects_avg=4.0,
        high_common_objects_avg=131.0,
        frames_1m_fixed_limit_avg=200.0,
        frames_1m_avg=29029.0,
        high_shared_pages_avg=136902.1e6,
        high_common_pages_avg=17301504.0,
        high_common_fixed_frames_avg=9393.0,
        hiperspace_frames_avg=1.0,
        vio_frames_avg=0.0,
    )
    # Every cell of the frame and slot tables has its column: none of the table's own columns is without a value.
    assert [column for column, value in paging.items() if value is None] == ["sysplex", "subsystem", "utc_offset"]


def test_workload_classes(rmf: Path) -> None:
    periods = read_path(rmf / "wlmgl.xml")[0]["rmf_xml_workload_period"]
    classes = {(row["class_kind"], row["class_name"]): row for row in periods if row["period"] is None}
    kinds = Counter(kind for kind, _ in classes)
    assert kinds == {"service class": 14, "workload": 7}
    assert len(periods) == 14 + 7 + 9
    low = classes["service class", "STCLOW"]
    subset(
        low,
        system=None,
        sysplex="VIPLEX",
        interval_start=datetime(2022, 8, 9, tzinfo=UTC),
        interval_end=datetime(2022, 8, 9, 0, 29, 59, tzinfo=UTC),
        interval_seconds=1799.997,
        policy="QS390POL",
        workload="STCLOW",
        description="Low Priority Started Tasks",
        resource_group="*NONE",
        critical="NONE",
        honor_priority="DEFAULT",
        all_zero=False,
        transactions_average=13.44,
        multiprogramming_level=13.44,
        ended_transactions=3.0,
        swaps=274.0,
        executed_transactions=0.0,
        response_seconds=8.944393,
        execution_seconds=8.411890,
        queued_seconds=0.532502,
        response_deviation_seconds=13.388099,
        # Three transactions ended.
        response_total_seconds=26.833179,
        queued_total_seconds=1.597506,
        response_square_seconds=3 * (8.944393**2 + 13.388099**2),
        active_seconds=13.44 * 1799.997,
        cpu_service=227192.0,
        srb_service=15378.0,
        total_service=242570.0,
        service_per_second=135.0,
        absorption_rate=10.0,
        cpu_seconds=2.670,
        srb_seconds=0.181,
        rct_seconds=0.021,
        io_interrupt_seconds=0.004,
        hiperspace_seconds=0.0,
        iip_seconds=None,
        aap_seconds=None,
        cp_appl_percent=0.16,
        iip_on_cp_appl_percent=0.05,
        iip_appl_percent=None,
        # 2.670 + 0.181 + 0.021 + 0.004 s, which 0.16 % of the interval, 2.88 s, confirms.
        cp_seconds=2.876,
        iip_on_cp_seconds=0.0005 * 1799.997,
        transaction_cp_appl_percent=0.16,
        transaction_specialty_on_cp_appl_percent=0.05,
        transaction_specialty_appl_percent=None,
        mobile_cp_appl_percent=0.0,
        promoted_lock_seconds=0.040,
        io_per_second=3.1,
        # Printed in milliseconds.
        io_response_seconds=0.0002,
        io_queue_pending_seconds=0.0002,
        io_operations=3.1 * 1799.997,
        storage_average_frames=9686.07,
        storage_total_frames=130175.7,
        storage_shared_frames=765.20,
        pagein_single_per_second=0.0,
    )
    subset(classes["workload", "SYSTEM"], cpu_seconds=3.054, average_enclaves=1.0, resource_group=None)
    subset(classes["service class", "BATCH"], all_zero=True, cpu_seconds=0.0, ended_transactions=0.0, policy="QS390POL")
    # The list that names MPL twice: the second is left to the table of values.
    subset(classes["workload", "STCHIGH"], multiprogramming_level=4.0, ended_transactions=None)


def test_workload_goals(rmf: Path) -> None:
    periods = read_path(rmf / "wlmgl.xml")[0]["rmf_xml_workload_period"]
    unix = [row for row in periods if row["class_name"] == "UNIX" and row["period"] is not None]
    shown = [
        (row["period"], row["importance"], row["performance_index"], row["goal_transactions"], row["goal_velocity"],
         row["actual_velocity"], row["goal_type"], row["cpu_seconds"])
        for row in unix
    ]  # fmt: skip
    assert shown == [
        (1, 2, None, 1.0, 60.0, 0.0, "velocity", None),
        (2, 3, None, 0.0, 50.0, None, "velocity", None),
        (3, 4, 0.4, 0.0, 40.0, 100.0, "velocity", None),
    ]
    (high,) = [row for row in periods if row["class_name"] == "STCHIGH" and row["period"] == 1]
    subset(high, importance=2, performance_index=1.0, goal_velocity=50.0, actual_velocity=50.0, using_percent=0.0)
    (system,) = [row for row in periods if row["class_name"] == "SYSTEM" and row["period"] == 1]
    subset(system, goal_type="system", importance=None, goal_velocity=None, actual_velocity=71.9)
