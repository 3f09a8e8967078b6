//! All layouts that a run knows.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_schema::{Schema, SchemaRef};

use super::error::LayoutError;
use super::record_map::{Identity, MapEntry, RecordMap};
use super::rule::Rule;
use super::schema::{INVENTORY, inventory_schema, table_schema};
use super::section::{Field, Section};

/// Sections and record maps, checked against each other.
///
/// ```
/// use plexlens_smf::layout::Catalogue;
/// let section = "field,offset,length,format,unit,description,source,confidence\n\
///                CPUTIME,0,4,u32,us,CPU time,made up,low\n";
/// let catalogue = Catalogue::from_texts(&[("smf200_1_cpu", section)], &[]).unwrap();
/// assert_eq!(catalogue.schema("smf200_1_cpu").unwrap().field(9).name(), "cputime");
/// ```
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    sections: BTreeMap<String, Arc<Section>>,
    maps: BTreeMap<String, Arc<RecordMap>>,
}

impl Catalogue {
    /// Reads every `*.csv` of the folders, and of their `records` folders. A file of a later folder replaces the
    /// file of the same name of an earlier one.
    ///
    /// # Errors
    /// A folder or file that cannot be read, or the first fault in a layout.
    pub fn from_folders(folders: &[PathBuf]) -> Result<Self, LayoutError> {
        let mut sections = BTreeMap::new();
        let mut maps = BTreeMap::new();
        for folder in folders {
            read_folder(folder, &mut sections)?;
            let records = folder.join("records");
            if records.is_dir() {
                read_folder(&records, &mut maps)?;
            }
        }
        if sections.is_empty() {
            let named: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
            return Err(LayoutError::file(
                &named.join(", "),
                "no layout files (*.csv) here",
                "name the layouts folder",
            ));
        }
        Self::from_files(&sections, &maps)
    }

    /// From texts in memory: pairs of name (without `.csv`) and text, sections first, then record maps.
    ///
    /// # Errors
    /// The first fault in a layout.
    pub fn from_texts(sections: &[(&str, &str)], maps: &[(&str, &str)]) -> Result<Self, LayoutError> {
        let files = |texts: &[(&str, &str)]| {
            texts.iter().map(|&(name, text)| (name.to_owned(), (format!("{name}.csv"), text.to_owned()))).collect()
        };
        Self::from_files(&files(sections), &files(maps))
    }

    fn from_files(sections: &Files, maps: &Files) -> Result<Self, LayoutError> {
        let mut catalogue = Self::default();
        for (name, (file, text)) in sections {
            if name == INVENTORY {
                return Err(LayoutError::file(file, "this name is the inventory's", "choose another file name"));
            }
            catalogue.sections.insert(name.clone(), Arc::new(Section::parse(name, file, text)?));
        }
        for (name, (file, text)) in maps {
            let map = RecordMap::parse(name, file, text)?;
            catalogue.check(&map)?;
            catalogue.maps.insert(name.clone(), Arc::new(map));
        }
        Ok(catalogue)
    }

    /// The section of that name.
    #[must_use]
    pub fn section(&self, name: &str) -> Option<&Arc<Section>> {
        self.sections.get(name)
    }

    /// All sections by name.
    pub fn sections(&self) -> impl Iterator<Item = &Arc<Section>> {
        self.sections.values()
    }

    /// The record map of that name.
    #[must_use]
    pub fn map(&self, name: &str) -> Option<&Arc<RecordMap>> {
        self.maps.get(name)
    }

    /// All record maps by name.
    pub fn maps(&self) -> impl Iterator<Item = &Arc<RecordMap>> {
        self.maps.values()
    }

    /// Names of the tables that decoding can fill, the inventory among them.
    #[must_use]
    pub fn tables(&self) -> Vec<String> {
        let mut tables: Vec<String> = self
            .maps
            .values()
            .flat_map(|map| map.entries.iter().filter(|entry| entry.rule != Rule::Header))
            .map(|entry| entry.table.clone())
            .collect();
        tables.push(INVENTORY.into());
        tables.sort();
        tables.dedup();
        tables
    }

    /// The Arrow schema of a section's table, or of the inventory.
    #[must_use]
    pub fn schema(&self, table: &str) -> Option<SchemaRef> {
        if table == INVENTORY {
            return Some(inventory_schema());
        }
        self.section(table).map(|section| Arc::new(table_schema(section)))
    }

    /// The schema, or an error that lists what there is.
    ///
    /// # Errors
    /// When no section has that name.
    pub fn schema_or_error(&self, table: &str) -> Result<Arc<Schema>, LayoutError> {
        self.schema(table).ok_or_else(|| self.unknown_section(table))
    }

    /// An error that says which sections there are, the nearest names first.
    #[must_use]
    pub fn unknown_section(&self, name: &str) -> LayoutError {
        let prefix: String = name.split('_').take(2).collect::<Vec<_>>().join("_");
        let near: Vec<&str> =
            self.sections.keys().map(String::as_str).filter(|known| known.starts_with(&prefix)).collect();
        let remedy = if near.is_empty() {
            format!("there are {} layouts, from smf_record to the sections `layouts list` shows", self.sections.len())
        } else {
            format!("near it are {}", near.join(", "))
        };
        LayoutError::file(name, "no such section layout", remedy)
    }

    /// The field of a header section that a row's triplet names; `None` where another section holds the place.
    #[must_use]
    pub fn triplet(&self, map: &RecordMap, entry: &MapEntry) -> Option<&Field> {
        map.headers().filter_map(|header| self.section(&header.layout)).find_map(|header| header.field(&entry.triplet))
    }

    /// An error for a table that decoding cannot fill.
    #[must_use]
    pub fn unknown_table(&self, name: &str) -> LayoutError {
        LayoutError::file(name, "no record map fills such a table", format!("there are {}", self.tables().join(", ")))
    }
}

/// A field that identity needs. RMF fields differ by record type in their first five characters (`SMF7xIST`, or
/// `SMF70IST` in a layout of one type), CICS fields by kind of record (`SMFMNSPN`, `SMFSTSPN`): they are found by the
/// three characters after those.
pub(crate) fn identity_field<'a>(section: &'a Section, identity: Identity, name: &str) -> Option<&'a Field> {
    let prefix = match identity {
        Identity::Rmf => "SMF7",
        Identity::Cics if name.len() == 3 => "SMF",
        _ => return section.field(name),
    };
    let ends =
        |field: &&Field| field.name.len() == 8 && field.name.starts_with(prefix) && field.name.get(5..) == Some(name);
    section.fields.iter().find(ends)
}

/// Text and file name by layout name.
type Files = BTreeMap<String, (String, String)>;

fn read_folder(folder: &Path, files: &mut Files) -> Result<(), LayoutError> {
    let shown = folder.display().to_string();
    let failed = |error: std::io::Error| {
        LayoutError::file(&shown, format!("the folder cannot be read: {error}"), "check the path and its permissions")
    };
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let Some(name) = path.file_stem().and_then(|name| name.to_str()) else {
            continue;
        };
        if path.extension().is_none_or(|ending| ending != "csv") || !path.is_file() {
            continue;
        }
        let file = path.display().to_string();
        let text = std::fs::read_to_string(&path).map_err(|error| {
            LayoutError::file(&file, format!("the file cannot be read as text: {error}"), "layouts are UTF-8 CSV files")
        })?;
        files.insert(name.to_owned(), (file, text));
    }
    Ok(())
}
