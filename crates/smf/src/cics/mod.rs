//! CICS monitoring data, which describes itself.
//!
//! A performance record (SMF 110-1, class 3) is a row of values without names. Its connectors say which fields of the
//! region's dictionary it holds, and in which order; the dictionary is a record of its own (class 1), written when
//! monitoring starts. [`Regions`] remembers the dictionary of each region while a dump is read in order, and keeps
//! records that come before theirs; [`Connected`] is the layout that a dictionary gives to one list of connectors.

mod connected;
mod dictionary;
mod places;
mod regions;

pub use connected::Connected;
pub use dictionary::{Dictionary, DictionaryEntry};
pub use regions::{Connections, HELD_BYTES, Regions, Remembered};

pub(crate) use connected::{CLOCK_LONG, CONNECTED};
pub(crate) use places::Places;
pub(crate) use regions::Connection;
