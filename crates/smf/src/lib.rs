//! Read and write SMF streams.
//!
//! The crate takes bytes and returns columns. [`stream`] finds records in a dump and repairs what can be
//! repaired; [`layout`] reads the section layouts (data, one CSV a section); [`decode`] turns records into
//! Arrow record batches by those layouts, [`cics`] the records that describe themselves, and [`encode`] turns columns back into records. [`pipeline`] joins the
//! first three: a file in, decoded batches out, in order and in flat memory. [`rewrite`] writes a dump anew with other
//! names and times.

pub mod cics;
pub mod decode;
pub mod encode;
pub mod forms;
pub mod layout;
pub mod pipeline;
pub mod rewrite;
pub mod stream;
