"""Text of ``docs/sharing-what-if.md``."""

from __future__ import annotations

HEAD = """# What a change to data sharing would give

Written by `python -m tools.what_if_truth`; do not edit.

    plexlens sharing PDB --lock-entries 2x               entries of the lock table; also a number, or GROUP=2x
    plexlens sharing PDB --gbp GBP1=2x                   size of a group buffer pool, data and directory
    plexlens sharing PDB --ratio GBP1=10                 directory entries per data page, in the same storage
    plexlens sharing PDB --separate BP1                  each member has its own part of the page sets of a pool
    plexlens sharing PDB --cf-speed CF1=1.5              faster coupling facility engines; without CF1=, all
    plexlens sharing PDB --distance CF2=10km             so many kilometres of fibre more, 10 µs each there and back
    plexlens sharing PDB --link 0.5x                     links and adapters that take half the time
    plexlens sharing PDB --engine-speed SYSA=1.5         a faster machine; without SYSA=, all machines
    plexlens sharing PDB --threshold 30us                service time above which requests become asynchronous
    plexlens sharing PDB --write-scenario twin.toml      the group as a scenario of the simulator

Options can be repeated and combined: each change is judged alone, and all of them together. `--index-pool BP2` states
that a pool holds indexes alone (their pages are not locked, and no record tells); `--convert-above 30` states today's
threshold of conversion where the records do not tell it; `--speed` the speed of the engines; `--seeds` how often each
is run; `--tolerance` how far off a twin may be.

## The twin

The twin is a scenario of the simulator in the likeness of the group ([simulate.md](simulate.md)): systems and engines
(SMF 70-1), coupling facilities and structures (74-4), members and pools (100), classes of each member with their rates,
CPU, getpages, updates and locks (101; CPU outside of Db2 from 110-1 where it is there, else the rest of the system,
alike for all transactions). What no accounting record tells of a member's getpages is one class more.

What no record holds is fitted, first in closed form, then corrected after short runs:

| fitted | to |
|---|---|
| pages and skew of the shared page set, inserts at its end | reads, re-reads, hits, directory reclaims, contention |
| pages with page P-locks: number, use, changes | page P-lock requests, waits (QBGLP1, QBGLS1), false contention |
| pages of members' own page sets | reads from disk that are not of shared pages |
| share of GBP-dependent getpages, where Db2 did not count them (QBGLGG, QBGAGG) | all reads of the group buffer pool |
| lock avoidance | requests to the lock structure |
| execution times, links, speeds | service times, busy time of coupling facilities, mix of requests |
| threshold of conversion | service times of the structures whose requests are synchronous, and of those whose are not |
| CPU of a class besides path lengths and requests | class 2 CPU |

What differs from the measurement by no more than chance, two standard errors of the events counted, stays as it is. A
twin is run until its group buffer pools are full and its members hold the page P-locks that they hold in the long run.
Several fits explain a measurement about equally well; each run has one of the best of them.

The page shows what was fitted (calibrated: it agrees by construction) and what was not (checked) beside what was
measured. Where the twin is off by more than the tolerance and its confidence interval, nothing is concluded from it.
`--write-scenario` writes the twin with the origin of every number.

Not in it: waits for the main task of a region, for threads and volumes; row locks; page sets of one pool that are used
differently (one stands for all); requests of structures that are not Db2's; several images of one machine that compete
for its engines; duplexing; routing that deals transactions out in turn (they come to each member at random, so that
pages that all members change are passed on less often than where members take turns).

Page P-locks are contention of the lock structure too (SMF 74-4), but none of transactions' locks: what Db2 counts of
them by pool (QBGLS1) is taken off before transactions' locks are fitted, and the twin has pages with page P-locks of
its own, whose popularity is assumed (Zipf, 0.8). Members keep such locks from transaction to transaction, so that most
of the locks held can be of them, and false contention tells how many. In a pool named by `--index-pool` all pages have
them, and the counters tell how many pages there are.

## The answer and its error bar

The measured number moves as the twin moves: in proportion; shares of reads by the difference; contention by the locks
held per entry, since false contention of the requests that ask for a lock is 1 - e^-(held / entries), and no more than
all of them can meet another. The error bar is 95 % of what is known to be uncertain:

| part | how large |
|---|---|
| runs | Student's interval of the runs, each with another seed and fit |
| measurement | one sample: a run of the same length scatters by as much |
| fit | the twin's error before the change, all of it again where the change is by a factor of e or more |
| rare events | Poisson's exact interval (Garwood) where fewer than 100 events were counted; it is stated |
| threshold | where records only say that it lies beyond all service times, from conversion to none |
| digits | half a unit of the third digit, which is the last one printed |

What the twin leaves out is not in the bar: above all page sets of one pool that are used differently.

Closed forms (hashing of the lock table by Little's law, Che's approximation of LRU, Pollaczek and Khinchine's wait) are
no second witness, since they rest on the same page sets. The first fit starts from them, and the tests hold the twin to
them where both describe the same thing.

## Judged

A simulated group of three members (`scenarios/three-members.toml`) is taken for a real one. Its run is written as SMF;
a twin is made from the records, with the statements that BP2 holds indexes and that requests of more than 40 µs are
converted, and asked what changes would give. The truth is the group's own scenario with the same change, in {seeds}
runs with other seeds.

| pool | true | twin |
|---|---|---|
| BP1 | ACCOUNTS: 20,000 pages, skew 0.75; HISTORY: inserts at one place, a third of the updates | {bp1} |
| BP2 | ACCTIX: 3,000 pages, skew 0.6; changed by a tenth | {bp2} |
"""

TABLES = """
### Changes

Numbers that neither truth nor answer moves are left out. Errors are relative, of hits and asynchronous requests in
points. ± is half of a 95 % confidence interval; *from* and *to* are the error bar.
"""

THRESHOLDS = """### The threshold, from records

The same group with other thresholds and distances; what its SMF 74-4 records tell. Lock requests take 10.5 µs, those
to GBP2 14.4 and those to GBP1 in CF2 16.7. Where all requests are synchronous, or none is, records give one bound only,
and the threshold is assumed.

"""

SPEEDS = """
### Distance and the speed of engines

The fibre takes 10 µs per kilometre there and back, whatever the speed of the engine that waits for it; host path
lengths and the threshold, which compares path lengths, are divided by the speed. A lock request of this group by hand,
of 10.5 µs service time without the distance d, on engines of speed v: service 10.5 + 10 d, threshold 40 / v, CPU
2 / v + service where that is below the threshold, else 20 / v. *twin*: made from the records of the group on engines of
that speed, with `--speed v`.

"""
