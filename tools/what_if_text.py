"""Text of ``docs/sharing-what-if.md``."""

from __future__ import annotations

HEAD = """# What a change to data sharing would give

Written by `python -m tools.what_if_truth`; do not edit.

    plexlens sharing PDB --lock-entries 2x entries of the lock table; also a number, or GROUP=2x plexlens sharing PDB
    --gbp GBP1=2x size of a group buffer pool, data and directory plexlens sharing PDB --ratio GBP1=10 directory entries
    per data page, in the same storage plexlens sharing PDB --separate BP1 each member has its own part of the page sets
    of a pool plexlens sharing PDB --cf-speed CF1=1.5 faster coupling facility engines; without CF1=, all plexlens
    sharing PDB --distance CF2=10km additional kilometres of fibre, 10 µs each for the round trip plexlens sharing PDB
    --link 0.5x links and adapters that take half as long plexlens sharing PDB --engine-speed SYSA=1.5 a faster machine;
    without SYSA=, all machines plexlens sharing PDB --threshold 30us service time above which requests become
    asynchronous plexlens sharing PDB --write-scenario twin.toml the group as a scenario of the simulator

Options can be repeated and combined: each change is evaluated alone, and all of them together. `--index-pool BP2`
states that a pool holds only indexes (their pages are not locked, and no record shows this); `--convert-above 30`
states the present conversion threshold if it cannot be derived from the records; `--speed` is the speed of the engines,
`--seeds` the number of runs, and `--tolerance` the maximum error of a twin.

## The twin

The twin is a simulator scenario that reproduces the group ([simulate.md](simulate.md)): systems and engines (SMF 70-1),
coupling facilities and structures (74-4), members and pools (100), classes of each member with their rates, CPU,
getpages, updates and locks (101; CPU outside Db2 from 110-1 if available, else the rest of the system, equal for all
transactions). A member's getpages without an accounting record form an additional class.

Parameters that no record holds are fitted, first in closed form, then corrected after short runs:

| fitted | to |
|---|---|
| pages and skew of the shared page set, inserts at its end | reads, re-reads, hits, directory reclaims, contention |
| pages with page P-locks: number, use, changes | page P-lock requests, waits (QBGLP1, QBGLS1), false contention |
| pages of members' own page sets | reads from disk that are not of shared pages |
| share of GBP-dependent getpages, if Db2 did not count them (QBGLGG, QBGAGG) | all reads of the group buffer pool |
| lock avoidance | requests to the lock structure |
| execution times, links, speeds | service times, busy time of coupling facilities, mix of requests |
| conversion threshold | service times of structures with synchronous and with asynchronous requests |
| CPU of a class without path lengths and requests | class 2 CPU |

A number that differs from the measurement by no more than chance (two standard errors of the events counted) is not
corrected. A twin runs until its group buffer pools are full and its members hold their steady-state number of page
P-locks. Several fits explain a measurement about equally well; each run uses one of the best fits.

The page shows fitted numbers (calibrated: they agree by construction) and other numbers (checked) next to the
measurements. If the error of the twin exceeds the tolerance and its confidence interval, no conclusion is drawn from
it. `--write-scenario` writes the twin with the origin of every number.

The twin does not model waits for the main task of a region, for threads and volumes; row locks; differences between
page sets of a pool (a single page set represents all); requests of structures other than Db2's; several images that
compete for the engines of a machine; duplexing; round-robin routing (transactions arrive at each member at random, so
that pages changed by all members are passed on less often than with round-robin).

Page P-locks also cause contention in the lock structure (SMF 74-4), but they are not transaction locks: Db2's counts by
pool (QBGLS1) are subtracted before transaction locks are fitted, and the twin has separate pages with page P-locks,
whose popularity is assumed (Zipf, 0.8). Members keep such locks across transactions, so that most of the locks held can
be page P-locks; their number follows from false contention. In a pool named by `--index-pool` all pages have page
P-locks, and the number of pages follows from the counters.

## The answer and its error bar

The measured number changes like the twin's: in proportion; shares of reads by the difference; contention by the locks
held per entry, since false contention of lock requests is 1 - e^-(held / entries) and cannot exceed 100 %. The error
bar is the 95 % interval of the known uncertainties:

| part | size |
|---|---|
| runs | Student's interval of the runs, each with another seed and fit |
| measurement | the spread of a single run of the same length |
| fit | the twin's error before the change, counted fully again if the change is by a factor of e or more |
| rare events | Poisson's exact interval (Garwood) if fewer than 100 events were counted; the page says so |
| threshold | from all converted to none converted, if records only show that it is beyond all service times |
| digits | half a unit of the third digit, the last printed digit |

The error bar does not include effects that the twin does not model, above all differences between page sets of a pool.

Closed forms (hashing of the lock table by Little's law, Che's approximation of LRU, Pollaczek and Khinchine's wait) are
not independent evidence, since they use the same page sets. The first fit starts from them, and the tests compare the
twin with them where both describe the same quantity.

## Evaluation

A simulated group of three members (`scenarios/three-members.toml`) stands for a real group. Its run is written as SMF;
a twin is made from the records, with the statements that BP2 holds indexes and that requests longer than 40 µs are
converted, and predicts the effect of changes. The truth is the group's own scenario with the same change, in {seeds}
runs with other seeds.

| pool | true | twin |
|---|---|---|
| BP1 | ACCOUNTS: 20,000 pages, skew 0.75; HISTORY: inserts at one place, a third of the updates | {bp1} |
| BP2 | ACCTIX: 3,000 pages, skew 0.6; changed by a tenth | {bp2} |
"""

TABLES = """
### Changes

Numbers that change neither in the truth nor in the answer are left out. Errors are relative; for hits and asynchronous
requests they are in points. ± is half of a 95 % confidence interval; *from* and *to* are the error bar.
"""

THRESHOLDS = """### The threshold, from records

The same group with other thresholds and distances, and the threshold derived from its SMF 74-4 records. Lock requests
take 10.5 µs, requests to GBP2 14.4 and to GBP1 in CF2 16.7. If all requests are synchronous, or all are asynchronous,
the records give only one bound, and the threshold is assumed.

"""

SPEEDS = """
### Distance and the speed of engines

The fibre takes 10 µs per kilometre for the round trip, independent of the speed of the waiting engine; host path
lengths and the threshold, which compares path lengths, are divided by the speed. A lock request of this group by hand,
of 10.5 µs service time without the distance d, on engines of speed v: service 10.5 + 10 d, threshold 40 / v, CPU 2 / v
+ service if that is below the threshold, else 20 / v. *twin*: built from the records of the group on engines of that
speed, with `--speed v`.

"""
