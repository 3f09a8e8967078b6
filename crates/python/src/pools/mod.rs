//! Page-reference traces in, misses and counters out.

mod ages;
mod curves;
mod data_sets;
mod group;
mod settings;
mod simulation;
mod synthetic;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use plexlens_bufferpool::placement::Placement;
use plexlens_bufferpool::trace::{Access, Function, References, Status, TraceError};
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

pub use ages::DataSetAges;
pub use curves::PoolCurves;
pub use data_sets::{DataSetCurves, TraceSample};
pub use group::{GroupInterest, GroupSimulation};
pub use simulation::{PoolSimulation, PoolSimulations};
pub use synthetic::Yardstick;

create_exception!(
    plexlens._core,
    PoolError,
    PyValueError,
    "A trace or a pool's settings that cannot be used: its text says what is wrong and what to do."
);

fn refused(error: impl ToString) -> PyErr {
    PoolError::new_err(error.to_string())
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Values of a column of the one type that it may have.
fn column<'a, T: ArrowPrimitiveType>(batch: &'a RecordBatch, name: &str) -> PyResult<&'a [T::Native]> {
    let Some(column) = batch.column_by_name(name) else {
        return Err(refused(format!("a trace batch has no column {name}; see plexlens._core.TRACE_COLUMNS")));
    };
    let Some(values) = column.as_primitive_opt::<T>() else {
        let (found, needed) = (column.data_type(), T::DATA_TYPE);
        return Err(refused(format!("column {name} is {found}; cast it to {needed}")));
    };
    if values.null_count() > 0 {
        return Err(refused(format!("column {name} has {} nulls; leave such rows out", values.null_count())));
    }
    Ok(values.values())
}

/// The same of a column that may be missing: none then.
fn optional<'a, T: ArrowPrimitiveType>(batch: &'a RecordBatch, name: &str) -> PyResult<&'a [T::Native]> {
    if batch.column_by_name(name).is_none() { Ok(&[]) } else { column::<T>(batch, name) }
}

fn references(batch: &RecordBatch) -> PyResult<References<'_>> {
    Ok(References {
        time: column::<Int64Type>(batch, "time")?,
        member: column::<UInt8Type>(batch, "member")?,
        pool: column::<UInt16Type>(batch, "pool")?,
        object: column::<UInt32Type>(batch, "object")?,
        partition: column::<UInt16Type>(batch, "partition")?,
        page: column::<UInt64Type>(batch, "page")?,
        function: column::<UInt8Type>(batch, "function")?,
        access: column::<UInt8Type>(batch, "access")?,
        agent: optional::<UInt32Type>(batch, "agent")?,
        status: optional::<UInt8Type>(batch, "status")?,
    })
}

/// Columns of a trace batch and their Arrow types.
pub fn trace_columns() -> Vec<(&'static str, &'static str)> {
    vec![
        ("time", "int64"),
        ("member", "uint8"),
        ("pool", "uint16"),
        ("object", "uint32"),
        ("partition", "uint16"),
        ("page", "uint64"),
        ("function", "uint8"),
        ("access", "uint8"),
        ("agent", "uint32"),
        ("status", "uint8"),
    ]
}

/// Names of the function codes, in their order.
pub fn functions() -> Vec<&'static str> {
    Function::ALL.iter().map(|&(_, name)| name).collect()
}

/// Names of the access codes, in their order.
pub fn accesses() -> Vec<&'static str> {
    Access::ALL.iter().map(|&(_, name)| name).collect()
}

/// Names of the status codes, in their order.
pub fn statuses() -> Vec<&'static str> {
    Status::ALL.iter().map(|&(_, name)| name).collect()
}

/// Counts by name.
type Named = BTreeMap<&'static str, u64>;

fn by_name(fields: &[(&'static str, &'static str, &'static str)], values: &[u64]) -> Named {
    fields.iter().zip(values).map(|(&(name, _, _), &value)| (name, value)).collect()
}

/// Pools by data set (object and partition), as Python gives them.
type Places = BTreeMap<(u32, u16), u16>;

fn placement(places: Option<Places>) -> Option<Placement> {
    places.filter(|places| !places.is_empty()).map(Placement::new)
}

/// The rows as they are once their data sets are placed.
fn placed<'a>(placement: &'a mut Option<Placement>, rows: &References<'a>) -> Result<References<'a>, TraceError> {
    match placement {
        Some(placement) => placement.apply(rows),
        None => Ok(*rows),
    }
}
