//! `_core.simulate`: a scenario in, what its run measured out.

use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use plexlens_sysplex::group::simulation::Simulation;
use plexlens_sysplex::group::watch::{Stopped, Watch};
use plexlens_sysplex::scenario::{Scenario, ScenarioError};
use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

create_exception!(
    plexlens._core,
    ScenarioRefused,
    PyValueError,
    "A scenario that cannot be: its arguments are the path of the key, what is wrong, and what to do."
);

/// How often whoever waits for a run looks for an interrupt.
pub(crate) const PATIENCE: Duration = Duration::from_millis(100);

/// The refusal of a scenario, for Python.
pub(crate) fn refused(error: ScenarioError) -> PyErr {
    ScenarioRefused::new_err((error.path, error.what, error.remedy))
}

/// A run without results, for Python.
pub(crate) fn stopped(error: &Stopped) -> PyErr {
    let what = error.to_string();
    match error {
        Stopped::Interrupted => PyKeyboardInterrupt::new_err(what),
        Stopped::TooMany { number, .. } => {
            let remedy = "lower its rate, or give it more of what it waits for";
            ScenarioRefused::new_err((format!("class[{number}]"), what, remedy))
        }
    }
}

/// Runs a scenario given as JSON, and gives its results as JSON. `progress` is called with simulated seconds so far and
/// in all; what it raises ends the run, and so does Ctrl-C.
#[pyfunction]
#[pyo3(signature = (scenario, *, progress=None))]
pub fn simulate(py: Python<'_>, scenario: &str, progress: Option<&Bound<'_, PyAny>>) -> PyResult<String> {
    let scenario = Scenario::from_json(scenario).map_err(refused)?;
    let all = scenario.run.simulated();
    let run = |watch| Simulation::new(&scenario).with_watch(watch).run_watched();
    let tell = |seconds: f64| progress.map_or(Ok(()), |tell| tell.call1((seconds, all)).map(drop));
    let results = interruptible(py, run, tell)?.map_err(|error| stopped(&error))?;
    serde_json::to_string(&results).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// Runs something in a thread of its own that ends when its watch says so: on Ctrl-C, or when `tell`, which is called with
/// simulated seconds so far, fails.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    run: impl FnOnce(Watch) -> T + Send,
    tell: impl Fn(f64) -> PyResult<()>,
) -> PyResult<T> {
    let watch = Watch::default();
    thread::scope(|scope| {
        // The lock is for Rust alone: nobody else has the receiver.
        let (sender, receiver) = sync_channel(1);
        let receiver = Mutex::new(receiver);
        let of_run = watch.clone();
        scope.spawn(move || {
            // Without a receiver the caller has left, on Ctrl-C or an error of its own: nobody wants the results.
            drop(sender.send(run(of_run)));
        });
        loop {
            let received = py.detach(|| receiver.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(PATIENCE));
            match received {
                Ok(results) => return Ok(results),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(PyRuntimeError::new_err("the run ended before its results"));
                }
                Err(RecvTimeoutError::Timeout) => {
                    let told = tell(watch.seconds());
                    if let Err(error) = py.check_signals().and(told) {
                        watch.end();
                        return Err(error);
                    }
                }
            }
        }
    })
}
