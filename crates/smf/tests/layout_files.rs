//! Layout files: what is refused and how it is said, folders that override, schemas.

mod records;

use std::path::PathBuf;

use arrow_schema::{DataType, TimeUnit};
use plexlens_smf::layout::{Catalogue, Conversion, INVENTORY, Rule, Unit};
use records::section_text;

fn refused(sections: &[(&str, &str)], maps: &[(&str, &str)]) -> String {
    Catalogue::from_texts(sections, maps).expect_err("refused").to_string()
}

#[test]
fn the_repository_is_sound() {
    let catalogue = records::catalogue();
    assert!(catalogue.sections().count() > 100);
    assert!(catalogue.map("smf74_4").is_some());
    for table in catalogue.tables() {
        let schema = catalogue.schema(&table).expect("a schema");
        assert!(schema.fields().len() > 9, "{table}");
        if table != INVENTORY {
            assert_eq!(schema.field(0).name(), "system");
            assert_eq!(schema.field(8).name(), "section_no");
            for field in &schema.fields()[9..] {
                for key in ["unit", "recorded_unit", "description", "source", "confidence", "since"] {
                    assert!(field.metadata().contains_key(key), "{table}.{} lacks {key}", field.name());
                }
            }
        }
    }
}

#[test]
fn faulty_fields_are_named_with_their_line() {
    let cases: [(&[&str], &str); 14] = [
        (&["A,0,4,u40,"], "x.csv, line 2, A: unknown format `u40`; use one of u8, u16, u24, u32,"),
        (&["B,0,1,u8,", "A,0,4,u32,furlong"], "x.csv, line 3, A: unknown unit `furlong`; leave it empty or use one of"),
        (&["A,0,3,u32,"], "A: format `u32` cannot have length 3; its length is 4"),
        (&["A,0,3,bits,"], "A: format `bits` cannot have length 3; its length is 1, 2, 4 or 8"),
        (&["A,0,10,packed,"], "its length is 1 to 9"),
        (&["A,0,0,ebcdic,"], "cannot have length 0"),
        (&["A,x,4,u32,"], "A: offset `x` is not a number; use a whole number from 0 to 65535"),
        (&["A,0,-1,u32,"], "length `-1` is not a number"),
        (&["A,0,4,u32,", "a,4,4,u32,"], "line 3, a: this field name stands twice (upper and lower case"),
        (&["A B,0,4,u32,"], "`A B` cannot be a column name"),
        (&["SYSTEM,0,4,u32,"], "`system` is a column that every table has already"),
        (&["A,0,4,ebcdic,us"], "unit `us` with format `ebcdic`"),
        (&["A,0,4,u32,mmsstttF"], "packed time needs format `packed`"),
        (&["A,0,4,u32,", "B,,4,u32,"], "x.csv: 1 of 2 fields have no offset"),
    ];
    for (rows, expected) in cases {
        let text = refused(&[("x", &section_text(rows))], &[]);
        assert!(text.contains(expected), "{text}\nlacks: {expected}");
    }
    assert!(refused(&[("x", "field,offset\nA,0\n")], &[]).contains("x.csv: its heading has no column `length`"));
    assert!(refused(&[("x", &section_text(&[]))], &[]).contains("it has no fields"));
    assert!(refused(&[("x", &(section_text(&["A,0,4,u32,"]) + "B,4\n"))], &[]).contains("line 3: not readable as CSV"));
    let text = section_text(&["A,0,4,u32,"]).replace(",high", ",sure");
    assert!(refused(&[("x", &text)], &[]).contains("confidence `sure`; use high, medium or low"));
    let unplaced = refused(&[("x", &section_text(&["A,,4,u32,"]))], &[]);
    assert!(unplaced.contains("line 2, A: no offset, and no owner, number and short name"), "{unplaced}");
    assert!(refused(&[(INVENTORY, &section_text(&["A,0,4,u32,"]))], &[]).contains("this name is the inventory's"));
}

#[test]
fn record_maps_are_held_to_their_layouts() {
    let section = section_text(&["A,0,4,u32,"]);
    let unplaced = section_text(&["A,,4,u32,"])
        .replace("confidence\n", "confidence,dictionary\n")
        .replace(",high", ",high,GROUP:A001");
    let sections = [("h", records::HEADER), ("x", &section), ("unplaced", &unplaced)];
    let map = |identity: &str, rows: &str| {
        let heading = "layout,triplet,rule,description,source,confidence\nh,,header,,,high\n";
        refused(&sections, &[("smf200_1", &format!("# identity: {identity}\n{heading}{rows}"))])
    };
    let cases = [
        ("standard", "y,X200O,entries,,,high", "smf200_1.csv, line 4, y: no such section layout"),
        ("standard", "x,X201O,entries,,,high", "triplet `X201O` is not a field of the header"),
        (
            "standard",
            "x,X200L,entries,,,high",
            "triplet `X200L` is u16, not u32; name the field that holds the section's",
        ),
        ("standard", "unplaced,X200O,entries,,,high", "its fields have no offsets"),
        ("rmf", "x,X200O,entries,,,high", "identity `rmf` without a product section"),
        ("rmf", "x,X200O,product,,,high", "identity `rmf` needs field IST of x"),
        ("db2", "x,X200O,product,,,high", "identity `db2` needs field QWHSSSID of x"),
        ("standard", "x,X200O,product,,,high\nx,X200O,product,,,high", "line 5, x: a second product section"),
        ("standard", "x,X200O,array:4,,,high", "unknown rule `array:4`"),
        ("standard", "x,X200O,array:4:0,,,high", "unknown rule `array:4:0`"),
    ];
    for (identity, rows, expected) in cases {
        let text = map(identity, rows);
        assert!(text.contains(expected), "{text}\nlacks: {expected}");
    }
    let fine = "# identity: standard\nlayout,triplet,rule,description,source,confidence\nh,,header,,,high\n\
        x,X200O,array:4:8:20,,,high\n";
    let catalogue = Catalogue::from_texts(&sections, &[("smf200_1", fine)]).expect("sound");
    let rule = catalogue.map("smf200_1").expect("the map").entries[1].rule;
    assert!(matches!(rule, Rule::Array(array) if (array.offset, array.length, array.count) == (4, 8, Some(20))));
    assert_eq!(rule.to_string(), "array:4:8:20");
    assert_eq!(catalogue.tables(), ["smf_record", "x"]);
}

#[test]
fn later_folders_replace_files_of_earlier_ones() {
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("layout_folders");
    let write = |file: &str, text: &str| {
        let path = root.join(file);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("written");
    };
    let map = records::map_text("site", "entries");
    write("one/x200_header.csv", records::HEADER);
    write("one/site.csv", &section_text(&["OLD,0,4,u32,"]));
    write("one/kept.csv", &section_text(&["KEPT,0,4,u32,"]));
    write("one/records/smf200_1.csv", &map);
    write("one/README.md", "no layout");
    write("two/site.csv", &section_text(&["NEW,0,2,u16,"]));
    let folders = [root.join("one"), root.join("two")];
    let catalogue = Catalogue::from_folders(&folders).expect("sound");
    assert!(catalogue.section("site").expect("site").field("new").is_some());
    assert!(catalogue.section("site").expect("site").field("old").is_none());
    assert!(catalogue.section("kept").is_some());
    let text = Catalogue::from_folders(&[root.join("three")]).expect_err("missing").to_string();
    assert!(text.contains("three") && text.contains("cannot be read"), "{text}");
    std::fs::create_dir_all(root.join("empty")).expect("a folder");
    let text = Catalogue::from_folders(&[root.join("empty")]).expect_err("empty").to_string();
    assert!(text.contains("no layout files"), "{text}");
    std::fs::remove_dir_all(root).expect("removed");
}

#[test]
fn columns_have_the_documented_types_and_units() {
    let time = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
    let local = DataType::Timestamp(TimeUnit::Microsecond, None);
    let cases = [
        ("1,u8,", DataType::UInt8, ""),
        ("2,u16,", DataType::UInt16, ""),
        ("4,u32,samples", DataType::UInt32, "samples"),
        ("8,u64,", DataType::UInt64, ""),
        ("4,u32,us", DataType::Float64, "seconds"),
        ("4,u32,s", DataType::Float64, "seconds"),
        ("4,u32,4KiB", DataType::UInt64, "bytes"),
        ("4,u32,/256", DataType::Float64, ""),
        ("8,u64,us^2", DataType::Float64, "seconds^2"),
        ("2,i16,", DataType::Int16, ""),
        ("4,i32,MSU", DataType::Int32, "MSU"),
        ("8,i64,stck_units", DataType::Float64, "seconds"),
        ("4,f32_hex,", DataType::Float64, ""),
        ("8,f64_hex,1024us", DataType::Float64, "seconds"),
        ("8,f64_bfp,", DataType::Float64, ""),
        ("3,packed,", DataType::Int64, ""),
        ("4,packed,0hhmmssF", DataType::Float64, "seconds"),
        ("4,packed,ms", DataType::Float64, "seconds"),
        ("8,ebcdic,", DataType::Utf8, ""),
        ("1,bits,", DataType::UInt8, ""),
        ("4,bits,", DataType::UInt32, ""),
        ("8,stck,", time, ""),
        ("8,stck,local", local, ""),
        ("8,cpu_stck,", DataType::Float64, "seconds"),
        ("4,tod_hundredths,", DataType::Float64, "seconds"),
        ("4,smf_date,", DataType::Date32, ""),
        ("12,bytes,clock", DataType::Binary, ""),
    ];
    for (row, data_type, unit) in cases {
        let text = section_text(&[&format!("A,0,{row}")]);
        let catalogue = Catalogue::from_texts(&[("x", &text)], &[]).expect(row);
        let schema = catalogue.schema("x").expect("the schema");
        assert_eq!(
            (schema.field(9).data_type(), schema.field(9).metadata()["unit"].as_str()),
            (&data_type, unit),
            "{row}"
        );
    }
}

#[test]
fn units_convert_as_documented() {
    // A recorded 1000, in seconds, bytes or as a number.
    let cases = [
        ("0.1s", 100.0),
        ("0.01s", 10.0),
        ("ms", 1.0),
        ("1024us", 1.024),
        ("128us", 0.128),
        ("us", 0.001),
        ("0.5us", 0.0005),
        ("stck_units", 1000.0 / 4096e6),
        ("us^2", 1e-9),
        ("(1024us)^2", 0.001_048_576),
        ("page_1024us", 1.024),
        ("0.01", 10.0),
        ("0.001", 1.0),
        ("/256", 3.906_25),
        ("/1024", 0.976_562_5),
        ("/4096", 0.244_140_625),
        ("/10000", 0.1),
    ];
    for (name, expected) in cases {
        let Conversion::Scale(scale) = Unit::parse(name).expect(name).conversion else { panic!("{name}") };
        assert_eq!(scale.apply(1000.0), expected, "{name}");
    }
    for (name, factor) in [("B", 1), ("256B", 256), ("KiB", 1024), ("4KiB", 4096), ("MiB", 1 << 20), ("GiB", 1 << 30)] {
        assert_eq!(Unit::parse(name).expect(name).conversion, Conversion::Size(factor), "{name}");
    }
}
