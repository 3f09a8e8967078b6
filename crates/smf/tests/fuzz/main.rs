//! Damaged dumps, for a stated time: no panic, no hang, memory bounded, bytes accounted for, no intact record lost.
//!
//! `PLEXLENS_FUZZ_SECONDS` and `PLEXLENS_FUZZ_COPIES` say when to stop (whichever comes first); without them a few
//! seconds. `PLEXLENS_FUZZ_SEED` repeats a run, `PLEXLENS_FUZZ_THREADS` bounds the processors that it takes. A failing
//! copy is written to the temporary folder and named.

mod accounts;
#[path = "../dump/mod.rs"]
mod dump;
mod dumps;
mod edits;
mod reading;
#[path = "../records/mod.rs"]
mod records;

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use plexlens_smf::decode::{DecodeOptions, Decoder};
use plexlens_smf::layout::Catalogue;
use plexlens_smf::stream::Form;

use accounts::read;
use dumps::Original;
use edits::Copy;
use reading::{Lost, lost};
use records::Random;

/// The processor time that a copy may take: so much, and so much for each MiB.
const ANY_COPY: Duration = Duration::from_millis(500);
const EACH_MIB: Duration = Duration::from_secs(2);

/// Resident memory that decoding copies of some KiB has to stay below.
const MEMORY_KIB: u64 = 512 << 10;

fn catalogue() -> Catalogue {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    Catalogue::from_folders(&[root.join("layouts")]).expect("the layouts of the repository are valid")
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Processor time of this thread, where the system tells it: a busy machine makes no copy slow.
fn processor_time(since: Instant) -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|text| text.split_whitespace().next()?.parse().ok());
    nanoseconds.map_or_else(|| since.elapsed(), Duration::from_nanos)
}

fn peak_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find(|line| line.starts_with("VmHWM"))?.split_whitespace().nth(1)?.parse().ok()
}

/// What is wrong with the reading of a copy, if anything.
fn wrong(
    decoder: &Decoder,
    original: &Original,
    copy: &Copy,
    random: &mut Random,
    alone: &AtomicU64,
) -> Option<String> {
    let found = match read(decoder, &copy.bytes, 1 << 20) {
        Ok(found) => found,
        Err(wrong) => return Some(wrong),
    };
    // Where batches end must change nothing.
    if random.below(64) == 0 && read(decoder, &copy.bytes, 1 << 12).as_ref() != Ok(&found) {
        return Some("smaller batches give another answer".to_owned());
    }
    // Without descriptor words a boundary can be told by neighbours alone.
    match lost(original, copy, &found).filter(|_| original.form != Form::NoDescriptors)? {
        Lost::Alone => {
            alone.fetch_add(1, Ordering::Relaxed);
            None
        }
        Lost::Beside(text) => Some(text),
    }
}

#[test]
fn damaged_dumps_do_no_harm() {
    let seconds = Duration::from_secs(number("PLEXLENS_FUZZ_SECONDS", 3));
    let wanted = number("PLEXLENS_FUZZ_COPIES", u64::MAX);
    let seed = number("PLEXLENS_FUZZ_SEED", 0x9E37_79B9_7F4A_7C15);
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get) as u64;
    let threads = number("PLEXLENS_FUZZ_THREADS", processors);
    let catalogue = catalogue();
    let decoder = Decoder::new(&catalogue, DecodeOptions::default()).expect("all tables are known");
    let originals = dumps::all(&catalogue, &mut Random(seed));

    // The originals themselves are read, or the copies of them prove little.
    let mut tables = std::collections::BTreeSet::new();
    for original in &originals {
        let copy = edits::apply(original, Vec::new());
        assert_eq!((copy.intact.len(), &copy.bytes), (original.units.len(), &original.bytes));
        let found = read(&decoder, &original.bytes, 1 << 20).expect("an original decodes");
        assert!(found.records > 1, "an original gave {} records", found.records);
        assert!(original.form == Form::NoDescriptors || lost(original, &copy, &found).is_none());
        tables.extend(found.rows.into_keys());
    }
    for table in ["smf110_1_performance", "smf110_1_dictionary", "smf101_ifcid3_qwac", "smf30_accounting"] {
        assert!(tables.contains(table), "no {table} in {tables:?}");
    }

    let (copies, harmed) = (AtomicU64::new(0), Mutex::new(Vec::<String>::new()));
    let (bytes, slowest, alone) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    let started = Instant::now();
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (copies, harmed, originals, decoder) = (&copies, &harmed, &originals, &decoder);
            let (bytes, slowest, alone) = (&bytes, &slowest, &alone);
            scope.spawn(move || {
                let mut random = Random(seed ^ (thread + 1).wrapping_mul(0xD134_2543_DE82_EF95));
                while started.elapsed() < seconds && copies.fetch_add(1, Ordering::Relaxed) < wanted {
                    let original = &originals[random.below(originals.len() as u64) as usize];
                    let edits = edits::draw(original, originals, &mut random);
                    let told = edits.iter().map(|edit| {
                        let shown = &edit.into[..edit.into.len().min(8)];
                        format!("{:?} into {} bytes {shown:02x?}", edit.range, edit.into.len())
                    });
                    let told = told.collect::<Vec<_>>().join(", ");
                    let copy = edits::apply(original, edits);
                    bytes.fetch_add(copy.bytes.len() as u64, Ordering::Relaxed);
                    let begun = processor_time(started);
                    let answer = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                        wrong(decoder, original, &copy, &mut random, alone)
                    }));
                    let time = processor_time(started).saturating_sub(begun);
                    slowest.fetch_max(time.as_micros() as u64, Ordering::Relaxed);
                    let bound = ANY_COPY + EACH_MIB.mul_f64(copy.bytes.len() as f64 / 1_048_576.0);
                    let wrong = match answer {
                        Ok(None) if time < bound => continue,
                        Ok(None) => format!("took {time:?}, {bound:?} allowed"),
                        Ok(Some(wrong)) => wrong,
                        Err(_) => "panic".to_owned(),
                    };
                    let name = format!("plexlens-fuzz-{seed:x}-{}.smf", random.next());
                    let place = std::env::temp_dir().join(name);
                    let _ = std::fs::write(&place, &copy.bytes);
                    harmed.lock().unwrap().push(format!(
                        "{}: {} dump, {told}: {wrong}",
                        place.display(),
                        original.form
                    ));
                }
            });
        }
    });
    let made = copies.load(Ordering::Relaxed).min(wanted);
    let (bytes, slowest) = (bytes.load(Ordering::Relaxed), Duration::from_micros(slowest.load(Ordering::Relaxed)));
    println!(
        "fuzz: {made} damaged copies of {} dumps, {} MiB, in {:.0?}, the slowest {slowest:.1?}, memory {} MiB, {} \
        records between damage on both sides not found, seed {seed:#x}",
        originals.len(),
        bytes >> 20,
        started.elapsed(),
        peak_kib().unwrap_or(0) >> 10,
        alone.load(Ordering::Relaxed)
    );
    assert!(made > 100, "only {made} copies in {seconds:?}");
    let harmed = harmed.into_inner().unwrap();
    let graver = harmed.iter().filter(|text| !text.contains(", beside ")).cloned().collect::<Vec<_>>();
    assert!(graver.is_empty(), "{} of {made} copies did harm:\n{}", graver.len(), graver.join("\n"));
    let shown = harmed.iter().take(100).cloned().collect::<Vec<_>>().join("\n");
    // A record with damage on one side is lost where bytes of the damage by chance continue it; never without damage.
    let beside = harmed.iter().filter(|text| text.contains(", beside ")).count() as u64;
    assert!(beside * 20_000 <= made + 20_000, "{beside} of {made} copies lost a record beside damage:\n{shown}");
    // About one of 900 copies does; ten more than one of 500 leave room for chance in short runs.
    let lost = alone.load(Ordering::Relaxed);
    assert!(lost.saturating_sub(10) * 500 <= made, "{lost} of {made} copies lost a record between damage");
    if let Some(peak) = peak_kib() {
        assert!(peak < MEMORY_KIB, "memory rose to {peak} KiB");
    }
}

/// Inputs that the coverage-guided run (`crates/smf/fuzz`) kept: each reaches code that the others do not.
#[test]
fn inputs_of_the_guided_run_do_no_harm() {
    let catalogue = catalogue();
    let decoder = Decoder::new(&catalogue, DecodeOptions::default()).expect("all tables are known");
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).expect("the corpus is in the tree") {
        let path = entry.expect("entry").path();
        let bytes = std::fs::read(&path).expect("bytes");
        let found = read(&decoder, &bytes, 1 << 20);
        if let Err(wrong) = &found {
            panic!("{}: {wrong}", path.display());
        }
        assert_eq!(read(&decoder, &bytes, 1 << 12), found, "{}: smaller batches", path.display());
        count += 1;
    }
    assert!(count > 100, "{count} inputs");
}

/// Writes the dumps before they are damaged, as what the guided run begins with: nothing real may get into the tree.
#[test]
fn seeds_of_the_guided_run_are_written() {
    let Some(folder) = std::env::var_os("PLEXLENS_FUZZ_SEEDS").map(PathBuf::from) else { return };
    for (number, original) in dumps::made(&catalogue(), &mut Random(1)).iter().enumerate() {
        std::fs::write(folder.join(format!("dump-{number:03}")), &original.bytes).expect("a seed is written");
        let small = original.units.iter().filter(|unit| unit.end - unit.start < 1_500);
        for (place, unit) in small.enumerate() {
            let name = format!("record-{number:03}-{place:03}");
            std::fs::write(folder.join(name), &original.bytes[unit.start..unit.end]).expect("a seed is written");
        }
    }
}
