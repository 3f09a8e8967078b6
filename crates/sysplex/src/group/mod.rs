//! A data-sharing group at work.

pub mod lines;
pub mod locks;
pub mod processors;
