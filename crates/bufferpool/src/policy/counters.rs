//! What a simulated pool counts, under the names of the Db2 statistics record where it has them.

/// Declares the counters once: field, the QBST or QBGL field it stands for, and what it counts.
macro_rules! counters {
    ($(#[$about:meta])* $name:ident { $($(#[doc = $doc:literal])+ $field:ident $record:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name {
            $($(#[doc = $doc])+ pub $field: u64,)+
        }

        impl $name {
            /// Name of each counter, the field of the statistics record it stands for (empty: none has it), and what
            /// it counts.
            pub const FIELDS: &'static [(&'static str, &'static str, &'static str)] =
                &[$((stringify!($field), $record, concat!($($doc),+)),)+];

            /// The counters in the order of [`Self::FIELDS`].
            pub fn values(&self) -> Vec<u64> {
                vec![$(self.$field,)+]
            }

            /// These and others, each the sum of both.
            #[must_use]
            pub fn added(&self, other: &Self) -> Self {
                Self { $($field: self.$field + other.$field,)+ }
            }
        }
    };
}

pub(crate) use counters;

counters! {
    /// Counters of a pool since the simulation began.
    Counters {
        /// Getpages.
        getpages "QBSTGET",
        /// Getpages of sequential and dynamically detected scans.
        getpages_sequential "QBSTSGT",
        /// Getpages of list access.
        getpages_list "",
        /// Synchronous reads for random getpages.
        sync_reads_random "",
        /// Synchronous reads for sequential and list getpages.
        sync_reads_sequential "QBSTSIO",
        /// Sequential prefetch requests.
        sequential_requests "QBSTSEQ",
        /// Sequential prefetch I/Os.
        sequential_reads "QBSTPIO",
        /// Pages read by sequential prefetch.
        sequential_pages "QBSTSPP",
        /// List prefetch requests.
        list_requests "QBSTLPF",
        /// List prefetch I/Os.
        list_reads "QBSTLIO",
        /// Pages read by list prefetch.
        list_pages "QBSTLPP",
        /// Dynamic prefetch requests.
        dynamic_requests "QBSTDPF",
        /// Dynamic prefetch I/Os.
        dynamic_reads "QBSTDIO",
        /// Pages read by dynamic prefetch.
        dynamic_pages "QBSTDPP",
        /// Prefetch requests refused because 90 % of the buffers were unavailable (SPTH).
        prefetch_disabled "QBSTSPD",
        /// Random getpages that found their page on the sequential chain and moved it to the other.
        random_hits_sequential "QBSTRHS",
        /// Buffers taken from the sequential chain because VPSEQT was reached.
        sequential_threshold "QBSTHST",
        /// Times that 95 % of the buffers became unavailable (DMTH).
        data_management_threshold "QBSTDMC",
        /// Requests that found no buffer to steal.
        no_buffer "QBSTXFL",
        /// Pages marked for writing.
        updates "QBSTSWS",
        /// Pages marked for writing that were not in the pool and had to be read again.
        updates_reread "",
        /// Pages written.
        pages_written "QBSTPWS",
        /// Asynchronous write I/Os.
        async_writes "QBSTWIO",
        /// Synchronous writes: above 97.5 % unavailable (IWTH), and to free a buffer when none was left.
        sync_writes "QBSTIMW",
        /// Times that a data set's changed pages exceeded VDWQT.
        vertical_threshold "QBSTDWV",
        /// Times that unavailable buffers exceeded DWQT.
        horizontal_threshold "QBSTDWT",
        /// Checkpoints.
        checkpoints "",
        /// Data sets whose changed pages were written because nobody had changed them for the time to a pseudo close.
        pseudo_closes "",
        /// Getpages of pages that are made anew and not read.
        not_read "",
        /// Pages that the trace found in the pool and that had been there before it began.
        warm "",
        /// Pages read by prefetch while buffers still held unknown pages: some may have been in the pool.
        prefetched_early "",
        /// Buffers stolen.
        stolen "",
        /// Microseconds that stolen pages had been in the pool, summed.
        residency "",
        /// Buffers stolen from the sequential chain.
        stolen_sequential "",
        /// Microseconds that pages stolen from the sequential chain had been in the pool, summed.
        residency_sequential "",
        /// Prefetched pages stolen before any getpage asked for them.
        prefetched_unused "",
        /// Reads and prefetches that the trace records; the simulation decides upon its own.
        recorded_reads "",
    }
}

counters! {
    /// Counters of one data set in a pool.
    DataSetCounters {
        /// Getpages.
        getpages "",
        /// Synchronous reads.
        sync_reads "",
        /// Prefetch I/Os of all three kinds.
        prefetch_reads "",
        /// Pages read by prefetch.
        prefetch_pages "",
        /// Pages marked for writing.
        updates "",
        /// Pages written.
        pages_written "",
        /// Write I/Os, synchronous and asynchronous.
        writes "",
        /// Times that a page of it came into a buffer, by whatever means; less `stolen`, its pages in the pool.
        loaded "",
        /// Buffers stolen from it.
        stolen "",
        /// Microseconds that its stolen pages had been in the pool, summed.
        residency "",
        /// Those of its stolen buffers that were on the sequential chain.
        stolen_sequential "",
        /// Microseconds that these pages had been in the pool, summed.
        residency_sequential "",
    }
}

impl Counters {
    /// Synchronous read I/Os (QBSTRIO).
    pub fn sync_reads(&self) -> u64 {
        self.sync_reads_random + self.sync_reads_sequential
    }

    /// Pages read, by whatever means.
    pub fn pages_read(&self) -> u64 {
        self.sync_reads_random
            + self.sync_reads_sequential
            + self.sequential_pages
            + self.list_pages
            + self.dynamic_pages
    }

    /// Read I/Os, synchronous and by prefetch.
    pub fn read_ios(&self) -> u64 {
        self.sync_reads_random
            + self.sync_reads_sequential
            + self.sequential_reads
            + self.list_reads
            + self.dynamic_reads
    }
}
