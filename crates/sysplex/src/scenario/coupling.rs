//! Coupling facilities, and what requests to them cost.

use serde::Deserialize;

use super::Scenario;
use super::checks::{Checked, MOST_MICROSECONDS, MOST_SERVICE, at_most, between, different, number, times};
use super::defaults as default;
use super::distribution::{Distribution, check_distribution};
use super::machines::{MOST_ENGINES, SPEEDS};

/// Requests of a system to a coupling facility at a time, and kilometres to it.
const MOST_SUBCHANNELS: u32 = 1024;
const MOST_KILOMETRES: f64 = 20_000.0;

/// A coupling facility.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CouplingFacility {
    /// Name.
    pub name: String,
    /// Engines, dedicated to it.
    #[serde(default = "default::one_engine")]
    pub engines: u32,
    /// Speed; service times of the scenario are those of speed 1.
    #[serde(default = "default::one")]
    pub speed: f64,
    /// Seconds from a system to here, one way: adapter and link.
    #[serde(default = "default::link")]
    pub link: f64,
    /// Kilometres of fibre to here; 5 microseconds each, one way.
    #[serde(default)]
    pub distance_km: f64,
    /// Requests of one system that may be under way at a time.
    #[serde(default = "default::subchannels")]
    pub subchannels: u32,
}

/// What requests to coupling facilities cost: microseconds at speed 1.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Coupling {
    /// Coupling facility engine, a lock or unlock request.
    pub lock_us: f64,
    /// A read that registers interest and returns no page.
    pub read_us: f64,
    /// A read or write of a page.
    pub page_us: f64,
    /// A registration of the pages of a prefetch, besides what each page takes.
    pub list_us: f64,
    /// Each of its pages.
    pub list_page_us: f64,
    /// Sending processor, a synchronous request besides the wait for its answer. Source: IBM's CICS TS Performance Guide
    /// has 4,000 to 5,500 instructions for one more request by its kind, median 5,000, the wait among them: divide them
    /// by the MIPS of an engine and take the wait off.
    pub sync_host_us: f64,
    /// Sending processor, an asynchronous request with its interruption and dispatch.
    pub async_host_us: f64,
    /// Seconds until the end of an asynchronous request is noticed.
    pub async_delay: f64,
    /// Expected synchronous service time above which a request is sent asynchronously, divided by the speed of the
    /// sending engine; 0: never.
    pub convert_above_us: f64,
    /// Processor time at both systems that settle a contention by messages.
    pub contention_host_us: f64,
    /// Seconds until a contention is settled.
    pub contention_delay: f64,
    /// Processor time of the member for each lock or page that it brings into a structure that is rebuilt.
    pub rebuild_us: f64,
    /// Seconds that the members take to agree on the steps of a rebuild, besides its requests.
    pub rebuild_delay: f64,
    /// Distribution of the time that a coupling facility engine takes for a request; constant by default.
    pub distribution: Option<Distribution>,
}

impl Scenario {
    pub(super) fn names_of_facilities(&self) -> Vec<&str> {
        self.coupling_facility.iter().map(|one| one.name.as_str()).collect()
    }

    pub(super) fn check_coupling(&self) -> Checked {
        different("coupling_facility", "coupling facility", self.names_of_facilities().into_iter())?;
        for (at, facility) in self.coupling_facility.iter().enumerate() {
            let path = format!("coupling_facility[{at}].");
            number(&path, "engines", facility.engines.into(), false)?;
            at_most(&path, "engines", facility.engines, MOST_ENGINES)?;
            number(&path, "speed", facility.speed, false)?;
            between(&path, "speed", facility.speed, SPEEDS.0, SPEEDS.1)?;
            times(&path, MOST_SERVICE, &[("link", facility.link)])?;
            number(&path, "distance_km", facility.distance_km, true)?;
            between(&path, "distance_km", facility.distance_km, 0.0, MOST_KILOMETRES)?;
            number(&path, "subchannels", facility.subchannels.into(), false)?;
            at_most(&path, "subchannels", facility.subchannels, MOST_SUBCHANNELS)?;
        }
        let costs = &self.coupling;
        let paths = [
            ("lock_us", costs.lock_us),
            ("read_us", costs.read_us),
            ("page_us", costs.page_us),
            ("list_us", costs.list_us),
            ("list_page_us", costs.list_page_us),
            ("sync_host_us", costs.sync_host_us),
            ("async_host_us", costs.async_host_us),
            ("convert_above_us", costs.convert_above_us),
            ("contention_host_us", costs.contention_host_us),
            ("rebuild_us", costs.rebuild_us),
        ];
        times("coupling.", MOST_MICROSECONDS, &paths)?;
        let delays = [
            ("async_delay", costs.async_delay),
            ("contention_delay", costs.contention_delay),
            ("rebuild_delay", costs.rebuild_delay),
        ];
        times("coupling.", MOST_SERVICE, &delays)?;
        check_distribution("coupling.distribution", costs.distribution.as_ref())
    }
}
