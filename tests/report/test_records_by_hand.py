"""A report of records that neither the example nor the simulator writes: each table of theirs is on its page."""

from __future__ import annotations

import json
from pathlib import Path

from plexlens.report.pages import PAGES
from tests.cli.command import run
from tests.ingest.test_smf_data_set_use import device, use_record
from tests.metrics.test_db2_statement import DYNAMIC, FIXED, STATIC, dynamic, trace_record
from tests.metrics.test_hfs import FILE_SYSTEM, GLOBAL, POOL, hfs_record
from tests.metrics.test_io_port import PATH, UNIT, director_record
from tests.metrics.test_omvs import kernel_record
from tests.metrics.test_paging_class import BATCH, ONLINE, REASONS, storage_record
from tests.metrics.test_pcie import COMPRESSED, ZEDC, done, function, pcie_record, u16
from tests.metrics.test_scm import MOVER, PART, memory_record
from tests.metrics.test_security_event import REFUSED
from tests.metrics.test_serialization import LOCAL, REQUESTS, SCANNER, delay_record
from tests.metrics.test_smf_recording import loss_record, minutes, status_record
from tests.metrics.test_virtual import JOB, virtual_record
from tests.metrics.test_was_requests import was_record
from tests.metrics.test_web_batch import batch_record
from tests.metrics.test_web_requests import api, api_record, web_record
from tests.metrics.test_workload_decision import decision_record
from tests.metrics.test_workload_sample import sample_record

#: The second and third have accelerators: their numbers, from which on, and the same of compressions.
FUNCTIONS = [
    function(1, 1),
    function(2, 2, more={108: u16(0), 110: u16(1), 112: u16(0), 114: u16(0)}),
    function(3, 2, more={108: u16(1), 110: u16(1), 112: u16(0), 114: u16(1)}),
    # A synchronous I/O link, with its counts.
    function(4, 4, types=(0, 1)),
]

LINK = done(0, 0, 5_400, 360, 240, 108_000)

RECORDS = (
    storage_record(ONLINE, BATCH, reasons=(REASONS, REASONS)),
    memory_record(MOVER, PART),
    delay_record(local=[LOCAL], enqueue_systems=[REQUESTS], queue_scan=[SCANNER]),
    pcie_record(
        FUNCTIONS, (done(0, 0, 5_400, 360, 240, 108_000),), accelerators=({}, ZEDC), compressions=(COMPRESSED,)
    ),
    trace_record(DYNAMIC, dynamic()),
    trace_record(STATIC, FIXED),
    status_record(minutes(0), 36_000),
    status_record(minutes(60), 36_000),
    loss_record(minutes(50)),
    REFUSED,
    director_record(PATH, UNIT),
    kernel_record(),
    hfs_record(GLOBAL, (POOL,), (FILE_SYSTEM,)),
    virtual_record(JOB),
    use_record(15, device(1, "VOL001", 4_711)),
    use_record(15, device(1, "VOL001", 4_720), at=minutes(2)),
    decision_record(minutes(1), ("ONLINE", 1, {})),
    sample_record(minutes(1), "ONLINE", {"pcpuu": 3, "pcpud": 1}),
    api_record(api(minutes(1), 0.25, (0.05, 0.2))),
    web_record(minutes(2), 0.5),
    was_record(minutes(2)),
    batch_record(minutes(2)),
)


GRAINS = {
    "api_request", "dasd_data_set_use", "db2_statement", "enqueue_scan", "enqueue_serialization", "enqueue_waiter",
    "io_accelerator", "io_eadm", "io_function", "io_port", "io_scm", "omvs_file_system", "omvs_hfs", "omvs_hfs_pool",
    "omvs_kernel", "omvs_resource", "paging_class", "security_event", "smf_recording", "virtual_area",
    "virtual_csa_key", "virtual_private", "web_batch", "web_request", "web_was_request", "workload_decision",
    "workload_sample",
}  # fmt: skip


def test_a_report_has_the_tables_of_each_record(tmp_path: Path) -> None:
    dump = tmp_path / "hand.smf"
    dump.write_bytes(b"".join(RECORDS))
    answer = run("report", dump, "--json", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    sections = json.loads(answer.stdout)["sections"]
    shown = {table["title"] for section in sections for table in section.get("tables", ())}
    assert {table.title for page in PAGES for table in page.tables if table.grain in GRAINS} <= shown
