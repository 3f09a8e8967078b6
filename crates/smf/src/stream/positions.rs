//! Holds the few positions that the stream must know before any layout is chosen to the layouts themselves.

use super::{header, rmf_record};
use std::collections::HashMap;
use std::path::Path;

/// Offset and length of each field of a layout.
fn layout(name: &str) -> HashMap<String, (usize, usize)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../layouts").join(name);
    let mut rows = csv::ReaderBuilder::new().comment(Some(b'#')).from_path(path).expect("the layout is there");
    rows.records()
        .map(|row| {
            let row = row.expect("a row");
            let number = |column: usize| row[column].parse().expect("a number");
            (row[0].to_owned(), (number(1), number(2)))
        })
        .collect()
}

/// Every position with the layout and field it comes from, and the width with which it is read.
#[test]
fn positions_are_those_of_the_layouts() {
    let product = "rmf_product_section.csv";
    let area = "rmf_reassembly_header.csv";
    let expected = [
        ("smf_header_no_subtype.csv", "SMFxRTY", header::TYPE, 1),
        ("smf_header_no_subtype.csv", "SMFxTME", header::TIME, 4),
        ("smf_header_no_subtype.csv", "SMFxDTE", header::DATE, 4),
        ("smf_header_no_subtype.csv", "SMFxSID", header::SYSTEM, 4),
        ("smf_rdw.csv", "RDWLEN", 0, 2),
        ("smf_rdw.csv", "RDWSEG", 2, 1),
        ("rmf_header_triplets.csv", "SMF7xSTY", rmf_record::SUBTYPE, 2),
        ("rmf_header_triplets.csv", "SMF7xTRN", rmf_record::TRIPLET_COUNT, 2),
        ("rmf_header_triplets.csv", "SMF7xPRS", rmf_record::TRIPLETS, 4),
        ("rmf_header_triplets.csv", "SMF7xPRL", rmf_record::TRIPLETS + 4, 2),
        ("rmf_header_triplets.csv", "SMF7xPRN", rmf_record::TRIPLETS + 6, 2),
        ("smf115_1_triplets.csv", "QWS00PSO", rmf_record::TRIPLETS, 4),
        ("smf116_1_triplets.csv", "QWA01PSO", rmf_record::TRIPLETS, 4),
        ("smf100_ifcid1_self_defining.csv", "QWS00PSO", rmf_record::TRIPLETS, 4),
        ("smf101_ifcid3_self_defining.csv", "QWA01PSO", rmf_record::TRIPLETS, 4),
        (product, "SMF7xIST", rmf_record::INTERVAL.start, 4),
        (product, "SMF7xDAT", rmf_record::INTERVAL.start + 4, 4),
        (product, "SMF7xINT", rmf_record::INTERVAL.end - 4, 4),
        (product, "SMF7xRAO", rmf_record::AREA_OFFSET, 4),
        (product, "SMF7xRAL", rmf_record::AREA_LENGTH, 2),
        (product, "SMF7xRAN", rmf_record::AREA_COUNT, 2),
        (area, "SMF7xRBR", rmf_record::PARTS, 2),
        (area, "SMF7xRSQ", rmf_record::SEQUENCE, 2),
        (area, "SMF7xRIO", rmf_record::BLOCK_OFFSET, 4),
        (area, "SMF7xRIL", rmf_record::BLOCK_LENGTH, 2),
        (area, "SMF7xRIN", rmf_record::BLOCK_COUNT, 2),
        ("rmf_reassembly_block.csv", "SMF7xRNN", rmf_record::BLOCK_TOTAL, 2),
        ("rmf_reassembly_block.csv", "SMF7xRPP", rmf_record::BLOCK_POSITION, 2),
    ];
    for (file, field, offset, length) in expected {
        assert_eq!(layout(file)[field], (offset, length), "{field} of {file}");
    }
    // The header ends with the system identifier.
    assert_eq!(header::SYSTEM + 4, header::HEADER);
    assert_eq!(header::DESCRIPTOR, layout("smf_header_no_subtype.csv")["SMFxFLG"].0);
}
