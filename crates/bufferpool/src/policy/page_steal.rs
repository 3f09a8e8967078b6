//! Page steal policies (PGSTEAL): their names, and what each changes in a pool.
//!
//! A policy is a variant here and an answer to each question below; [`BufferPool`](super::BufferPool) asks them.

/// How buffers are stolen (PGSTEAL).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steal {
    /// The least recently used.
    Lru,
    /// The one read first.
    Fifo,
    /// None, as long as all pages fit; what does not goes through an overflow area, first in, first out.
    None,
}

impl Steal {
    /// Every policy.
    pub const ALL: [Self; 3] = [Self::Lru, Self::Fifo, Self::None];

    /// Its keyword in `-ALTER BUFFERPOOL`.
    pub const fn keyword(self) -> &'static str {
        match self {
            Self::Lru => "LRU",
            Self::Fifo => "FIFO",
            Self::None => "NONE",
        }
    }

    /// The policy with this keyword, in upper or lower case.
    pub fn named(keyword: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|policy| policy.keyword().eq_ignore_ascii_case(keyword))
    }

    /// Whether a getpage of a page in the pool makes that page the youngest.
    pub(super) const fn renews(self) -> bool {
        match self {
            Self::Lru => true,
            Self::Fifo | Self::None => false,
        }
    }

    /// Whether pages that fit are loaded when their data set is opened, and never stolen.
    pub(super) const fn keeps(self) -> bool {
        match self {
            Self::None => true,
            Self::Lru | Self::Fifo => false,
        }
    }
}
