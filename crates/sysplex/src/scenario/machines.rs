//! Machines, z/OS images and disks.

use serde::Deserialize;

use super::Scenario;
use super::checks::{
    Checked, MOST_MICROSECONDS, MOST_SERVICE, at_most, between, different, known, number, share, some, times, wrong,
};
use super::defaults as default;
use super::distribution::{Distribution, check_distribution};

/// z/OS images of a sysplex.
const MOST_SYSTEMS: usize = 32;
/// Engines of a kind of a machine: more than any has had.
pub(super) const MOST_ENGINES: u32 = 256;
/// Speeds against that of the scenario's processor times.
pub(super) const SPEEDS: (f64, f64) = (0.001, 1000.0);
/// Device numbers from X'1000' to X'FFFF', and requests to one of them at a time.
const MOST_VOLUMES: u32 = 61_440;
const MOST_PARALLEL: u32 = 256;

/// A machine.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cec {
    /// Name.
    pub name: String,
    /// General engines.
    pub engines: u32,
    /// zIIPs.
    #[serde(default)]
    pub ziips: u32,
    /// Speed of a general engine; processor times of the scenario are those of speed 1.
    #[serde(default = "default::one")]
    pub speed: f64,
    /// Speed of a zIIP.
    #[serde(default = "default::one")]
    pub ziip_speed: f64,
}

/// A z/OS image.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct System {
    /// SMF id.
    pub name: String,
    /// Machine that it runs on.
    pub cec: String,
    /// Logical general engines; all of the machine by default.
    #[serde(default)]
    pub engines: Option<u32>,
    /// Logical zIIPs; all of the machine by default.
    #[serde(default)]
    pub ziips: Option<u32>,
    /// Weight among the images of the machine, when they want more than it has.
    #[serde(default = "default::weight")]
    pub weight: f64,
    /// What managing the partition adds to all processor time, as a share.
    #[serde(default)]
    pub lpar_overhead: f64,
    /// Processor time that PR/SM spends on managing the partition, as a share of what the partition gets: engines are
    /// busy with it, no address space has it, and SMF 70-1 shows it as the difference of dispatch times.
    #[serde(default)]
    pub lpar_management: f64,
    /// Processor time that z/OS attributes to no address space (interruptions, dispatching, paging), as a share of what
    /// it attributes: engines are busy with it, and the capture ratio is 1 / (1 + `uncaptured`). Source: a measured
    /// capture ratio (SMF 72-3 against 70-1). The study of 1996 (table 8, last column) has 1.2 to 1.5 points of z/OS
    /// beyond CICS and Db2 in what data sharing adds.
    #[serde(default)]
    pub uncaptured: f64,
    /// Microseconds that work takes longer after each dispatch on an engine, until the caches hold its instructions and
    /// data again: cycles per instruction grow with dispatches. No published value: measure cycles per instruction (SMF
    /// 113) at two rates of dispatches.
    #[serde(default)]
    pub dispatch_refill_us: f64,
    /// Microseconds that all work of the image together takes longer after each request to a coupling facility: whatever
    /// runs next pays, as it fills the caches again. Source: none that is direct. In the study of 1996 172 microseconds of
    /// its engines (19.4 MIPS) are equal to the 5 % of application time of table 8.
    #[serde(default)]
    pub request_refill_us: f64,
    /// Microseconds of work after which two thirds of that are paid.
    #[serde(default = "default::refill_time_us")]
    pub refill_time_us: f64,
    /// Whether eligible work may run on general engines when zIIPs are busy (IIPHONORPRIORITY).
    #[serde(default = "default::yes")]
    pub honor_priority: bool,
    /// Seconds that eligible work waits for a zIIP before general engines help (ZIIPAWMT).
    #[serde(default = "default::ziip_wait")]
    pub ziip_wait: f64,
}

/// Disks.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Dasd {
    /// Volumes that page sets are spread over.
    pub volumes: u32,
    /// Share of reads that the cache of the control unit answers.
    pub cache_hits: f64,
    /// Seconds of a read from the cache.
    pub hit_time: f64,
    /// Seconds of a read from the disk.
    pub miss_time: f64,
    /// Seconds to transfer a further page of the same request.
    pub page_time: f64,
    /// Of a read or write, seconds until the control unit begins with it (pending time); part of `hit_time`.
    pub pending_time: f64,
    /// Distribution of the time of a read or write; constant for each of cache and disk by default.
    pub distribution: Option<Distribution>,
    /// Requests to one volume that run at the same time (parallel access volumes).
    pub parallel: u32,
}

/// A data set that CICS programs read and write themselves, not by Db2: a VSAM file of a region.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataSet {
    /// Name.
    pub name: String,
    /// Numbers of the volumes that it is spread over, from 0.
    pub volumes: Vec<u32>,
}

impl Scenario {
    /// Volumes of a data set or page set are there, each once.
    pub(super) fn check_volumes(&self, path: &str, volumes: &[u32]) -> Checked {
        different(&format!("{path}volumes"), "volume", volumes.iter())?;
        match volumes.iter().position(|&volume| volume >= self.dasd.volumes) {
            None => Ok(()),
            Some(at) => {
                let what = format!("there is no volume {}", volumes[at]);
                let remedy = format!("give 0 to {}, or raise dasd.volumes", self.dasd.volumes.saturating_sub(1));
                wrong(format!("{path}volumes[{at}]"), what, remedy)
            }
        }
    }

    pub(super) fn check_machines(&self) -> Checked {
        different("cec", "machine", self.cec.iter().map(|one| one.name.as_str()))?;
        different("system", "system", self.system.iter().map(|one| one.name.as_str()))?;
        if self.system.len() > MOST_SYSTEMS {
            let what = format!("{} systems are not possible, a sysplex has {MOST_SYSTEMS} at most", self.system.len());
            return wrong(format!("system[{MOST_SYSTEMS}]"), what, "leave some out");
        }
        for (at, cec) in self.cec.iter().enumerate() {
            let path = format!("cec[{at}].");
            number(&path, "engines", cec.engines.into(), false)?;
            at_most(&path, "engines", cec.engines, MOST_ENGINES)?;
            at_most(&path, "ziips", cec.ziips, MOST_ENGINES)?;
            number(&path, "speed", cec.speed, false)?;
            number(&path, "ziip_speed", cec.ziip_speed, false)?;
            between(&path, "speed", cec.speed, SPEEDS.0, SPEEDS.1)?;
            between(&path, "ziip_speed", cec.ziip_speed, SPEEDS.0, SPEEDS.1)?;
        }
        let cecs: Vec<&str> = self.cec.iter().map(|one| one.name.as_str()).collect();
        for (at, system) in self.system.iter().enumerate() {
            let path = format!("system[{at}].");
            known(format!("{path}cec"), &system.cec, "machine", &cecs)?;
            number(&path, "weight", system.weight, false)?;
            number(&path, "lpar_overhead", system.lpar_overhead, true)?;
            between(&path, "lpar_overhead", system.lpar_overhead, 0.0, 10.0)?;
            for (key, value) in [("lpar_management", system.lpar_management), ("uncaptured", system.uncaptured)] {
                number(&path, key, value, true)?;
                between(&path, key, value, 0.0, 10.0)?;
            }
            let refills =
                [("dispatch_refill_us", system.dispatch_refill_us), ("request_refill_us", system.request_refill_us)];
            number(&path, "refill_time_us", system.refill_time_us, false)?;
            between(&path, "refill_time_us", system.refill_time_us, 0.001, MOST_MICROSECONDS)?;
            times(&path, MOST_MICROSECONDS, &refills)?;
            times(&path, MOST_SERVICE, &[("ziip_wait", system.ziip_wait)])?;
            number(&path, "engines", system.engines.unwrap_or(1).into(), false)?;
            if let Some(cec) = self.cec.iter().find(|one| one.name == system.cec) {
                for (key, own, all) in [("engines", system.engines, cec.engines), ("ziips", system.ziips, cec.ziips)] {
                    if own.is_some_and(|own| own > all) {
                        let what = format!("machine {} has {all}", cec.name);
                        return wrong(format!("{path}{key}"), what, format!("give {all} or less"));
                    }
                }
            }
        }
        Ok(())
    }

    pub(super) fn check_dasd(&self) -> Checked {
        different("data_set", "data set", self.data_set.iter().map(|one| one.name.as_str()))?;
        for (at, one) in self.data_set.iter().enumerate() {
            some(&format!("data_set[{at}].volumes"), one.volumes.len(), "volume")?;
            self.check_volumes(&format!("data_set[{at}]."), &one.volumes)?;
        }
        number("dasd.", "volumes", self.dasd.volumes.into(), false)?;
        at_most("dasd.", "volumes", self.dasd.volumes, MOST_VOLUMES)?;
        number("dasd.", "parallel", self.dasd.parallel.into(), false)?;
        at_most("dasd.", "parallel", self.dasd.parallel, MOST_PARALLEL)?;
        share("dasd.", "cache_hits", self.dasd.cache_hits)?;
        let dasd = &self.dasd;
        let services = [("hit_time", dasd.hit_time), ("miss_time", dasd.miss_time), ("page_time", dasd.page_time)];
        times("dasd.", MOST_SERVICE, &services)?;
        times("dasd.", MOST_SERVICE, &[("pending_time", dasd.pending_time)])?;
        check_distribution("dasd.distribution", dasd.distribution.as_ref())
    }
}
