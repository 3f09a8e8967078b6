//! Bytes that libFuzzer changes towards code not yet reached, read as an SMF dump: no panic, and the accounts add up.

#![no_main]

#[path = "../tests/fuzz/accounts.rs"]
mod accounts;

use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use plexlens_smf::decode::{DecodeOptions, Decoder};
use plexlens_smf::layout::Catalogue;

static DECODER: LazyLock<Decoder> = LazyLock::new(|| {
    let layouts = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../layouts");
    let catalogue = Catalogue::from_folders(&[layouts]).expect("the layouts of the repository are valid");
    Decoder::new(&catalogue, DecodeOptions::default()).expect("all tables are known")
});

fuzz_target!(|bytes: &[u8]| {
    if let Err(wrong) = accounts::read(&DECODER, bytes, 1 << 20) {
        panic!("{wrong}");
    }
});
