//! Finding records in a dump.
//!
//! [`SmfReader`] reads a file of any length in flat memory: it tells compression and [`Form`] by looking, walks from
//! descriptor word to descriptor word, puts spanned segments together, and hands on [`FrameBatch`]es of whole
//! records. Whatever is damaged is skipped up to the next plausible record, and reported as [`Damage`].

mod bare;
mod batch;
mod broken;
mod damage;
mod detect;
mod error;
mod foreign;
mod gap;
mod header;
mod options;
mod part;
#[cfg(test)]
mod positions;
mod reader;
mod resync;
mod rmf_record;
mod scan;
mod site;
mod source;
mod span;
mod walk;

pub use batch::{Frame, FrameBatch, FrameKind};
pub use damage::{Damage, DamageLog, DamageReason, Repeats, Severity};
pub use error::StreamError;
pub use foreign::Foreign;
pub use options::{Compression, EXPANSION_FREE, Form, ReadOptions};
pub use part::{Part, Place, WaitingPart};
pub use reader::{SmfReader, StreamSummary};
