//! Machines, z/OS images and disks.

use serde::Deserialize;

use super::Scenario;
use super::checks::{Checked, different, known, number, share, wrong};
use super::defaults as default;

/// z/OS images of a sysplex.
const MOST_SYSTEMS: usize = 32;

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
    /// Requests to one volume that run at the same time (parallel access volumes).
    pub parallel: u32,
}

impl Scenario {
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
            number(&path, "speed", cec.speed, false)?;
            number(&path, "ziip_speed", cec.ziip_speed, false)?;
        }
        let cecs: Vec<&str> = self.cec.iter().map(|one| one.name.as_str()).collect();
        for (at, system) in self.system.iter().enumerate() {
            let path = format!("system[{at}].");
            known(format!("{path}cec"), &system.cec, "machine", &cecs)?;
            number(&path, "weight", system.weight, false)?;
            number(&path, "lpar_overhead", system.lpar_overhead, true)?;
            number(&path, "ziip_wait", system.ziip_wait, true)?;
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
        number("dasd.", "volumes", self.dasd.volumes.into(), false)?;
        number("dasd.", "parallel", self.dasd.parallel.into(), false)?;
        share("dasd.", "cache_hits", self.dasd.cache_hits)?;
        number("dasd.", "hit_time", self.dasd.hit_time, true)?;
        number("dasd.", "miss_time", self.dasd.miss_time, true)?;
        number("dasd.", "page_time", self.dasd.page_time, true)
    }
}
