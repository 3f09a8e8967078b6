//! The extension module `plexlens._core`: conversions and errors, no logic.

mod catalogue;
mod errors;
mod pools;
mod queueing;
mod reader;
mod rewrite;
mod simulate;
mod simulated_run;
mod splits;
mod summary;
mod writer;

use pyo3::prelude::*;

/// The compiled core of Plexlens.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("SmfError", module.py().get_type::<errors::SmfError>())?;
    module.add_class::<catalogue::Catalogue>()?;
    module.add("PoolError", module.py().get_type::<pools::PoolError>())?;
    module.add("TRACE_COLUMNS", pools::trace_columns())?;
    module.add("TRACE_FUNCTIONS", pools::functions())?;
    module.add("TRACE_ACCESSES", pools::accesses())?;
    module.add("TRACE_STATUSES", pools::statuses())?;
    module.add_class::<pools::PoolCurves>()?;
    module.add_class::<pools::PoolSimulation>()?;
    module.add_class::<pools::PoolSimulations>()?;
    module.add_class::<pools::DataSetAges>()?;
    module.add_class::<pools::DataSetCurves>()?;
    module.add_class::<pools::TraceSample>()?;
    module.add("QueueingError", module.py().get_type::<queueing::QueueingError>())?;
    module.add_class::<pools::GroupInterest>()?;
    module.add_class::<pools::GroupSimulation>()?;
    module.add_class::<pools::Yardstick>()?;
    module.add_class::<reader::DecodedBatch>()?;
    module.add_class::<reader::SmfReader>()?;
    module.add_class::<rewrite::Rewriter>()?;
    module.add_class::<splits::SplitPlanner>()?;
    module.add_class::<writer::DumpWriter>()?;
    module.add_class::<writer::EncodedRecords>()?;
    module.add("ScenarioError", module.py().get_type::<simulate::ScenarioRefused>())?;
    module.add_function(wrap_pyfunction!(simulate::simulate, module)?)?;
    module.add_class::<simulated_run::SimulatedRun>()?;
    module.add_function(wrap_pyfunction!(queueing::erlang_c, module)?)?;
    module.add_function(wrap_pyfunction!(queueing::solve_network, module)?)?;
    module.add_function(wrap_pyfunction!(queueing::run_network, module)?)?;
    module.add_function(wrap_pyfunction!(reader::scan, module)?)?;
    module.add_function(wrap_pyfunction!(writer::encode_record, module)?)?;
    module.add_function(wrap_pyfunction!(writer::encode_records, module)?)?;
    module.add_function(wrap_pyfunction!(writer::standard_dictionary, module)?)
}
