-- A Db2 as a whole. The statistics of an interval are two records written within moments of each other: their
-- entries are brought together by the nearest ten seconds of the interval's end. Levels and peaks of a record
-- without interval are left out: they would stand beside no counts.
select system, sysplex, subsystem,
    max(group_name) as group_name, max(member) as member, max(db2_version) as db2_version,
    max(utc_offset) as utc_offset,
    min(interval_start) as interval_start, max(interval_end) as interval_end,
    max(interval_seconds) as interval_seconds,
    max(restarts) as restarts, max(missing_records) as missing_records,
    max((unused_because is not null)::double) as unused_records, 1::double as records,
    -- Services.
    sum(q3stiden) as q3stiden, sum(q3stcthd) as q3stcthd, sum(q3stsign) as q3stsign, sum(q3stterm) as q3stterm,
    sum(q3stcthw) as q3stcthw, sum(q3stprep) as q3stprep, sum(q3stcomm) as q3stcomm, sum(q3stsync) as q3stsync,
    sum(q3strdon) as q3strdon, sum(q3stabrt) as q3stabrt,
    max(q3sthwct::double) filter (where unused_because is null) as q3sthwct,
    max(q3sthwib::double) filter (where unused_because is null) as q3sthwib,
    max(q3sthwif::double) filter (where unused_because is null) as q3sthwif,
    -- Checkpoints.
    sum(qwsdckpt) as qwsdckpt,
    -- Latches.
    sum(qvlslc06) as qvlslc06, sum(qvlslc14) as qvlslc14, sum(qvlslc19) as qvlslc19, sum(qvlslc24) as qvlslc24,
    sum(qvlslc32) as qvlslc32,
    -- Distributed work.
    sum(qdstqdbt) as qdstqdbt, sum(qdstqcrt) as qdstqcrt, sum(qdstndba) as qdstndba, sum(qdstpool) as qdstpool,
    max(qdsthwat::double) filter (where unused_because is null) as qdsthwat,
    -- SQL.
    sum(qxselect) as qxselect, sum(qxinsrt) as qxinsrt, sum(qxupdte) as qxupdte, sum(qxdelet) as qxdelet,
    sum(qxopen) as qxopen, sum(qxfetch) as qxfetch, sum(qxprep) as qxprep, sum(qxdesc) as qxdesc,
    sum(qxstfnd) as qxstfnd, sum(qxstnfnd) as qxstnfnd, sum(qxstiprp) as qxstiprp, sum(qxstnprp) as qxstnprp,
    sum(qxnsmiap) as qxnsmiap, sum(qxmrmiap) as qxmrmiap,
    -- EDM pools.
    sum(qisectg) as qisectg, sum(qisectl) as qisectl, sum(qisektg) as qisektg, sum(qisektl) as qisektl,
    sum(qisedbdg) as qisedbdg, sum(qisedbdl) as qisedbdl, sum(qisedsg) as qisedsg, sum(qisedsi) as qisedsi,
    sum(qisedfal) as qisedfal, sum(qisecfal) as qisecfal, sum(qisekfal) as qisekfal,
    sum(qisedpge::double) filter (where unused_because is null) as qisedpge,
    sum(qisedfre::double) filter (where unused_because is null) as qisedfre,
    sum(qisecpge::double) filter (where unused_because is null) as qisecpge,
    sum(qisecfre::double) filter (where unused_because is null) as qisecfre,
    sum(qisekpge::double) filter (where unused_because is null) as qisekpge,
    sum(qisekfre::double) filter (where unused_because is null) as qisekfre,
    -- Buffer pools, all together.
    sum(qbstget) as qbstget, sum(qbstrio) as qbstrio, sum(qbstpio) as qbstpio, sum(qbstlio) as qbstlio,
    sum(qbstdio) as qbstdio,
    sum(qbstvpl::double) filter (where unused_because is null) as qbstvpl
from intervals
-- A pool without interval says nothing of the Db2; a record does.
where unused_because is null or section <> 'qbst'
group by system, sysplex, subsystem, floor((epoch(interval_end) + 5) / 10)
