//! Broken records: what RMF split is put together again.
//!
//! A record that would exceed what SMF takes is written by RMF as several records of the same type, each of which can
//! be read by itself. The product section of such a part says so (SMF7xRAN is 1) and points at a reassembly area:
//! how many parts there are (SMF7xRBR), which of them this is (SMF7xRSQ), and for each kind of section how many
//! entries the original had (SMF7xRNN) and the position of the first one here (SMF7xRPP).
//!
//! Parts belong together when system, type, subtype, interval start, date and length agree; time stamps of the header
//! do not count. Since one interval can hold several split records of a type (one for each coupling facility, say),
//! the number of parts and of entries of each kind must agree too, and a part joins the youngest record that still
//! lacks its number: RMF writes the parts of a record one after the other.
//!
//! Sources: IBM SMF Explorer mappings, fields RAO, RAL, RAN of SMF 70 to 79 (area relative to the product section;
//! valid when RAN is 1; fixed length for a subtype); the RMF developers as quoted on the IBM-MAIN list (parts are
//! self-contained; header of 16 bytes and blocks of 4; which fields identify the record); struct smf70rhd and smf70rbl
//! of the public project zos-smf-dashboard (field positions). Not documented publicly, and therefore told from the
//! data: whether positions count from one, from where SMF7xRIO counts, and whether the product section has a block.
//! Sections that hold offsets from the start of the record (none of those decoded here) would not survive the join.

use super::batch::{Frame, FrameKind};
use super::damage::{DamageLog, DamageReason};
use super::part::WaitingPart;
use super::rmf_record::{Identity, Part, join};
use std::collections::{BTreeMap, HashMap};

/// Memory that a waiting part takes besides its bytes, for the limit.
const OVERHEAD: usize = 512;
/// Records of the same identity that may wait at once; there is no known reason for more than one or two.
const MOST_ALIKE: usize = 8;

/// A frame whose bytes do not stand in the reader's buffer.
#[derive(Debug)]
pub(super) struct Detached {
    pub frame: Frame,
    pub bytes: Vec<u8>,
}

/// A record of which some parts have come.
#[derive(Debug)]
struct Waiting {
    identity: Identity,
    parts: Vec<(Part, Frame)>,
}

/// Counts for the summary.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct JoinTally {
    pub records: u64,
    pub parts: u64,
}

/// Parts of broken records that wait for the others.
#[derive(Debug)]
pub(super) struct Joiner {
    waiting: BTreeMap<u64, Waiting>,
    /// Numbers in `waiting` by identity, oldest first.
    alike: HashMap<Identity, Vec<u64>>,
    next: u64,
    pending: usize,
    max_pending: usize,
    max_record: usize,
    pub(super) tally: JoinTally,
}

impl Joiner {
    pub(super) fn new(max_pending: usize, max_record: usize) -> Self {
        Self {
            waiting: BTreeMap::new(),
            alike: HashMap::new(),
            next: 0,
            pending: 0,
            max_pending,
            max_record,
            tally: JoinTally::default(),
        }
    }

    /// Takes a broken record; gives back what is thereby complete, or can wait no longer.
    pub(super) fn add(&mut self, bytes: &[u8], frame: Frame, log: &mut DamageLog) -> Vec<Detached> {
        let part = match Part::new(bytes.to_vec()) {
            Ok(part) => part,
            Err((bytes, why)) => {
                log.add(DamageReason::UnjoinableBrokenRecord, (frame.record_no, frame.offset), 0, || why);
                return vec![Detached { frame, bytes }];
            }
        };
        let mut out = Vec::new();
        let identity = part.identity();
        let alike = self.alike.entry(identity.clone()).or_default();
        let lacks =
            |number: &&u64| self.waiting[*number].parts.iter().all(|(other, _)| other.sequence != part.sequence);
        let number = alike.iter().rev().find(lacks).copied().unwrap_or_else(|| {
            self.next += 1;
            alike.push(self.next);
            self.waiting.insert(self.next, Waiting { identity: identity.clone(), parts: Vec::new() });
            self.next
        });
        let crowded = (alike.len() > MOST_ALIKE).then(|| alike[0]);
        self.pending += part.bytes.len() + OVERHEAD;
        let wanted = usize::from(part.parts);
        let complete = self.waiting.get_mut(&number).is_some_and(|record| {
            record.parts.push((part, frame));
            record.parts.len() >= wanted
        });
        if complete {
            self.finish(number, &mut out, log);
        }
        if let Some(oldest) = crowded {
            self.give_up(oldest, "too many records like it waited", &mut out, log);
        }
        while self.pending > self.max_pending {
            let Some((&oldest, _)) = self.waiting.first_key_value() else {
                break;
            };
            self.give_up(oldest, "too many parts waited", &mut out, log);
        }
        out
    }

    /// Gives back all that still waits, at the end of the file.
    pub(super) fn finish_all(&mut self, log: &mut DamageLog) -> Vec<Detached> {
        let mut out = Vec::new();
        while let Some((&oldest, _)) = self.waiting.first_key_value() {
            self.give_up(oldest, "the file ended", &mut out, log);
        }
        out
    }

    /// Bytes of the parts that wait.
    pub(super) fn pending(&self) -> usize {
        self.pending
    }

    /// Bytes of the file in the parts that wait.
    pub(super) fn file_bytes(&self) -> u64 {
        self.waiting.values().flat_map(|record| &record.parts).map(|(_, frame)| frame.file_bytes).sum()
    }

    /// What waits, for a joiner that goes on from here.
    pub(super) fn waiting(&self) -> Vec<WaitingPart> {
        let parts = |(&record, waiting): (&u64, &Waiting)| -> Vec<WaitingPart> {
            let of = |(part, frame): &(Part, Frame)| WaitingPart { record, frame: *frame, bytes: part.bytes.clone() };
            waiting.parts.iter().map(of).collect()
        };
        self.waiting.iter().flat_map(parts).collect()
    }

    /// Takes what waited elsewhere.
    ///
    /// # Errors
    /// A part that cannot be taken apart: another joiner has never kept it.
    pub(super) fn resume(&mut self, waiting: Vec<WaitingPart>) -> Result<(), String> {
        for WaitingPart { record, frame, bytes } in waiting {
            let part = Part::new(bytes).map_err(|(_, why)| why)?;
            self.pending += part.bytes.len() + OVERHEAD;
            self.next = self.next.max(record);
            let identity = part.identity();
            let place = self.waiting.entry(record).or_insert_with(|| {
                self.alike.entry(identity.clone()).or_default().push(record);
                Waiting { identity, parts: Vec::new() }
            });
            place.parts.push((part, frame));
        }
        Ok(())
    }

    fn take(&mut self, number: u64) -> Option<Vec<(Part, Frame)>> {
        let record = self.waiting.remove(&number)?;
        if let Some(alike) = self.alike.get_mut(&record.identity) {
            alike.retain(|&other| other != number);
            if alike.is_empty() {
                self.alike.remove(&record.identity);
            }
        }
        self.pending -= record.parts.iter().map(|(part, _)| part.bytes.len() + OVERHEAD).sum::<usize>();
        Some(record.parts)
    }

    fn finish(&mut self, number: u64, out: &mut Vec<Detached>, log: &mut DamageLog) {
        let Some(mut taken) = self.take(number) else {
            return;
        };
        taken.sort_by_key(|(part, _)| part.sequence);
        let (parts, frames): (Vec<Part>, Vec<Frame>) = taken.into_iter().unzip();
        let Some(&begin) = frames.iter().min_by_key(|frame| frame.record_no) else {
            return;
        };
        match join(&parts, self.max_record) {
            Ok(bytes) => {
                self.tally.records += 1;
                self.tally.parts += parts.len() as u64;
                let kind = FrameKind::Joined(u16::try_from(parts.len()).unwrap_or(u16::MAX));
                let file_bytes = frames.iter().map(|frame| frame.file_bytes).sum();
                out.push(Detached { frame: Frame { kind, len: bytes.len(), file_bytes, ..begin }, bytes });
            }
            Err(why) => {
                log.add(DamageReason::UnjoinableBrokenRecord, (begin.record_no, begin.offset), 0, || {
                    format!("{} parts of a record {}: {why}", parts.len(), parts[0].kind())
                });
                hand_back(parts.into_iter().zip(frames), out);
            }
        }
    }

    fn give_up(&mut self, number: u64, occasion: &str, out: &mut Vec<Detached>, log: &mut DamageLog) {
        let Some(parts) = self.take(number) else {
            return;
        };
        if let Some((first, begin)) = parts.iter().min_by_key(|(_, frame)| frame.record_no) {
            log.add(DamageReason::IncompleteBrokenRecord, (begin.record_no, begin.offset), 0, || {
                let seen: Vec<u16> = parts.iter().map(|(part, _)| part.sequence).collect();
                format!(
                    "record {}, {} of {} parts: {occasion} without part {}",
                    first.kind(),
                    parts.len(),
                    first.parts,
                    missing(&seen, first.parts)
                )
            });
        }
        hand_back(parts, out);
    }
}

fn hand_back(parts: impl IntoIterator<Item = (Part, Frame)>, out: &mut Vec<Detached>) {
    let from = out.len();
    out.extend(parts.into_iter().map(|(part, frame)| Detached { frame, bytes: part.bytes }));
    out[from..].sort_by_key(|detached| detached.frame.record_no);
}

/// The sequence numbers that are not among `seen`; the first few when there are many.
fn missing(seen: &[u16], parts: u16) -> String {
    const SHOWN: usize = 20;
    // Parts are numbered from one, unless a zero says otherwise.
    let base = u16::from(!seen.contains(&0));
    let numbers: Vec<u16> =
        (base..parts.saturating_add(base)).filter(|number| !seen.contains(number)).take(SHOWN + 1).collect();
    let mut text = numbers.iter().take(SHOWN).map(ToString::to_string).collect::<Vec<_>>().join(", ");
    if numbers.len() > SHOWN {
        text.push_str(", ...");
    }
    text
}
