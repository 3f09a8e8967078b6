//! Records that were compressed before they were written: expanded behind the other bytes of their batch.
//!
//! CICS compresses the data section of monitoring records, Db2 all that follows the standard header. Whether it was
//! expanded rightly is checked each time: CICS says where the sections of the plain record end, and in a Db2 record the
//! product section begins with its header QWHS. What does not fit stays compressed, and is damage.

use std::collections::HashMap;

use crate::cics::Places;
use crate::forms::csrcesrv;
use crate::layout::Catalogue;
use crate::stream::{Frame, FrameBatch};

use super::header::RecordView;

/// Bytes that expanding may add to a batch before the rest of its records become another.
pub const EXPANDED_BYTES: usize = 32 << 20;
/// Longest record, as its descriptor word can say.
const LONGEST: usize = 65_535;
/// Bytes that may follow the last section.
const PADDING: usize = 8;
/// End of the standard header of Db2 records; what follows is compressed.
const DB2_HEADER: usize = 28;

/// The compressed records of a batch.
#[derive(Debug, Clone, Default)]
pub struct Expanded {
    /// By index of the record: where in the batch's data its plain form is.
    places: HashMap<usize, (usize, usize)>,
    /// By index: why there is none.
    refused: HashMap<usize, String>,
}

impl Expanded {
    /// Start and bytes of a record in plain form: expanded, or as it was written.
    pub(crate) fn record<'a>(&self, batch: &'a FrameBatch, index: usize, frame: &Frame) -> (usize, &'a [u8]) {
        let &(start, len) = self.places.get(&index).unwrap_or(&(frame.start, frame.len));
        (start, batch.data.get(start..start + len).unwrap_or(&[]))
    }

    /// Whether a record was expanded.
    pub(crate) fn contains(&self, index: usize) -> bool {
        self.places.contains_key(&index)
    }

    /// Why a record could not be expanded.
    pub(crate) fn refused(&self, index: usize) -> Option<&str> {
        self.refused.get(&index).map(String::as_str)
    }
}

/// Expands records by the places that the layouts give.
#[derive(Debug, Clone, Default)]
pub(crate) struct Expander {
    cics: Option<Places>,
}

impl Expander {
    pub fn compile(catalogue: &Catalogue) -> Self {
        Self { cics: Places::compile(catalogue) }
    }

    /// Start and length of the connectors of a performance record.
    pub fn connectors(&self, view: RecordView<'_>) -> Option<(usize, usize)> {
        self.cics.as_ref().and_then(|places| places.connectors(view))
    }

    /// Expands the compressed records of a batch. Where more than `limit` bytes came of it, the records not looked at
    /// yet are taken out and returned.
    pub fn expand(&self, batch: &mut FrameBatch, limit: usize) -> (Expanded, Option<FrameBatch>) {
        let mut expanded = Expanded::default();
        let read = batch.data.len();
        for index in 0..batch.frames.len() {
            if batch.data.len() - read > limit {
                let mut rest = FrameBatch::default();
                for frame in batch.frames.split_off(index) {
                    let start = rest.data.len();
                    rest.data.extend_from_slice(batch.record(&frame));
                    rest.frames.push(Frame { start, ..frame });
                }
                return (expanded, Some(rest));
            }
            match self.plain(RecordView(batch.record(&batch.frames[index]))) {
                None => {}
                Some(Ok(plain)) => {
                    expanded.places.insert(index, (batch.data.len(), plain.len()));
                    batch.data.extend_from_slice(&plain);
                }
                Some(Err(what)) => {
                    expanded.refused.insert(index, what);
                }
            }
        }
        (expanded, None)
    }

    /// The plain form of a compressed record; `None` for others.
    fn plain(&self, view: RecordView<'_>) -> Option<Result<Vec<u8>, String>> {
        match view.record_type() {
            100..=102 => is_compressed_db2(view).then(|| db2(view)),
            110 => self.cics.as_ref().and_then(|places| cics(places, view)),
            _ => None,
        }
    }
}

fn cics(places: &Places, view: RecordView<'_>) -> Option<Result<Vec<u8>, String>> {
    let (product, packed) = places.compressed_data(view)?;
    let (start, len) = product;
    Some((|| {
        let outside = || "the data section lies outside the record".to_owned();
        let at = view.u32(places.data_section).map(|at| at as usize).filter(|&at| at >= start + len);
        let at = at.ok_or_else(outside)?;
        let data = view.0.get(at..).and_then(|rest| rest.get(..packed)).ok_or_else(outside)?;
        let mut plain = view.0[..at].to_vec();
        csrcesrv::expand(data, LONGEST, &mut plain).map_err(|error| error.to_string())?;
        let end = |triplet: usize| {
            let number = |at: usize| view.u16(start + triplet + at).map_or(0, usize::from);
            let offset = view.u32(start + triplet).map_or(0, |offset| offset as usize);
            if number(6) == 0 { 0 } else { offset + number(4) * number(6) }
        };
        let ends = end(places.connectors).max(end(places.data));
        if plain.len() < ends || plain.len() - ends >= PADDING {
            return Err(format!("it expands to {} bytes, its sections end at {ends}", plain.len()));
        }
        put16(&mut plain, start + places.compressed, 0);
        let length = plain.len();
        put16(&mut plain, places.data_section + 4, length - at);
        put16(&mut plain, 0, length);
        Ok(plain)
    })())
}

fn db2(view: RecordView<'_>) -> Result<Vec<u8>, String> {
    let mut plain = view.0[..DB2_HEADER].to_vec();
    plain[24..DB2_HEADER].fill(0);
    csrcesrv::expand(&view.0[DB2_HEADER..], LONGEST, &mut plain).map_err(|error| error.to_string())?;
    let length = plain.len();
    put16(&mut plain, 0, length);
    if leads_to_qwhs(RecordView(&plain)) { Ok(plain) } else { Err("expanded, it has no product section".into()) }
}

/// Whether Db2 compressed a record. Where the header says so is not documented; but then bytes 24 to 27 are not zero,
/// and what should be the product section's triplet leads to no header QWHS.
pub(crate) fn is_compressed_db2(view: RecordView<'_>) -> bool {
    let marked = view.bytes::<4>(24).is_some_and(|bytes| bytes != [0; 4]);
    matches!(view.record_type(), 100..=102) && marked && !leads_to_qwhs(view)
}

fn leads_to_qwhs(view: RecordView<'_>) -> bool {
    let product = view.u32(28).map(|offset| offset as usize).filter(|&offset| offset >= 36);
    // QWHS begins with its length and type 1; Db2 may put the entry's own length in front.
    let header = |at: usize| view.u16(at).is_some_and(|len| len >= 52) && view.0.get(at + 2) == Some(&1);
    product.is_some_and(|at| header(at) || header(at + 2))
}

fn put16(record: &mut [u8], at: usize, number: usize) {
    if let (Some(place), Ok(number)) = (record.get_mut(at..at + 2), u16::try_from(number)) {
        place.copy_from_slice(&number.to_be_bytes());
    }
}
