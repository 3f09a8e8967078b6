//! A file in, decoded batches out: framing ahead in one thread, decoding in several, order kept.
//!
//! Memory stays flat: the framing thread waits when two batches are ready that nobody took, and no more batches
//! are being decoded than there are threads, and two.

mod duplicates;
mod scan;
mod splits;
mod summary;

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender, TryRecvError};
use std::thread::JoinHandle;

use arrow_schema::ArrowError;

use crate::cics::{Connections, HELD_BYTES, Regions};
use crate::decode::{DecodedBatch, Decoder, EXPANDED_BYTES};
use crate::stream::{FrameBatch, ReadOptions, SmfReader, StreamError, StreamSummary};

pub use duplicates::Duplicates;
pub use scan::Scan;
pub use splits::{Split, Splitter};
pub use summary::Summary;

/// Choices for a pipeline.
#[derive(Debug, Clone)]
pub struct PipelineOptions {
    /// Written into the `source_id` column.
    pub source_id: String,
    /// Threads that decode; 0 for as many as there are processors.
    pub threads: usize,
    /// Days whose record hashes stay in memory.
    pub days_resident: usize,
    /// Whether records that came before are left out; it takes some twenty bytes for each record of a day.
    pub once: bool,
    /// How to read the file.
    pub read: ReadOptions,
    /// The part of the file to read, as a [`Splitter`] planned it.
    pub split: Split,
}

impl Default for PipelineOptions {
    fn default() -> Self {
        Self {
            source_id: String::new(),
            threads: 0,
            days_resident: 62,
            once: true,
            read: ReadOptions::default(),
            split: Split::default(),
        }
    }
}

/// Why a pipeline stopped. `E` is what the question for known hashes can fail with.
#[derive(Debug, thiserror::Error)]
pub enum PipelineError<E> {
    /// The file cannot be read, or not any further.
    #[error(transparent)]
    Stream(#[from] StreamError),
    /// A batch outgrew what Arrow can address.
    #[error("a column of one batch is too long ({0}); read in smaller batches")]
    Arrow(#[from] ArrowError),
    /// The question for known hashes failed.
    #[error("the hashes already held could not be had")]
    Seen(E),
    /// A decoding thread stopped without an answer.
    #[error("a decoding thread failed; this is a defect, please report it with the dump")]
    Decoder,
}

/// A decoded batch and how far the file has been read.
#[derive(Debug)]
pub struct Step {
    /// The columns.
    pub decoded: DecodedBatch,
    /// Bytes read from the file (before decompression) when the batch was complete.
    pub bytes_read: u64,
}

struct Framed {
    batch: FrameBatch,
    bytes_read: u64,
}

/// Records of a batch that wait because those before them became long when they were expanded.
struct Rest {
    framed: Framed,
    keep: Vec<bool>,
}

type Answer = Receiver<(Result<DecodedBatch, ArrowError>, u64)>;

/// Reads and decodes one file.
pub struct Pipeline {
    framed: Option<Receiver<Result<Framed, StreamError>>>,
    reader: Option<JoinHandle<(StreamSummary, u64)>>,
    used: Sender<FrameBatch>,
    pool: rayon::ThreadPool,
    depth: usize,
    pending: VecDeque<Answer>,
    rest: Option<Rest>,
    failed: Option<StreamError>,
    /// Whether the end of the file was reached, or no more can be read.
    ended: bool,
    decoder: Arc<Decoder>,
    source_id: Arc<str>,
    duplicates: Duplicates,
    once: bool,
    regions: Regions,
    summary: Summary,
}

impl std::fmt::Debug for Pipeline {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Pipeline").field("summary", &self.summary).finish_non_exhaustive()
    }
}

impl Pipeline {
    /// Opens a file, tells its form, and begins to read ahead.
    ///
    /// # Errors
    /// [`StreamError`] if the file cannot be read or is no SMF dump.
    pub fn open(path: impl AsRef<Path>, decoder: Arc<Decoder>, options: &PipelineOptions) -> Result<Self, StreamError> {
        let path = path.as_ref();
        let split = &options.split;
        let reader = match &split.part {
            Some(part) => SmfReader::open_part(path, part, &options.read)?,
            None => SmfReader::open(path, &options.read)?,
        };
        let waited = reader.waiting_bytes();
        let refused = |source| StreamError::Io { name: path.display().to_string(), offset: 0, source };
        let processors = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let threads = if options.threads == 0 { processors() } else { options.threads };
        // A panic in a worker drops its answer, which the reader of the answer reports.
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|number| format!("smf-decode-{number}"))
            .panic_handler(|_| {})
            .build()
            .map_err(|error| refused(std::io::Error::other(error)))?;
        let (ready, framed) = mpsc::sync_channel(2);
        let (used, spare) = mpsc::channel();
        let reader = std::thread::Builder::new()
            .name("smf-read".into())
            .spawn(move || read_ahead(reader, &ready, &spare))
            .map_err(refused)?;
        let mut regions = decoder.regions(HELD_BYTES);
        regions.resume(&split.remembered);
        Ok(Self {
            framed: Some(framed),
            reader: Some(reader),
            used,
            pool,
            depth: threads + 2,
            pending: VecDeque::new(),
            rest: None,
            failed: None,
            ended: false,
            decoder,
            source_id: options.source_id.as_str().into(),
            duplicates: Duplicates::new(options.days_resident).after(split.came_before.clone()),
            once: options.once,
            regions,
            summary: Summary { waiting_bytes: (waited, 0), ..Summary::default() },
        })
    }

    /// The next batch, in file order; nothing at the end of the file.
    ///
    /// `seen` gives the hashes already held for a day (days since 1970 of the header's date); records with one of
    /// them, and those that came before in this file, are dropped and counted.
    ///
    /// # Errors
    /// When the file cannot be read any further (after all batches before that point), or `seen` fails.
    pub fn next_batch<E>(
        &mut self,
        seen: &mut dyn FnMut(i32) -> Result<Vec<u64>, E>,
    ) -> Result<Option<Step>, PipelineError<E>> {
        self.dispatch(seen)?;
        let Some(answer) = self.pending.pop_front() else {
            if let Some(error) = self.failed.take() {
                return Err(error.into());
            }
            if !self.ended {
                self.ended = true;
                self.summary.check_account();
            }
            return Ok(None);
        };
        let (decoded, bytes_read) = answer.recv().map_err(|_| PipelineError::Decoder)?;
        let decoded = decoded?;
        self.summary.add_decoded(&decoded);
        Ok(Some(Step { decoded, bytes_read }))
    }

    /// What was found so far; complete once [`next_batch`](Self::next_batch) has returned nothing.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Hands framed batches to the decoding threads until all have work. Waits only when none has.
    fn dispatch<E>(&mut self, seen: &mut dyn FnMut(i32) -> Result<Vec<u64>, E>) -> Result<(), PipelineError<E>> {
        while self.pending.len() < self.depth {
            if let Some(Rest { framed, keep }) = self.rest.take() {
                self.spawn(framed, keep);
                continue;
            }
            let Some(framed) = &self.framed else { break };
            let next = if self.pending.is_empty() {
                framed.recv().map_err(|_| TryRecvError::Disconnected)
            } else {
                framed.try_recv()
            };
            match next {
                Ok(Ok(framed)) => {
                    self.summary.add_frames(&framed.batch);
                    let keep = if self.once {
                        self.duplicates.keep(&framed.batch, seen).map_err(PipelineError::Seen)?
                    } else {
                        vec![true; framed.batch.frames.len()]
                    };
                    let left_out = framed.batch.frames.iter().zip(&keep).filter(|(_, keep)| !**keep);
                    self.summary.duplicate_bytes += left_out.map(|(frame, _)| frame.file_bytes).sum::<u64>();
                    self.summary.duplicates = self.duplicates.dropped();
                    self.summary.forgotten_days = self.duplicates.forgotten_days();
                    self.spawn(framed, keep);
                }
                Ok(Err(error)) => {
                    self.failed = Some(error);
                    self.ended = true;
                }
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    self.framed = None;
                    if let Some((stream, waiting)) = self.reader.take().and_then(|reader| reader.join().ok()) {
                        self.summary.stream = Some(stream);
                        self.summary.waiting_bytes.1 = waiting;
                    }
                    self.summary.add_damage(&self.regions.finish());
                }
            }
        }
        Ok(())
    }

    /// Expands and connects the records of a batch, and has them decoded.
    fn spawn(&mut self, framed: Framed, mut keep: Vec<bool>) {
        let Framed { mut batch, bytes_read } = framed;
        let (expanded, rest) = self.decoder.expand(&mut batch, EXPANDED_BYTES);
        let later = keep.split_off(batch.frames.len());
        self.rest = rest.map(|batch| Rest { framed: Framed { batch, bytes_read }, keep: later });
        let (connections, released) = self.regions.resolve(&batch, expanded, Some(&keep));
        self.summary.add_damage(&self.regions.lost());
        for (batch, connections) in released {
            self.start(batch, None, connections, bytes_read);
        }
        self.start(batch, Some(keep), connections, bytes_read);
    }

    /// Has a batch decoded.
    fn start(&mut self, batch: FrameBatch, keep: Option<Vec<bool>>, connections: Connections, bytes_read: u64) {
        let (answer, pending) = mpsc::sync_channel(1);
        let (decoder, source_id, used) = (Arc::clone(&self.decoder), Arc::clone(&self.source_id), self.used.clone());
        self.pool.spawn(move || {
            let decoded = decoder.decode_connected(&batch, keep.as_deref(), &source_id, &connections);
            // Either side may be gone when the caller stopped early.
            let _ = used.send(batch);
            let _ = answer.send((decoded, bytes_read));
        });
        self.pending.push_back(pending);
    }
}

/// The framing thread: reads until the end of the file, an error, or nobody listens. Bytes that wait come back too.
fn read_ahead(
    mut reader: SmfReader,
    ready: &SyncSender<Result<Framed, StreamError>>,
    spare: &Receiver<FrameBatch>,
) -> (StreamSummary, u64) {
    loop {
        if let Ok(batch) = spare.try_recv() {
            reader.recycle(batch);
        }
        let next = match reader.next_batch() {
            Ok(None) => break,
            Ok(Some(batch)) => Ok(Framed { batch, bytes_read: reader.summary().file_bytes }),
            Err(error) => Err(error),
        };
        let stop = next.is_err();
        if ready.send(next).is_err() || stop {
            break;
        }
    }
    (reader.summary().clone(), reader.waiting_bytes())
}
