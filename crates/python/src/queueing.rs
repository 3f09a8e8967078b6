//! Queueing networks: solved by formula, or run event by event.

use plexlens_sysplex::network_run::{self, Settings};
use plexlens_sysplex::queueing::{self, Class, Load, Method, Network, NetworkError, Station, StationKind};
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::simulate::interruptible;

create_exception!(
    plexlens._core,
    QueueingError,
    PyValueError,
    "A network that has no solution: its text says what is wrong, where, and what to do.\n\n\
     Attributes: station and utilisation where open work is more than a station can do; None otherwise."
);

/// Most priorities of a run.
const MOST_PRIORITIES: u32 = 250;

fn refused(py: Python<'_>, error: &NetworkError) -> PyErr {
    let (station, utilisation) = match error {
        NetworkError::Saturated { station, percent } => (Some(station.as_str()), Some(percent / 100.0)),
        _ => (None, None),
    };
    raised(py, error.to_string(), station, utilisation)
}

fn raised(py: Python<'_>, text: String, station: Option<&str>, utilisation: Option<f64>) -> PyErr {
    let error = QueueingError::new_err(text);
    let value = error.value(py);
    match value.setattr("station", station).and_then(|()| value.setattr("utilisation", utilisation)) {
        Ok(()) => error,
        Err(failed) => failed,
    }
}

/// Name, kind, servers, demands by class.
type StationRow = (String, String, u32, Vec<f64>);
/// Name, rate of an open class, users and think time of a closed one, priority, visits.
type ClassRow = (String, Option<f64>, u32, f64, u32, f64);

fn network(py: Python<'_>, stations: Vec<StationRow>, classes: Vec<ClassRow>) -> PyResult<Network> {
    let made = stations.into_iter().map(|(name, kind, servers, demands)| {
        let kind = match kind.as_str() {
            "queue" => StationKind::Queue { servers },
            "priority" => StationKind::Priority { servers },
            "delay" => StationKind::Delay,
            _ => {
                let text = format!("kind of station {name} is {kind:?}; give queue, priority or delay");
                return Err(raised(py, text, None, None));
            }
        };
        Ok(Station { name, kind, demands })
    });
    let stations = made.collect::<PyResult<_>>()?;
    let made = classes.into_iter().map(|(name, rate, population, think, priority, visits)| {
        if priority > MOST_PRIORITIES {
            let text = format!("priority of class {name} is {priority}; give 0 to {MOST_PRIORITIES}");
            return Err(raised(py, text, None, None));
        }
        let load = rate.map_or(Load::Closed { population, think }, |rate| Load::Open { rate });
        Ok(Class { name, load, priority, visits })
    });
    Ok(Network { stations, classes: made.collect::<PyResult<_>>()? })
}

/// Solves a network by mean value analysis.
#[pyfunction]
#[pyo3(text_signature = "(stations, classes)")]
pub fn solve_network(py: Python<'_>, stations: Vec<StationRow>, classes: Vec<ClassRow>) -> PyResult<Bound<'_, PyDict>> {
    let network = network(py, stations, classes)?;
    let solution = py.detach(|| queueing::solve(&network)).map_err(|error| refused(py, &error))?;
    let made = PyDict::new(py);
    made.set_item("exact", solution.method == Method::Exact)?;
    made.set_item("throughput", solution.throughput)?;
    made.set_item("response", solution.response)?;
    made.set_item("residence", solution.residence)?;
    made.set_item("queue", solution.queue)?;
    made.set_item("utilisation", solution.utilisation)?;
    Ok(made)
}

/// Runs a network event by event. Ctrl-C ends it.
#[pyfunction]
#[pyo3(signature = (stations, classes, *, seed, warm_up, seconds, slice=None, constant=false))]
#[expect(clippy::too_many_arguments, reason = "they are arguments by name in Python")]
pub fn run_network(
    py: Python<'_>,
    stations: Vec<StationRow>,
    classes: Vec<ClassRow>,
    seed: u64,
    warm_up: f64,
    seconds: f64,
    slice: Option<f64>,
    constant: bool,
) -> PyResult<Bound<'_, PyDict>> {
    let allowed = |value: f64, least: f64| value.is_finite() && (least..=network_run::LONGEST).contains(&value);
    for (what, value, least) in [
        ("warm_up", warm_up, 0.0),
        ("seconds", seconds, network_run::SHORTEST),
        ("slice", slice.unwrap_or(1.0), network_run::SHORTEST),
    ] {
        if !allowed(value, least) {
            let text = format!("{what} is {value}; give {least} to {} seconds", network_run::LONGEST);
            return Err(raised(py, text, None, None));
        }
    }
    let network = network(py, stations, classes)?;
    let settings = Settings { seed, warm_up, seconds, constant };
    let work = |watch| network_run::run_watched(&network, &settings, slice, &watch);
    let run = interruptible(py, work, |_| Ok(()))?.map_err(|e| refused(py, &e))?;
    let made = PyDict::new(py);
    let response: Vec<_> = run.response.iter().map(|one| one.map(|found| (found.mean, found.half_width))).collect();
    made.set_item("events", run.events)?;
    made.set_item("ended", run.ended)?;
    made.set_item("response", response)?;
    made.set_item("utilisation", run.utilisation)?;
    made.set_item("laws_hold", run.laws.iter().flatten().all(network_run::Laws::hold))?;
    Ok(made)
}

/// Probability that an arrival has to wait for one of `servers` where `busy` of them are busy on the average.
#[pyfunction]
pub fn erlang_c(servers: u32, busy: f64) -> f64 {
    queueing::closed_form::erlang_c(servers, busy)
}
