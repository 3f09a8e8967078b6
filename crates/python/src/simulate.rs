//! `_core.simulate`: a scenario in, what its run measured out.

use plexlens_sysplex::group::simulation::Simulation;
use plexlens_sysplex::scenario::{Scenario, ScenarioError};
use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

create_exception!(
    plexlens._core,
    ScenarioRefused,
    PyValueError,
    "A scenario that cannot be: its arguments are the path of the key, what is wrong, and what to do."
);

/// The refusal of a scenario, for Python.
pub(crate) fn refused(error: ScenarioError) -> PyErr {
    ScenarioRefused::new_err((error.path, error.what, error.remedy))
}

/// Runs a scenario given as JSON, and gives its results as JSON.
#[pyfunction]
pub fn simulate(py: Python<'_>, scenario: &str) -> PyResult<String> {
    let scenario = Scenario::from_json(scenario).map_err(refused)?;
    let results = py.detach(|| Simulation::new(&scenario).run());
    serde_json::to_string(&results).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}
