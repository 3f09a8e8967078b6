//! Finding records in a dump.

mod batch;

pub use batch::{Frame, FrameBatch, FrameKind};
