//! Bytes of a file, expanded where it is compressed.

use super::options::{Compression, EXPANSION_FREE};
use flate2::read::MultiGzDecoder;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Whether a gzip file begins. A record of 8,075 bytes begins so too, but has a segment code (0 to 3) and a zero where gzip has
/// its method (8) and flags.
fn is_gzip(magic: &[u8]) -> bool {
    magic.starts_with(&GZIP_MAGIC) && !matches!(magic, [_, _, 0..=3, 0, ..])
}

/// Whether a frame begins that Zstandard passes over: some programs put one before the data.
fn is_skippable(magic: &[u8]) -> bool {
    matches!(magic, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
}

/// Counts the bytes of the file itself, and remembers whether an error came from it rather than from a decompressor.
#[derive(Debug, Clone, Default)]
struct Meter {
    bytes: Arc<AtomicU64>,
    failed: Arc<AtomicBool>,
}

struct Metered<R> {
    inner: R,
    meter: Meter,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self.inner.read(into) {
            Ok(count) => {
                self.meter.bytes.fetch_add(count as u64, Ordering::Relaxed);
                Ok(count)
            }
            Err(error) => {
                if error.kind() != io::ErrorKind::Interrupted {
                    self.meter.failed.store(true, Ordering::Relaxed);
                }
                Err(error)
            }
        }
    }
}

/// Why bytes stopped coming before the end of the file.
#[derive(Debug)]
pub(super) enum Failure {
    /// The file cannot be read.
    Read(io::Error),
    /// The file can be read, but not expanded.
    Expand(io::Error),
    /// The file expands to more than it may.
    Limit(String),
}

/// The expanded bytes of a file.
pub(super) struct Source {
    reader: Box<dyn Read + Send>,
    meter: Meter,
    pub(super) compression: Compression,
    /// Bytes handed out so far, after expansion.
    pub(super) bytes: u64,
    /// Bytes put back, and how many of them have been handed out again.
    head: Vec<u8>,
    head_at: usize,
    /// Nothing follows what was put back.
    ended: bool,
    /// As in [`ReadOptions`](super::ReadOptions).
    max_expansion: u64,
    /// As in [`ReadOptions`](super::ReadOptions).
    max_expanded: u64,
}

impl Source {
    /// Looks at the first bytes of `input` and puts the decompressor they ask for before it.
    pub(super) fn new(input: impl Read + Send + 'static, max_expansion: u64, max_expanded: u64) -> io::Result<Self> {
        let meter = Meter::default();
        let mut input = input;
        let mut magic = Vec::with_capacity(ZSTD_MAGIC.len());
        input.by_ref().take(ZSTD_MAGIC.len() as u64).read_to_end(&mut magic)?;
        let compression = if is_gzip(&magic) {
            Compression::Gzip
        } else if magic.starts_with(&ZSTD_MAGIC) || is_skippable(&magic) {
            Compression::Zstd
        } else {
            Compression::None
        };
        let whole = io::Cursor::new(magic).chain(input);
        let metered = |inner| Metered { inner, meter: meter.clone() };
        let reader: Box<dyn Read + Send> = match compression {
            // No meter: it would keep the standard library from reading into memory that is not cleared first.
            Compression::None => Box::new(whole),
            Compression::Gzip => Box::new(MultiGzDecoder::new(io::BufReader::with_capacity(1 << 18, metered(whole)))),
            Compression::Zstd => Box::new(zstd::stream::read::Decoder::new(metered(whole))?),
        };
        Ok(Self {
            reader,
            meter,
            compression,
            bytes: 0,
            head: Vec::new(),
            head_at: 0,
            ended: false,
            max_expansion,
            max_expanded,
        })
    }

    /// The bytes of `input` as they are.
    pub(super) fn plain(input: impl Read + Send + 'static) -> Self {
        Self {
            reader: Box::new(input),
            meter: Meter::default(),
            compression: Compression::None,
            bytes: 0,
            head: Vec::new(),
            head_at: 0,
            ended: false,
            max_expansion: 1,
            max_expanded: 0,
        }
    }

    /// Bytes read from the file itself.
    pub(super) fn file_bytes(&self) -> u64 {
        match self.compression {
            Compression::None => self.bytes,
            Compression::Gzip | Compression::Zstd => self.meter.bytes.load(Ordering::Relaxed),
        }
    }

    /// Why expansion stops, if it gave more bytes than the file may expand to.
    fn beyond(&self) -> Option<Failure> {
        if self.compression == Compression::None {
            return None;
        }
        let (packed, given, times) = (self.file_bytes(), self.bytes, self.max_expansion);
        let of = || format!("{packed} bytes of {} data gave {given} bytes", self.compression);
        if given > self.max_expanded {
            return Some(Failure::Limit(format!("{}, more than {}", of(), self.max_expanded)));
        }
        let most = packed.saturating_mul(times).max(EXPANSION_FREE);
        (given > most).then(|| Failure::Limit(format!("{}, more than {times} times as many", of())))
    }

    /// Whether all bytes that were put back have been handed out again.
    pub(super) fn is_spent(&self) -> bool {
        self.head.is_empty()
    }

    /// Takes back the bytes that were looked at, to be handed out again first.
    pub(super) fn put_back(&mut self, head: Vec<u8>) {
        self.head = head;
        self.head_at = 0;
    }

    /// Reads until `data` holds `target` bytes. `Ok(true)` says that the file ended; so does any error from then on.
    pub(super) fn fill(&mut self, data: &mut Vec<u8>, target: usize) -> Result<bool, Failure> {
        if data.len() < target {
            data.reserve_exact(target - data.len());
        }
        if self.head_at < self.head.len() {
            let count = target.saturating_sub(data.len()).min(self.head.len() - self.head_at);
            data.extend_from_slice(&self.head[self.head_at..self.head_at + count]);
            self.head_at += count;
            if self.head_at == self.head.len() {
                self.head = Vec::new();
                self.head_at = 0;
            }
        }
        while data.len() < target && !self.ended {
            let wanted = target - data.len();
            let before = data.len();
            let result = self.reader.by_ref().take(wanted as u64).read_to_end(data);
            self.bytes += (data.len() - before) as u64;
            if let Some(limit) = self.beyond() {
                self.ended = true;
                return Err(limit);
            }
            match result {
                Ok(count) => self.ended = count < wanted,
                Err(error) => {
                    self.ended = true;
                    let failed = self.meter.failed.load(Ordering::Relaxed);
                    return Err(if failed || self.compression == Compression::None {
                        Failure::Read(error)
                    } else {
                        Failure::Expand(error)
                    });
                }
            }
        }
        Ok(self.ended && self.head.is_empty())
    }
}
