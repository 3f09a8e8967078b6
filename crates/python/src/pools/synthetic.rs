//! `_core.Yardstick`: the made trace that speed is measured on.

use std::sync::{Arc, Mutex};

use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, UInt8Array, UInt16Array, UInt32Array, UInt64Array};
use arrow_schema::{Field, Schema};
use plexlens_bufferpool::synthetic::{Made, Yardstick as Maker};
use plexlens_bufferpool::trace::{Access, Function};
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatch;

use super::{locked, refused, trace_columns};

/// A made trace without end: Zipf references with scans among them.
#[pyclass(module = "plexlens._core", frozen)]
pub struct Yardstick {
    running: Mutex<Running>,
    /// Every so many rows one is a change of the page before it; 0: none.
    changed: u64,
}

struct Running {
    references: Box<dyn Iterator<Item = Made> + Send>,
    rows: u64,
    last: Option<Made>,
}

#[pymethods]
impl Yardstick {
    #[new]
    #[pyo3(signature = (*, pages = 5_000_000, pages_an_object = 100_000, exponent = 0.9, scans = 0.2, seed = 50, changed = 0))]
    fn new(pages: u64, pages_an_object: u64, exponent: f64, scans: f64, seed: u64, changed: u64) -> PyResult<Self> {
        if pages_an_object == 0
            || pages == 0
            || !pages.is_multiple_of(pages_an_object)
            || pages / pages_an_object > 1 << 32
        {
            return Err(refused(format!(
                "{pages} pages in objects of {pages_an_object} are not possible; give a multiple of at least one page"
            )));
        }
        if !(exponent > 0.0 && exponent.is_finite() && exponent != 1.0) {
            return Err(refused(format!(
                "a Zipf exponent of {exponent} is not possible; give one above 0, other than 1"
            )));
        }
        if !(0.0..=1.0).contains(&scans) {
            return Err(refused(format!("a share of scans of {scans} is not possible; give one from 0 to 1")));
        }
        let maker = Maker { pages, pages_an_object, exponent, scans, seed };
        let running = Running { references: Box::new(maker.references()), rows: 0, last: None };
        Ok(Self { running: Mutex::new(running), changed })
    }

    /// The next rows, a microsecond apart.
    fn batch<'py>(&self, py: Python<'py>, rows: usize) -> PyResult<Bound<'py, PyAny>> {
        let batch = py.detach(|| self.next(rows)).map_err(refused)?;
        PyRecordBatch::new(batch).into_pyarrow(py)
    }
}

impl Yardstick {
    fn next(&self, rows: usize) -> Result<RecordBatch, arrow_schema::ArrowError> {
        let mut running = locked(&self.running);
        let (mut object, mut page) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
        let (mut function, mut access) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
        let first = running.rows;
        for row in first..first + rows as u64 {
            let made = running.references.next();
            let is_change = self.changed > 0 && row % self.changed == self.changed - 1;
            let one = match (is_change, running.last) {
                (true, Some(before)) => before,
                _ => match made {
                    Some(made) => made,
                    None => break,
                },
            };
            running.last = Some(one);
            object.push(one.object);
            page.push(one.page);
            let code = if is_change { Function::SetWrite } else { Function::Getpage };
            function.push(code as u8);
            access.push(if one.sequential { Access::Sequential } else { Access::Random } as u8);
        }
        running.rows += rows as u64;
        let rows = object.len();
        let columns: Vec<ArrayRef> = vec![
            Arc::new(Int64Array::from_iter_values(first as i64..first as i64 + rows as i64)),
            Arc::new(UInt8Array::from(vec![0; rows])),
            Arc::new(UInt16Array::from(vec![0; rows])),
            Arc::new(UInt32Array::from(object)),
            Arc::new(UInt16Array::from(vec![0; rows])),
            Arc::new(UInt64Array::from(page)),
            Arc::new(UInt8Array::from(function)),
            Arc::new(UInt8Array::from(access)),
            Arc::new(UInt32Array::from(vec![0; rows])),
            Arc::new(UInt8Array::from(vec![0; rows])),
        ];
        let named = trace_columns().into_iter().zip(&columns);
        let fields: Vec<Field> =
            named.map(|((name, _), column)| Field::new(name, column.data_type().clone(), false)).collect();
        RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
    }
}
