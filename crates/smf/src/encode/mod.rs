//! Arrow columns to records: the inverse of decoding.
//!
//! The rows of each section become entries ([`RecordEncoder`]), entries become records with header, product section
//! and triplets, and records become a dump ([`DumpWriter`]). Decoding what was encoded gives the columns back. Where
//! a column is in a base unit and its field is not, the nearest value the field can hold is written; floating point
//! columns with a unit can come back one or two units in the last place away, because converting there and back
//! rounds twice.

mod assemble;
mod connected;
mod dump_writer;
mod error;
mod field;
mod fill;
mod identity;
mod linked;
mod options;
mod placed;
mod record;
mod section;
mod table;
mod values;

pub use assemble::LONGEST;
pub use connected::{dictionary_rows, standard_dictionary};
pub use dump_writer::{DumpError, DumpForm, DumpWriter, LONGEST_BLOCK};
pub use error::EncodeError;
pub use identity::RecordIdentity;
pub use options::{EncodeOptions, EncodedRecords, Oversize};
pub use record::RecordEncoder;
