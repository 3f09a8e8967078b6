//! Dumps written anew: random records of every record map keep their numbers, move their times, lose their names.

mod records;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, TimestampMicrosecondType};
use arrow_array::{Array, ArrayRef};
use plexlens_smf::cics::HELD_BYTES;
use plexlens_smf::decode::{DecodeOptions, DecodedBatch, Decoder, Expanded};
use plexlens_smf::encode::{DumpForm, DumpWriter};
use plexlens_smf::forms::ebcdic::CodePage;
use plexlens_smf::layout::{Condition, Field, Format};
use plexlens_smf::rewrite::{Changes, FieldRule, Rewriter, Treatment};
use plexlens_smf::stream::{ReadOptions, SmfReader};
use records::made::{encode, make};

const DAYS: i32 = -70;

/// The rules of the repository: `layouts/characters/smf.csv`.
fn rules() -> Vec<FieldRule> {
    let path = records::layouts_folder().join("characters/smf.csv");
    let mut reader = csv::Reader::from_path(path).expect("the rules");
    let rule = |row: csv::StringRecord| {
        let text = |at: usize| row[at].to_owned();
        let treatment = match &row[2] {
            "code" | "version" | "number" => Treatment::Keep,
            "token" => Treatment::Blank,
            "clock" => Treatment::Clock,
            "printed_date" => Treatment::PrintedDate,
            "dictionary" => Treatment::Dictionary,
            _ => Treatment::Name,
        };
        let when = (!row[3].is_empty()).then(|| Condition::parse(&row[3]).expect("a condition"));
        let at = row[4].parse().unwrap_or(0);
        FieldRule { layout: text(0), field: text(1), when, at, length: row[5].parse().ok(), treatment }
    };
    reader.records().map(|row| rule(row.expect("a row"))).collect()
}

fn dump(name: &str, records: &[Vec<u8>]) -> PathBuf {
    let path = std::env::temp_dir().join(format!("plexlens-rewrite-{}-{name}", std::process::id()));
    let mut writer = DumpWriter::new(Vec::new(), DumpForm::Rdw, None).expect("a writer");
    for record in records {
        writer.write(record).expect("written");
    }
    std::fs::write(&path, writer.finish().expect("finished")).expect("the file");
    path
}

fn read(path: &PathBuf) -> Vec<Vec<u8>> {
    let mut reader = SmfReader::open(path, &ReadOptions::default()).expect("a dump");
    let mut found = Vec::new();
    while let Some(batch) = reader.next_batch().expect("a batch") {
        found.extend(batch.frames.iter().map(|frame| batch.record(frame).to_vec()));
    }
    assert_eq!(reader.summary().damage.skipped_bytes(), 0);
    found
}

fn decode(decoder: &Decoder, all: &[Vec<u8>]) -> DecodedBatch {
    let batch = records::batch(all);
    let (connections, released) = decoder.regions(HELD_BYTES).resolve(&batch, Expanded::default(), None);
    assert!(released.is_empty());
    decoder.decode_connected(&batch, None, "test", &connections).expect("decodes")
}

/// A name of the same length for each: letters that count.
fn renamed(names: impl IntoIterator<Item = String>) -> HashMap<String, String> {
    let letters = |mut number: usize, length: usize| -> String {
        (0..length)
            .map(|_| {
                let letter = char::from(b'A' + (number % 26) as u8);
                number /= 26;
                letter
            })
            .collect()
    };
    names.into_iter().enumerate().map(|(at, name)| (name.clone(), letters(at * 7919, name.chars().count()))).collect()
}

/// What a rule without condition says of a whole field.
fn whole(rules: &[FieldRule], layout: &str, field: &Field) -> Option<Treatment> {
    let mut found = rules.iter().filter(|rule| rule.layout == layout && rule.field == field.name);
    match (found.next(), found.next()) {
        (Some(rule), None) if rule.when.is_none() && rule.at == 0 && rule.length.is_none() => Some(rule.treatment),
        (None, _) if !field.format.is_characters() => Some(match field.format {
            Format::Stck => Treatment::Clock,
            Format::SmfDate => Treatment::Day,
            _ => Treatment::Keep,
        }),
        _ => None,
    }
}

fn check(place: &str, treatment: Treatment, before: &ArrayRef, after: &ArrayRef, names: &HashMap<String, String>) {
    let day = 86_400_000_000;
    match treatment {
        Treatment::Keep => assert_eq!(before, after, "{place}"),
        Treatment::Clock if before.as_primitive_opt::<TimestampMicrosecondType>().is_some() => {
            let times = before.as_primitive::<TimestampMicrosecondType>().iter();
            for (one, other) in times.zip(after.as_primitive::<TimestampMicrosecondType>()) {
                // A clock of 1900 is a duration.
                let is_time = |one: i64| one + 2_208_988_800_000_000 >= 366 * day;
                let moved = one.map(|one| if is_time(one) { one + i64::from(DAYS) * day } else { one });
                assert_eq!(moved, other, "{place}");
            }
        }
        Treatment::Day => {
            for (one, other) in before.as_primitive::<Date32Type>().iter().zip(after.as_primitive::<Date32Type>()) {
                let moved = one.map(|one| one + DAYS);
                assert!(moved == other || moved.is_some_and(|day| day < -25_567) && other.is_none(), "{place}");
            }
        }
        Treatment::Name if before.as_string_opt::<i32>().is_some() => {
            for (one, other) in before.as_string::<i32>().iter().zip(after.as_string::<i32>()) {
                let expected = one.map(|one| if one.is_empty() { "" } else { names[one].as_str() });
                assert_eq!(expected, other, "{place}");
            }
        }
        Treatment::Blank => {
            if let Some(texts) = after.as_string_opt::<i32>() {
                assert!(texts.iter().flatten().all(str::is_empty), "{place}");
            } else if let Some(bytes) = after.as_binary_opt::<i32>() {
                assert!(bytes.iter().flatten().flatten().all(|&byte| byte == 0 || byte == 0x40), "{place}");
            }
        }
        _ => {}
    }
}

#[test]
fn every_character_field_has_a_rule() {
    assert_eq!(Rewriter::unruled(records::catalogue(), &rules()), []);
    let fewer: Vec<FieldRule> = rules().into_iter().filter(|rule| rule.field != "SMF30JBN").collect();
    let missing = Rewriter::unruled(records::catalogue(), &fewer);
    assert_eq!(missing, [("smf30_identification".to_owned(), "SMF30JBN".to_owned())]);
}

#[test]
fn random_records_of_every_map_keep_all_but_names_and_times() {
    let (catalogue, rules) = (records::catalogue(), rules());
    let rewriter = Rewriter::new(catalogue, &rules, CodePage::default()).expect("rules");
    let decoder = Decoder::new(catalogue, DecodeOptions::default()).expect("known tables");
    let mut checked = BTreeMap::<&str, u64>::new();
    for seed in 0..6 {
        for map in catalogue.maps() {
            let made = make(catalogue, map, seed);
            let written = encode(catalogue, map, &made).expect("encodes");
            let (from, to) = (dump("a", &written), dump("b", &[]));
            let survey = rewriter.survey(&from, &ReadOptions::default()).expect("a survey");
            assert!(survey.unknown.is_empty() && survey.dropped.is_empty(), "{}: {survey:?}", map.name);
            assert!(survey.sections.is_empty(), "{}: {:?}", map.name, survey.sections);
            let names = renamed(survey.names.clone());
            let changes = Changes { names: names.clone(), days: DAYS, drop_unknown: false };
            let done = rewriter.rewrite(&from, &to, &ReadOptions::default(), &changes).expect("rewritten");
            assert_eq!((done.records, done.unnamed), (written.len() as u64, 0), "{}", map.name);
            let rewritten = read(&to);
            // No name is left, in EBCDIC or in ASCII. Shorter ones occur in numbers by chance.
            for name in names.keys().filter(|name| name.chars().count() >= 5) {
                let mut field = vec![0; name.chars().count()];
                CodePage::default().encode(name, &mut field).expect("it came from there");
                for form in [field.as_slice(), name.as_bytes()] {
                    let found = rewritten.iter().any(|record| record.windows(form.len()).any(|bytes| bytes == form));
                    assert!(!found, "{}: {name:?} is in the copy", map.name);
                }
            }
            let (before, after) = (decode(&decoder, &written), decode(&decoder, &rewritten));
            assert!(after.damage.is_empty(), "{}: {:?}", map.name, after.damage);
            assert_eq!(before.tables.len(), after.tables.len(), "{}", map.name);
            for ((table, one), (_, other)) in before.tables.iter().zip(&after.tables) {
                assert_eq!(one.num_rows(), other.num_rows(), "{table}");
                let Some((section, _)) = made.layouts.get(table) else { continue };
                for field in &section.fields {
                    let place = format!("{table} {} {}", map.name, field.name);
                    let Some(treatment) = whole(&rules, &section.name, field) else { continue };
                    let (Some(a), Some(b)) = (one.column_by_name(&field.column), other.column_by_name(&field.column))
                    else {
                        continue;
                    };
                    check(&place, treatment, a, b, &names);
                    *checked.entry(treatment.name()).or_default() += a.len() as u64;
                }
            }
            std::fs::remove_file(&from).expect("removed");
            std::fs::remove_file(&to).expect("removed");
        }
    }
    // All kinds of treatment occurred.
    assert!(["keep", "name", "blank", "clock", "day"].iter().all(|one| checked.get(one).is_some_and(|&n| n > 20)));
    assert!(checked["keep"] > 10_000, "{checked:?}");
}

#[test]
fn bytes_that_no_field_covers_become_zero() {
    let catalogue = records::catalogue();
    let rewriter = Rewriter::new(catalogue, &rules(), CodePage::default()).expect("rules");
    let map = catalogue.map("smf30").expect("the map");
    let mut written = encode(catalogue, map, &make(catalogue, map, 3)).expect("encodes");
    let record = written.last_mut().expect("a record");
    let secret = [0xD7, 0xC1, 0xE8, 0xD9, 0xD6, 0xD3, 0xD3, 0xF9]; // PAYROLL9
    record.extend(secret);
    let length = u16::try_from(record.len()).expect("short").to_be_bytes();
    record[..2].copy_from_slice(&length);
    let (from, to) = (dump("c", &written), dump("d", &[]));
    let survey = rewriter.survey(&from, &ReadOptions::default()).expect("a survey");
    assert!(survey.uncovered["smf30"] >= 8);
    let changes = Changes { names: renamed(survey.names.clone()), days: 0, drop_unknown: false };
    rewriter.rewrite(&from, &to, &ReadOptions::default(), &changes).expect("rewritten");
    let copy = std::fs::read(&to).expect("the copy");
    assert!(!copy.windows(8).any(|bytes| bytes == secret));
    assert_eq!(copy.len(), std::fs::read(&from).expect("the dump").len());
}

#[test]
fn records_without_a_layout_are_refused_or_left_out() {
    let catalogue = records::catalogue();
    let rewriter = Rewriter::new(catalogue, &rules(), CodePage::default()).expect("rules");
    let mut unknown = records::record(8, 1, &[0xC1; 8]);
    unknown[5] = 81;
    let (from, to) = (dump("e", &[unknown]), dump("f", &[]));
    let mut changes = Changes { names: HashMap::new(), days: 0, drop_unknown: false };
    let refused = rewriter.rewrite(&from, &to, &ReadOptions::default(), &changes).expect_err("refused").to_string();
    assert_eq!(refused, "record 1 at byte 0: type 81, subtype 1: no layout");
    changes.drop_unknown = true;
    let done = rewriter.rewrite(&from, &to, &ReadOptions::default(), &changes).expect("left out");
    assert_eq!((done.records, done.unknown["type 81, subtype 1: no layout"]), (0, 1));
    assert!(std::fs::read(&to).expect("the copy").is_empty());
}
