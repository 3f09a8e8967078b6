//! Record layouts as data: sections, record maps, and the catalogue of both.
//!
//! A section is one CSV file and one raw table; a record map says which sections a record type holds. The rules
//! of both files stand in `docs/architecture.md`. Everything is checked on reading, so that decoding can trust it.

mod catalogue;
mod check;
mod condition;
mod error;
mod format;
mod place;
mod record_map;
mod rule;
mod schema;
mod section;
mod unit;

pub use catalogue::Catalogue;
pub(crate) use catalogue::identity_field;
pub use condition::{Comparison, Condition, Subject, Witness};
pub use error::LayoutError;
pub use format::Format;
pub use place::{Computed, Place};
pub use record_map::{Identity, MapEntry, RecordMap, Selector};
pub use rule::{ArrayRule, Link, PlacedRule, Rule};
pub use schema::{
    INVENTORY, column_unit, data_type, inventory_schema, key_fields, local_timestamp, table_schema, timestamp,
};
pub use section::{Described, Field, KEY_COLUMNS, Part, Section};
pub use unit::{Conversion, Scale, Unit};
