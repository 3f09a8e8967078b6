//! decode(encode(x)) = x, for every record map of the repository: all sections of a record at once, with random values.
//!
//! Where a map has layouts of several releases, each draw takes those of one.

mod records;

use arrow_array::Array;
use plexlens_smf::cics::HELD_BYTES;
use plexlens_smf::decode::{DecodeOptions, DecodedBatch, Decoder, Expanded};
use proptest::prelude::*;
use records::made::{Made, encode, make};
use records::same::same;

/// Reads the last of the records, the others before it.
fn decode(decoder: &Decoder, all: &[Vec<u8>]) -> Result<DecodedBatch, TestCaseError> {
    let batch = records::batch(all);
    let (connections, released) = decoder.regions(HELD_BYTES).resolve(&batch, Expanded::default(), None);
    prop_assert!(released.is_empty());
    let keep: Vec<bool> = (1..=all.len()).map(|number| number == all.len()).collect();
    Ok(decoder.decode_connected(&batch, Some(&keep), "test", &connections).expect("decodes"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// All sections of a record at once, found again by their triplets.
    #[test]
    fn every_record_survives(seed: u64) {
        let catalogue = records::catalogue();
        let decoder = Decoder::new(catalogue, DecodeOptions::default()).expect("known tables");
        for map in catalogue.maps() {
            let made: Made = make(catalogue, map, seed);
            let all = encode(catalogue, map, &made).map_err(TestCaseError::fail)?;
            let decoded = decode(&decoder, &all)?;
            prop_assert!(decoded.damage.is_empty(), "{}: {:?}", &map.name, decoded.damage);
            for (name, expected) in &made.rows {
                let found = decoded.tables.iter().find(|(table, _)| table == name);
                let (_, found) = found.ok_or_else(|| TestCaseError::fail(format!("{}: no {name}", map.name)))?;
                prop_assert_eq!(found.num_rows(), expected.num_rows(), "{} {}", &map.name, name);
                let (section, length) = &made.layouts[name];
                for (column, expected) in expected.schema().fields().iter().zip(expected.columns()) {
                    let field = section.field(column.name()).expect("the field");
                    let found = found.column_by_name(column.name()).expect("the column");
                    if field.end() > *length {
                        prop_assert_eq!(found.null_count(), found.len(), "{} of {}", column.name(), name);
                    } else if found.data_type() == expected.data_type() {
                        same(field, expected, found)?;
                    } else {
                        let expected = arrow_cast::cast(expected, found.data_type()).expect("a cast of the table's");
                        same(field, &expected, found)?;
                    }
                }
            }
        }
    }
}
