"""A large mixed dump read by Spark: one worker and two, compared with the embedded engine in the same run.

    PYSPARK_PYTHON=.build/spark/bin/python .build/spark/bin/python -m benchmarks.spark FOLDER --mib 5120 --record

The dump has RMF, MQ, Db2 and CICS records. A table of each kind is read and written as Parquet. Rows of
both engines are compared by a hash of all their columns, and their numbers with those that the dump was written with.
FOLDER takes the dump and half of its size; both are deleted.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb

from benchmarks.dumps import write_mq, write_rmf
from benchmarks.measure import command, machine
from benchmarks.transactions import write_transactions

MIB = 1024**2
RECORD = Path(__file__).parent / "record"
TABLES = ("smf74_1_device", "smf116_1_wq", "smf101_ifcid3_qwac", "smf110_1_performance")
ROOT = Path(__file__).resolve().parent.parent

#: Decodes a table in this process, and writes it with the types that Spark gives it.
EMBEDDED = """
import json, os, sys, time
from pathlib import Path
import pyarrow.parquet as pq
from plexlens.ingest import smf
from plexlens.spark.dumps import _cast, table_schema
from plexlens.spark.widening import widened
dump, out, threads, tables = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
spent = {}
for table in tables:
    schema, began = widened(table_schema(table)), (time.perf_counter(), time.process_time())
    (out / table).mkdir(parents=True)
    writing = 0.0
    with pq.ParquetWriter(out / table / "rows.parquet", schema, compression="snappy") as writer:
        for name, batch in smf.read(Path(dump), source_id="b", tables=[table], threads=threads):
            start = time.process_time()
            writer.write_batch(_cast(batch, schema))
            writing += time.process_time() - start
    spent[table] = {"wall": time.perf_counter() - began[0], "cpu": time.process_time() - began[1], "write": writing}
(out / "spent.json").write_text(json.dumps(spent))
"""

#: The same by Spark. What a read without writing takes, is measured with the sink that drops its rows.
SPARK = """
import json, os, sys, time
from pathlib import Path
from plexlens.spark import add_source, session
from plexlens.spark.dumps import plan
dump, out, workers, size, *tables = sys.argv[1:]
out = Path(out)
began = time.perf_counter()
spark = session(f"local-cluster[{workers},1,2048]", {
    "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR",
    "spark.executor.memory": "1g", "spark.driver.memory": "1g",
    "spark.executorEnv.PYTHONPATH": os.environ["PYTHONPATH"],
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
})
add_source(spark)
spark.range(int(workers)).repartition(int(workers)).write.format("noop").mode("append").save()
spent = {"start": time.perf_counter() - began}
began = time.perf_counter()
spark.range(2).rdd.map(lambda row: os.getpid()).collect()
spent["python"] = time.perf_counter() - began
for table in tables:
    source = spark.read.format("plexlens").option("table", table).option("split_bytes", size)
    began = time.perf_counter(), time.process_time()
    parts = plan([Path(dump)], table, split_bytes=int(size))
    planned = time.perf_counter() - began[0], time.process_time() - began[1]
    began = time.perf_counter()
    source.load(dump).write.format("noop").mode("append").save()
    dropped = time.perf_counter() - began
    began = time.perf_counter()
    source.load(dump).write.parquet(str(out / table))
    spent[table] = {"parts": len(parts), "plan": planned, "drop": dropped, "wall": time.perf_counter() - began}
memory, used = {}, {}
for process in Path("/proc").iterdir():
    try:
        words = (process / "cmdline").read_bytes().decode().replace("\\0", " ")
        status = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines() if ":" in line)
        environment = (process / "environ").read_bytes().decode()
    except (OSError, UnicodeDecodeError, NotADirectoryError):
        continue
    if sys.argv[2] not in environment:
        continue
    # User and system, its own and that of children that ended: fields 14 to 17.
    ticks = sum(map(int, (process / "stat").read_text().rsplit(")", 1)[1].split()[11:15]))
    kind = "Java" if words.split("/")[-1].startswith("java") or "/bin/java " in words else "Python"
    used[kind] = used.get(kind, 0) + ticks / os.sysconf("SC_CLK_TCK")
    if "import json" in words:
        continue
    for kind in ("CoarseGrainedExecutorBackend", "pyspark.daemon"):
        if kind in words:
            memory.setdefault(kind, []).append(int(status["VmHWM"].split()[0]))
spent["memory"], spent["used"] = memory, used
(out / "spent.json").write_text(json.dumps(spent))
spark.stop()
"""


def write_dump(path: Path, size: int) -> dict[str, int]:
    """Write a mixed dump of about ``size`` bytes; return rows by table."""
    parts = [path.with_suffix(f".{number}") for number in range(3)]
    rows = dict(write_rmf(parts[0], size // 3).rows)
    rows |= write_mq(parts[1], size // 3)
    rows |= write_transactions(parts[2], size // 3).rows
    with path.open("wb") as whole:
        for part in parts:
            with part.open("rb") as data:
                shutil.copyfileobj(data, whole, MIB)
            part.unlink()
    return rows


def fingerprint(folder: Path) -> tuple[int, int]:
    """Number of rows of a folder of Parquet files, and the sum of their hashes, whatever their order."""
    connection = duckdb.connect()
    files = f"read_parquet('{folder}/*.parquet')"
    columns = connection.sql(f"describe select * from {files}").fetchall()
    words = []
    for name, kind, *_ in columns:
        if name == "source_id":
            continue
        if kind.startswith("TIMESTAMP"):
            words.append(f'epoch_us("{name}")')
        elif "INT" in kind or kind.startswith("DECIMAL"):
            words.append(f'"{name}"::hugeint')
        else:
            words.append(f'"{name}"')
    found = connection.sql(f"select count(*), sum(hash({', '.join(words)})::hugeint) from {files}").fetchone()
    assert found is not None
    return int(found[0]), int(found[1] or 0)


def run(code: str, out: Path, *words: str) -> tuple[Any, dict[str, Any]]:
    """Run one engine in a process of its own, in a folder of its own; its time, and its own account."""
    out.mkdir(parents=True)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]), "PLEXLENS_RUN": str(out)}
    done = command(sys.executable, "-c", code, words[0], out, *words[1:], environment=environment)
    return done, json.loads((out / "spent.json").read_text())


def main() -> None:
    """Make the dump, run the engines, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--mib", type=int, default=5120)
    parser.add_argument("--split-mib", type=int, default=128)
    parser.add_argument("--record", action="store_true")
    chosen = parser.parse_args()
    folder: Path = chosen.folder
    folder.mkdir(parents=True)
    try:
        text = measured(folder, chosen.mib, chosen.split_mib)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(text)
    if chosen.record:
        (RECORD / f"{datetime.now(UTC):%Y-%m-%d}-spark.md").write_text(text)


def measured(folder: Path, mib: int, split_mib: int) -> str:
    """The table of one run."""
    dump = folder / "mixed.smf"
    rows = write_dump(dump, mib * MIB)
    size, load = dump.stat().st_size, os.getloadavg()[0]
    runs: dict[str, tuple[Any, dict[str, Any]]] = {}
    for threads in (1, 2):
        runs[f"embedded, threads: {threads}"] = run(
            EMBEDDED, folder / f"embedded{threads}", str(dump), str(threads), *TABLES
        )
    for workers in (1, 2):
        runs[f"Spark, workers: {workers}"] = run(
            SPARK, folder / f"spark{workers}", str(dump), str(workers), str(split_mib * MIB), *TABLES
        )
    wanted: Mapping[str, tuple[int, int]] = {table: fingerprint(folder / "embedded1" / table) for table in TABLES}
    for table in TABLES:
        assert wanted[table][0] == rows.get(table, 0), (table, wanted[table], rows.get(table))
        for name in ("embedded2", "spark1", "spark2"):
            assert fingerprint(folder / name / table) == wanted[table], (name, table)
    written = sum(file.stat().st_size for file in (folder / "embedded1").rglob("*.parquet"))
    lines = [
        f"# {datetime.now(UTC):%Y-%m-%d}: a mixed dump read by Spark",
        "",
        f"`python -m benchmarks.spark FOLDER --mib {mib} --split-mib {split_mib}`, commit {commit()}",
        "",
        f"{machine()}; Python {platform.python_version()}; a dump of {size / MIB:,.0f} MiB; four tables of "
        f"{sum(count for count, _ in wanted.values()):,} rows, {written / MIB:,.0f} MiB of Parquet. "
        f"Load {load:.1f} before the engines, {os.getloadavg()[0]:.1f} behind them. All rows are equal.",
        "",
        "| engine | elapsed, s | CPU, s |",
        "|---|---|---|",
    ]
    for name, (done, spent) in runs.items():
        # Spark's Java outlives its Python, so it is not among the children of the run.
        used = spent.get("used", {"Python": done.cpu_seconds})
        cpu = " and ".join(f"{kind} {seconds:.1f}" for kind, seconds in sorted(used.items()))
        lines.append(f"| {name} | {done.seconds:.0f} | {cpu} |")
    lines += ["", "A run of Spark reads each table twice, once without writing it. Seconds elapsed of each part:", ""]
    lines += ["| table | embedded, CPU (writing) | parts | workers | plan (CPU) | read | read and write |"]
    lines += ["|---|---|---|---|---|---|---|"]
    for table in TABLES:
        one = runs["embedded, threads: 1"][1][table]
        for workers in (1, 2):
            spent = runs[f"Spark, workers: {workers}"][1][table]
            lines.append(
                f"| {table} | {one['cpu']:.1f} ({one['write']:.1f}) | {spent['parts']} | {workers} | "
                f"{spent['plan'][0]:.1f} ({spent['plan'][1]:.1f}) | {spent['drop']:.1f} | {spent['wall']:.1f} |"
            )
    for workers in (1, 2):
        spent = runs[f"Spark, workers: {workers}"][1]
        memory = {kind: max(sizes) / 1024 for kind, sizes in spent["memory"].items()}
        java, python = memory.get("CoarseGrainedExecutorBackend", 0), memory.get("pyspark.daemon", 0)
        lines += [
            "",
            f"Workers: {workers}. Start of Spark {spent['start']:.1f} s, of Python {spent['python']:.1f} s; an "
            f"executor's Java takes {java:.0f} MiB at most, a Python of it {python:.0f} MiB.",
        ]
    return "\n".join(lines) + "\n"


def commit() -> str:
    """The commit that is measured."""
    done = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip()


if __name__ == "__main__":
    main()
