//! What only the whole catalogue can check of a record map: that layouts, fields and tables exist and fit.

use arrow_schema::DataType;

use super::catalogue::{Catalogue, identity_field};
use super::condition::{Condition, Subject, Witness};
use super::error::LayoutError;
use super::format::Format;
use super::record_map::{Identity, MapEntry, RecordMap};
use super::rule::Rule;
use super::schema::{column_unit, data_type};
use super::section::{Field, Section};

impl Catalogue {
    /// The first fault of a record map that reading it alone could not show.
    pub(super) fn check(&self, map: &RecordMap) -> Result<(), LayoutError> {
        for entry in &map.entries {
            let section = self.section(&entry.layout).ok_or_else(|| {
                let unknown = self.unknown_section(&entry.layout);
                wrong(map, entry, unknown.what, unknown.remedy)
            })?;
            if section.placed == (entry.rule == Rule::Connected) {
                let (what, remedy) = if section.placed {
                    ("its fields have offsets", "rule `connected` is for fields that a dictionary in the data places")
                } else {
                    ("its fields have no offsets", "a dictionary in the data places them: use rule `connected`")
                };
                return Err(wrong(map, entry, what, remedy));
            }
            if matches!(entry.rule, Rule::Header | Rule::Fixed) {
                continue;
            }
            self.check_place(map, entry)?;
            if entry.is_variant() {
                self.check_variant(map, entry, section)?;
            }
            if let Some(Condition { subject: Subject::Field(field), .. }) = &entry.when {
                self.check_condition(map, entry, field)?;
            }
        }
        self.check_identity(map)
    }

    fn check_place(&self, map: &RecordMap, entry: &MapEntry) -> Result<(), LayoutError> {
        if let Rule::Placed(placed) = entry.rule {
            let link = entry.link.as_ref();
            let length = link.map(|link| &link.length).filter(|_| placed.lead == 0);
            for name in [Some(&entry.triplet), length, link.and_then(|link| link.count.as_ref())].into_iter().flatten()
            {
                let field = self.field_of_start(map, name);
                if field.is_none_or(|field| !field.format.is_unsigned() || field.length > 4) {
                    let what = format!("`{name}` is no unsigned field of the record's header or fixed part");
                    return Err(wrong(
                        map,
                        entry,
                        what,
                        "name fields of at most four bytes at fixed places of the record",
                    ));
                }
            }
            return Ok(());
        }
        let product = map.product().filter(|_| entry.rule != Rule::Product && entry.rule != Rule::Linked);
        let field = if let Some(link) = &entry.link {
            let own = self.section(&entry.layout);
            let next = link.next.as_ref().map(|name| (name, own.and_then(|section| section.field(name)), Format::U32));
            let length = self.field_of_section(map, &link.length).map(|(_, field)| field);
            let parent = self.field_of_section(map, &entry.triplet).map(|(parent, _)| parent);
            let of_parent = |name| self.field_of_section(map, name).filter(|(index, _)| Some(*index) == parent);
            let count = link.count.as_ref().map(|name| (name, of_parent(name).map(|(_, field)| field), Format::U16));
            let named = [Some((&link.length, length, Format::U16)), next, count];
            for (name, field, format) in named.into_iter().flatten() {
                if field.is_none_or(|field| field.format != format) {
                    let what = format!("`{name}` is no field of format {} in the record's sections", format.name());
                    return Err(wrong(map, entry, what, "name fields of sections of this record map"));
                }
            }
            self.field_of_section(map, &entry.triplet).map(|(_, field)| field)
        } else {
            let of_product = || product.and_then(|row| self.section(&row.layout)?.field(&entry.triplet));
            self.triplet(map, entry).or_else(of_product)
        };
        let field = field.ok_or_else(|| {
            let what = format!("triplet `{}` is not a field of the header", entry.triplet);
            wrong(map, entry, what, "name the field that holds the section's offset")
        })?;
        if field.format != Format::U32 {
            let what = format!("triplet `{}` is {}, not u32", entry.triplet, field.format.name());
            let remedy = "name the field that holds the section's offset, not its length or count";
            return Err(wrong(map, entry, what, remedy));
        }
        Ok(())
    }

    /// A variant fills the table of another layout: that layout is in the map, for the same triplet, and has all its
    /// columns, in the same units.
    fn check_variant(&self, map: &RecordMap, entry: &MapEntry, section: &Section) -> Result<(), LayoutError> {
        let main = map.entries.iter().find(|other| other.layout == entry.table && other.triplet == entry.triplet);
        let Some(main) = main.and_then(|main| self.section(&main.layout)) else {
            let what = format!("no row of layout `{}` for triplet {}", entry.table, entry.triplet);
            return Err(wrong(map, entry, what, "a variant fills the table of a layout that the map names, too"));
        };
        for field in &section.fields {
            let fits =
                main.fields.iter().find(|other| other.column == field.column).is_some_and(|m| castable(field, m));
            if !fits {
                let what = format!("`{}` is not a column of table `{}`, or of another kind", field.name, entry.table);
                return Err(wrong(
                    map,
                    entry,
                    what,
                    "variants have the same names and units; add the field to the table",
                ));
            }
        }
        Ok(())
    }

    fn check_condition(&self, map: &RecordMap, entry: &MapEntry, name: &str) -> Result<(), LayoutError> {
        if let Some(Witness::Entry(field) | Witness::Product(field)) = self.witness(map, entry)
            && (field.format.is_unsigned() || field.format == Format::Bits)
        {
            return Ok(());
        }
        let what = format!("`{name}` is no unsigned field of the triplet's first layout, nor of the product section");
        Err(wrong(map, entry, what, "name a field of the layout that comes first for the triplet"))
    }

    fn check_identity(&self, map: &RecordMap) -> Result<(), LayoutError> {
        let needed: &[&str] = match map.identity {
            Identity::Rmf => &["IST", "DAT", "INT", "LGO"],
            Identity::Db2 => &["QWHSSSID", "QWHSSTCK"],
            Identity::Smf42 => &["SMF42PTS", "SMF42PTE"],
            Identity::Cics => &["SPN"],
            // MQ names the queue manager in the header; records without QWHS have no interval.
            Identity::Mq | Identity::Smf30 | Identity::Smf113 | Identity::Standard => return Ok(()),
        };
        let product = map.product().and_then(|entry| self.section(&entry.layout)).ok_or_else(|| {
            LayoutError::file(
                &map.file,
                format!("identity `{}` without a product section", map.identity.name()),
                "add its row with rule `product`, or use identity `standard`",
            )
        })?;
        for name in needed {
            if identity_field(product, map.identity, name).is_none() {
                return Err(LayoutError::file(
                    &map.file,
                    format!("identity `{}` needs field {name} of {}", map.identity.name(), product.name),
                    "add the field to that layout, or use identity `standard`",
                ));
            }
        }
        Ok(())
    }
}

fn wrong(map: &RecordMap, entry: &MapEntry, what: impl Into<String>, remedy: impl Into<String>) -> LayoutError {
    LayoutError::row(&map.file, entry.line, &entry.layout, what, remedy)
}

/// Whether a column of a variant can become the table's: the same kind in the same unit.
fn castable(from: &Field, to: &Field) -> bool {
    let numeric = |field: &Field| data_type(field).is_numeric();
    let kind = |field: &Field| match data_type(field) {
        DataType::Timestamp(unit, zone) => DataType::Timestamp(unit, zone),
        other => other,
    };
    column_unit(from) == column_unit(to) && (kind(from) == kind(to) || (numeric(from) && numeric(to)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECTION: &str = "field,offset,length,format,unit,description,source,confidence\n";
    const MAP: &str =
        "# identity: standard\nlayout,triplet,rule,when,table,description,source,confidence\nh,,header,,,,,high\n";

    fn fault(sections: &[(&str, &str)], rows: &str) -> String {
        let header = format!("{SECTION}OFF,36,4,u32,,,,high\nLEN,40,2,u16,,,,high\nNUM,42,2,u16,,,,high\n");
        let texts: Vec<(&str, String)> =
            sections.iter().map(|&(name, rows)| (name, format!("{SECTION}{rows}"))).collect();
        let mut all: Vec<(&str, &str)> = texts.iter().map(|(name, text)| (*name, text.as_str())).collect();
        all.push(("h", &header));
        let map = format!("{MAP}{rows}");
        Catalogue::from_texts(&all, &[("smf200_1", &map)]).map_or_else(|error| error.to_string(), |_| "fits".into())
    }

    #[test]
    fn a_variant_has_the_columns_of_its_table() {
        let main = ("a", "X,0,8,u64,,,,high\nT,8,8,u64,us,,,high\n");
        let rows = "a,OFF,entries,length>=16,,,,high\nb,OFF,entries,length<16,a,,,high\n";
        assert_eq!(fault(&[main, ("b", "X,0,4,u32,,,,high\nT,4,4,u32,ms,,,high\n")], rows), "fits");
        assert!(fault(&[main, ("b", "Y,0,4,u32,,,,high\n")], rows).contains("`Y` is not a column of table `a`"));
        assert!(fault(&[main, ("b", "T,0,4,u32,B,,,high\n")], rows).contains("`T` is not a column of table `a`"));
        assert!(fault(&[main, ("b", "X,0,4,ebcdic,,,,high\n")], rows).contains("`X` is not a column of table `a`"));
        let rows = "b,OFF,entries,length<16,a,,,high\n";
        assert!(fault(&[main, ("b", "X,0,4,u32,,,,high\n")], rows).contains("no row of layout `a`"));
    }

    #[test]
    fn links_and_conditions_name_fields() {
        let parent = ("p", "AT,0,4,u32,,,,high\nSIZE,4,2,u16,,,,high\nKIND,6,1,u8,,,,high\n");
        let child = ("c", "NEXT,0,4,u32,,,,high\nV,4,4,u32,,,,high\n");
        let link = |rule: &str| fault(&[parent, child], &format!("p,OFF,entries,,,,,high\nc,AT,{rule},,,,,high\n"));
        assert_eq!(link("linked:SIZE:NEXT"), "fits");
        assert_eq!(link("linked:SIZE::SIZE"), "fits");
        assert!(link("linked:SIZE::V").contains("`V` is no field of format u16"));
        assert!(link("linked:GONE").contains("`GONE` is no field of format u16"));
        assert!(link("linked:AT").contains("`AT` is no field of format u16"));
        assert!(link("linked:SIZE:V2").contains("`V2` is no field of format u32"));
        let when =
            |when: &str| fault(&[parent, child], &format!("p,OFF,entries,,,,,high\nc,OFF,array:8:8,{when},,,,high\n"));
        assert_eq!(when("KIND=2"), "fits");
        assert!(when("V=2").contains("`V` is no unsigned field of the triplet's first layout"));
    }
}
