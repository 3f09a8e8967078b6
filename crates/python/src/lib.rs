//! The extension module `plexlens._core`: conversions and errors, no logic.

use pyo3::prelude::*;

/// The compiled core of Plexlens.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
