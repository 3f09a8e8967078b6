//! `_core.SimulatedRun`: a run of the simulator as an iterator of what it hands out.

use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, UInt16Array, UInt32Array, UInt64Array,
};
use arrow_schema::ArrowError;
use plexlens_sysplex::group::account::Account;
use plexlens_sysplex::group::in_pool::InPool;
use plexlens_sysplex::group::logs::{Ended, Logged, Logs, Piece, Referred, Wanted};
use plexlens_sysplex::group::measured::Results;
use plexlens_sysplex::group::simulation::Simulation;
use plexlens_sysplex::group::watch::{Stopped, Watch};
use plexlens_sysplex::scenario::Scenario;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3_arrow::PyRecordBatch;

use crate::simulate::{PATIENCE, refused, stopped};

/// Pieces that wait for the reader; a run that is ahead by so many waits for it.
const AHEAD: usize = 2;

enum Message {
    Piece(Piece),
    Done(Result<Box<Results>, Stopped>),
}

/// A run under way: an iterator of what it hands out.
#[pyclass(frozen, module = "plexlens._core")]
pub struct SimulatedRun {
    /// `None` when all was handed out.
    messages: Mutex<Option<Receiver<Message>>>,
    watch: Watch,
    total: f64,
}

impl Drop for SimulatedRun {
    /// Nobody reads it any more: it ends.
    fn drop(&mut self) {
        self.watch.end();
    }
}

#[pymethods]
impl SimulatedRun {
    #[new]
    #[pyo3(signature = (scenario, *, transactions=false, references=false))]
    fn new(scenario: &str, transactions: bool, references: bool) -> PyResult<Self> {
        let scenario = Scenario::from_json(scenario).map_err(refused)?;
        let (sender, receiver) = sync_channel(AHEAD);
        let watch = Watch::default();
        let total = scenario.run.simulated();
        let of_run = watch.clone();
        thread::Builder::new()
            .name("simulation".into())
            .spawn(move || {
                let wanted = Wanted { transactions, references };
                let hand = Box::new(|piece| sender.send(Message::Piece(piece)).is_ok());
                let simulation = Simulation::new(&scenario).with_watch(of_run).with_logs(Logs::new(wanted, hand));
                // Nobody to send it to: nobody wants it.
                drop(sender.send(Message::Done(simulation.run_watched().map(Box::new))));
            })
            .map_err(|error| PyRuntimeError::new_err(format!("the run has no thread: {error}")))?;
        Ok(Self { messages: Mutex::new(Some(receiver)), watch, total })
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    /// Simulated seconds in all, the warm-up among them.
    #[getter]
    fn total(&self) -> f64 {
        self.total
    }

    /// Simulated seconds so far, the warm-up among them.
    #[getter]
    fn seconds(&self) -> f64 {
        self.watch.seconds()
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<(&'static str, Bound<'py, PyAny>)>> {
        let Some(message) = self.next_message(py)? else { return Ok(None) };
        let json = |text: Result<String, serde_json::Error>| -> PyResult<Bound<'py, PyAny>> {
            let text = text.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
            Ok(text.into_pyobject(py)?.into_any())
        };
        Ok(Some(match message {
            Message::Piece(Piece::Begun(interval)) => ("begun", json(serde_json::to_string(&interval))?),
            Message::Piece(Piece::Over(interval)) => ("interval", json(serde_json::to_string(&interval))?),
            Message::Piece(Piece::Logged(logged)) => {
                let tables = PyDict::new(py);
                let made = py.detach(|| tables_of(&logged));
                for (name, rows) in made.map_err(|error| PyRuntimeError::new_err(error.to_string()))? {
                    tables.set_item(name, PyRecordBatch::new(rows).into_pyarrow(py)?)?;
                }
                ("logged", tables.into_any())
            }
            Message::Done(results) => {
                let results = results.map_err(|error| stopped(&error))?;
                drop(self.messages.lock().unwrap_or_else(PoisonError::into_inner).take());
                ("results", json(serde_json::to_string(&*results))?)
            }
        }))
    }
}

impl SimulatedRun {
    fn next_message(&self, py: Python<'_>) -> PyResult<Option<Message>> {
        loop {
            let received = py.detach(|| {
                let messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
                messages.as_ref().map(|messages| messages.recv_timeout(PATIENCE))
            });
            match received {
                None => return Ok(None),
                Some(Ok(message)) => return Ok(Some(message)),
                Some(Err(RecvTimeoutError::Timeout)) => py.check_signals()?,
                Some(Err(RecvTimeoutError::Disconnected)) => {
                    return Err(PyRuntimeError::new_err("the run ended before its results"));
                }
            }
        }
    }
}

fn tables_of(logged: &Logged) -> Result<Vec<(&'static str, RecordBatch)>, ArrowError> {
    let mut made = Vec::new();
    if !logged.transactions.is_empty() {
        made.push(("transactions", transactions(&logged.transactions)?));
        made.push(("pools", pools(&logged.pools)?));
    }
    if !logged.references.is_empty() {
        made.push(("references", references(&logged.references)?));
    }
    Ok(made)
}

fn u16s<T>(rows: &[T], of: impl Fn(&T) -> u16) -> ArrayRef {
    Arc::new(UInt16Array::from_iter_values(rows.iter().map(of)))
}

fn u32s<T>(rows: &[T], of: impl Fn(&T) -> u32) -> ArrayRef {
    Arc::new(UInt32Array::from_iter_values(rows.iter().map(of)))
}

fn u64s<T>(rows: &[T], of: impl Fn(&T) -> u64) -> ArrayRef {
    Arc::new(UInt64Array::from_iter_values(rows.iter().map(of)))
}

fn i64s<T>(rows: &[T], of: impl Fn(&T) -> i64) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(rows.iter().map(of)))
}

fn flags<T>(rows: &[T], of: impl Fn(&T) -> bool) -> ArrayRef {
    Arc::new(rows.iter().map(|row| Some(of(row))).collect::<BooleanArray>())
}

/// Times in nanoseconds since measuring began, then sums of the account in seconds and counts.
fn transactions(rows: &[Ended]) -> Result<RecordBatch, ArrowError> {
    let terminal: UInt16Array = rows.iter().map(|one| one.terminal_region).collect();
    let mut columns: Vec<(&str, ArrayRef, bool)> = vec![
        ("number", u64s(rows, |one| one.number), false),
        ("class", u16s(rows, |one| one.class), false),
        ("region", u16s(rows, |one| one.region), false),
        ("terminal_region", Arc::new(terminal), true),
        ("arrived", i64s(rows, |one| one.arrived), false),
        ("sent", i64s(rows, |one| one.sent), false),
        ("attached", i64s(rows, |one| one.attached), false),
        ("ended", i64s(rows, |one| one.ended), false),
        ("terminal_first_dispatch", u64s(rows, |one| one.terminal.first_dispatch), false),
        ("terminal_dispatched", u64s(rows, |one| one.terminal.dispatched), false),
        ("terminal_redispatch", u64s(rows, |one| one.terminal.redispatch), false),
        ("terminal_dispatches", u32s(rows, |one| one.terminal.dispatches), false),
        ("first_dispatch", u64s(rows, |one| one.stay.first_dispatch), false),
        ("dispatched", u64s(rows, |one| one.stay.dispatched), false),
        ("redispatch", u64s(rows, |one| one.stay.redispatch), false),
        ("dispatches", u32s(rows, |one| one.stay.dispatches), false),
        ("thread_begin", i64s(rows, |one| one.thread_begin), false),
        ("thread_end", i64s(rows, |one| one.thread_end), false),
        ("thread_wait", u64s(rows, |one| one.thread_wait), false),
        ("thread_waits", u32s(rows, |one| one.thread_waits), false),
        ("open_tcb_wait", u64s(rows, |one| one.open_tcb_wait), false),
        ("db2_calls", u32s(rows, |one| one.db2_calls), false),
        ("sync_point", u64s(rows, |one| one.sync_point), false),
    ];
    columns.extend(Account::FIELDS.iter().map(|(name, of)| {
        let values: ArrayRef = Arc::new(Float64Array::from_iter_values(rows.iter().map(|one| of(&one.account))));
        (*name, values, false)
    }));
    RecordBatch::try_from_iter_with_nullable(columns)
}

/// Pools by the position of their transaction among those of the piece.
fn pools(rows: &[(u32, InPool)]) -> Result<RecordBatch, ArrowError> {
    let mut columns: Vec<(&str, ArrayRef)> =
        vec![("transaction", u32s(rows, |row| row.0)), ("pool", u16s(rows, |row| row.1.number))];
    columns.extend(InPool::FIELDS.iter().map(|(name, of)| (*name, u64s(rows, |row| of(&row.1)))));
    RecordBatch::try_from_iter(columns)
}

fn references(rows: &[Referred]) -> Result<RecordBatch, ArrowError> {
    RecordBatch::try_from_iter([
        ("time", i64s(rows, |one| one.time)),
        ("group", u16s(rows, |one| one.group)),
        ("member", u16s(rows, |one| one.member.into())),
        ("task", u32s(rows, |one| one.task)),
        ("pool", u16s(rows, |one| one.pool)),
        ("page_set", u32s(rows, |one| one.page_set)),
        ("page", u64s(rows, |one| one.page)),
        ("sequential", flags(rows, |one| one.sequential)),
        ("update", flags(rows, |one| one.update)),
        ("status", u16s(rows, |one| one.status as u16)),
    ])
}
