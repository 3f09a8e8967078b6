//! Whether the names of a scenario name something and its numbers can be.

use std::collections::BTreeSet;

use super::{Class, Db2, Scenario, ScenarioError};

/// Classes that one class can start.
pub(crate) const MOST_STARTS: usize = 4;

type Checked = Result<(), ScenarioError>;

fn wrong(path: String, what: String, remedy: impl Into<String>) -> Checked {
    Err(ScenarioError { path, what, remedy: remedy.into() })
}

/// A number above zero, or zero too.
fn number(path: &str, key: &str, value: f64, zero: bool) -> Checked {
    if value.is_finite() && (value > 0.0 || (zero && value == 0.0)) {
        return Ok(());
    }
    let remedy = if zero { "give 0 or more" } else { "give more than 0" };
    wrong(format!("{path}{key}"), format!("{value} is not possible"), remedy)
}

fn share(path: &str, key: &str, value: f64) -> Checked {
    if (0.0..=1.0).contains(&value) {
        return Ok(());
    }
    wrong(format!("{path}{key}"), format!("{value} is no share"), "give a number from 0 to 1")
}

fn known(path: String, name: &str, what: &str, names: &[&str]) -> Checked {
    if names.contains(&name) {
        return Ok(());
    }
    let there = if names.is_empty() { "there is none".to_owned() } else { format!("name one of {}", names.join(", ")) };
    wrong(path, format!("there is no {what} {name}"), there)
}

fn different<'a>(path: &str, what: &str, names: impl Iterator<Item = &'a str>) -> Checked {
    let mut seen = BTreeSet::new();
    for (at, name) in names.enumerate() {
        if !seen.insert(name) {
            return wrong(format!("{path}[{at}]"), format!("{what} {name} is there twice"), "give it another name");
        }
    }
    Ok(())
}

fn some(path: &str, count: usize, what: &str) -> Checked {
    if count > 0 {
        return Ok(());
    }
    wrong(path.to_owned(), format!("there is no {what}"), "define at least one")
}

impl Scenario {
    /// Checks names and numbers.
    ///
    /// # Errors
    /// The first that cannot be.
    pub fn check(&self) -> Checked {
        some("cec", self.cec.len(), "machine")?;
        some("system", self.system.len(), "system")?;
        some("class", self.class.len(), "transaction class")?;
        number("run.", "seconds", self.run.seconds, false)?;
        number("run.", "warm_up", self.run.warm_up, true)?;
        number("run.", "interval", self.run.interval, false)?;
        self.check_machines()?;
        self.check_coupling()?;
        for (at, group) in self.db2.iter().enumerate() {
            self.check_group(&format!("db2[{at}]."), group)?;
        }
        self.check_regions()?;
        different("class", "class", self.class.iter().map(|one| one.name.as_str()))?;
        for (at, class) in self.class.iter().enumerate() {
            self.check_class(&format!("class[{at}]."), class)?;
        }
        self.check_dasd()?;
        self.check_failures()
    }

    fn names_of_facilities(&self) -> Vec<&str> {
        self.coupling_facility.iter().map(|one| one.name.as_str()).collect()
    }

    fn check_machines(&self) -> Checked {
        different("cec", "machine", self.cec.iter().map(|one| one.name.as_str()))?;
        different("system", "system", self.system.iter().map(|one| one.name.as_str()))?;
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
        }
        Ok(())
    }

    fn check_coupling(&self) -> Checked {
        different("coupling_facility", "coupling facility", self.names_of_facilities().into_iter())?;
        for (at, facility) in self.coupling_facility.iter().enumerate() {
            let path = format!("coupling_facility[{at}].");
            number(&path, "engines", facility.engines.into(), false)?;
            number(&path, "speed", facility.speed, false)?;
            number(&path, "link", facility.link, true)?;
            number(&path, "distance_km", facility.distance_km, true)?;
            number(&path, "subchannels", facility.subchannels.into(), false)?;
        }
        let costs = &self.coupling;
        for (key, value) in [
            ("lock_us", costs.lock_us),
            ("read_us", costs.read_us),
            ("page_us", costs.page_us),
            ("sync_host_us", costs.sync_host_us),
            ("async_host_us", costs.async_host_us),
            ("async_delay", costs.async_delay),
            ("convert_above_us", costs.convert_above_us),
            ("contention_host_us", costs.contention_host_us),
            ("contention_delay", costs.contention_delay),
        ] {
            number("coupling.", key, value, true)?;
        }
        Ok(())
    }

    fn check_group(&self, path: &str, group: &Db2) -> Checked {
        some(&format!("{path}member"), group.member.len(), "member")?;
        different(&format!("{path}member"), "member", group.member.iter().map(|one| one.name.as_str()))?;
        let systems: Vec<&str> = self.system.iter().map(|one| one.name.as_str()).collect();
        for (at, member) in group.member.iter().enumerate() {
            known(format!("{path}member[{at}].system"), &member.system, "system", &systems)?;
            number(&format!("{path}member[{at}]."), "threads", member.threads.into(), false)?;
        }
        different(&format!("{path}member"), "member on system", group.member.iter().map(|one| one.system.as_str()))?;
        if group.member.len() > 32 {
            return wrong(format!("{path}member"), "a group has 32 members at most".into(), "split the group");
        }
        let facilities = self.names_of_facilities();
        if group.member.len() > 1 && group.lock.is_none() {
            return wrong(
                format!("{path}lock"),
                "a group of several members needs a lock structure".into(),
                "define it",
            );
        }
        if let Some(lock) = &group.lock {
            known(format!("{path}lock.coupling_facility"), &lock.coupling_facility, "coupling facility", &facilities)?;
            number(&format!("{path}lock."), "entries", lock.entries as f64, false)?;
            if let Some(duplex) = &lock.duplex {
                known(format!("{path}lock.duplex"), duplex, "coupling facility", &facilities)?;
            }
        }
        for (at, pool) in group.pool.iter().enumerate() {
            let here = format!("{path}pool[{at}].");
            number(&here, "size", pool.size.into(), false)?;
            if let Some(shared) = &pool.group {
                let facility = &shared.coupling_facility;
                known(format!("{here}group.coupling_facility"), facility, "coupling facility", &facilities)?;
                number(&format!("{here}group."), "data_entries", shared.data_entries.into(), false)?;
                if let Some(duplex) = &shared.duplex {
                    known(format!("{here}group.duplex"), duplex, "coupling facility", &facilities)?;
                }
            }
        }
        different(&format!("{path}page_set"), "page set", group.page_set.iter().map(|one| one.name.as_str()))?;
        for (at, page_set) in group.page_set.iter().enumerate() {
            let here = format!("{path}page_set[{at}].");
            if !group.pool.iter().any(|pool| pool.number == page_set.pool) {
                let numbers: Vec<String> = group.pool.iter().map(|pool| pool.number.to_string()).collect();
                let what = format!("there is no pool {} in group {}", page_set.pool, group.group);
                return wrong(format!("{here}pool"), what, format!("give one of {}", numbers.join(", ")));
            }
            number(&here, "pages", page_set.pages as f64, false)?;
            number(&here, "skew", page_set.skew, true)?;
        }
        share(path, "lock_avoidance", group.lock_avoidance)?;
        number(path, "lock_timeout", group.lock_timeout, false)?;
        number(path, "deadlock_cycle", group.deadlock_cycle, false)?;
        number(path, "pseudo_close", group.pseudo_close, false)?;
        number(path, "log_write", group.log_write, true)
    }

    fn check_regions(&self) -> Checked {
        let systems: Vec<&str> = self.system.iter().map(|one| one.name.as_str()).collect();
        let groups: Vec<&str> = self.db2.iter().map(|one| one.group.as_str()).collect();
        different("region", "region", self.region.iter().map(|one| one.name.as_str()))?;
        for (at, region) in self.region.iter().enumerate() {
            let path = format!("region[{at}].");
            known(format!("{path}system"), &region.system, "system", &systems)?;
            number(&path, "threads", region.threads.into(), false)?;
            if let Some(name) = &region.db2 {
                known(format!("{path}db2"), name, "Db2 group", &groups)?;
                let group = self.db2.iter().find(|one| one.group == *name);
                if !group.is_some_and(|one| one.member.iter().any(|member| member.system == region.system)) {
                    let what = format!("group {name} has no member on system {}", region.system);
                    return wrong(format!("{path}db2"), what, "define one there, or move the region");
                }
            }
        }
        Ok(())
    }

    fn check_class(&self, path: &str, class: &Class) -> Checked {
        let regions: Vec<&str> = self.region.iter().map(|one| one.name.as_str()).collect();
        some(&format!("{path}regions"), class.regions.len(), "region")?;
        for (key, names) in [("terminal_regions", &class.terminal_regions), ("regions", &class.regions)] {
            for (at, name) in names.iter().enumerate() {
                known(format!("{path}{key}[{at}]"), name, "region", &regions)?;
            }
        }
        if class.rate.is_some() && class.users.is_some() {
            return wrong(format!("{path}users"), "a class has a rate or users".into(), "leave one of them out");
        }
        number(path, "rate", class.rate.unwrap_or(0.0), true)?;
        for (key, value) in [("terminal_cpu", class.terminal_cpu), ("cpu", class.cpu), ("db2_cpu", class.db2_cpu)] {
            number(path, key, value, true)?;
        }
        share(path, "ziip_share", class.ziip_share)?;
        number(path, "calls", class.calls.into(), false)?;
        if class.starts.len() > MOST_STARTS {
            let what = format!("a class starts {MOST_STARTS} others at most");
            return wrong(format!("{path}starts[{MOST_STARTS}]"), what, "let one of those start the rest");
        }
        let classes: Vec<&str> = self.class.iter().map(|one| one.name.as_str()).collect();
        for (at, start) in class.starts.iter().enumerate() {
            known(format!("{path}starts[{at}].class"), &start.class, "class", &classes)?;
            number(&format!("{path}starts[{at}]."), "number", start.number, true)?;
        }
        self.check_references(path, class)
    }

    fn check_references(&self, path: &str, class: &Class) -> Checked {
        if class.references.is_empty() {
            return Ok(());
        }
        let mut connected: Option<&str> = None;
        for name in &class.regions {
            let region = self.region.iter().find(|one| one.name == *name);
            let Some(group) = region.and_then(|one| one.db2.as_deref()) else {
                let what = format!("region {name} is not connected to Db2, but the class has references");
                return wrong(format!("{path}regions"), what, "give the region a db2");
            };
            if connected.is_some_and(|other| other != group) {
                let what = "its regions are connected to different groups".to_owned();
                return wrong(format!("{path}regions"), what, "make it two classes");
            }
            connected = Some(group);
        }
        let group = self.db2.iter().find(|one| Some(one.group.as_str()) == connected);
        let page_sets: Vec<&str> =
            group.into_iter().flat_map(|one| &one.page_set).map(|one| one.name.as_str()).collect();
        for (at, references) in class.references.iter().enumerate() {
            let here = format!("{path}references[{at}].");
            known(format!("{here}page_set"), &references.page_set, "page set", &page_sets)?;
            number(&here, "getpages", references.getpages, true)?;
            share(&here, "update", references.update)?;
        }
        Ok(())
    }

    fn check_dasd(&self) -> Checked {
        number("dasd.", "volumes", self.dasd.volumes.into(), false)?;
        number("dasd.", "parallel", self.dasd.parallel.into(), false)?;
        share("dasd.", "cache_hits", self.dasd.cache_hits)?;
        number("dasd.", "hit_time", self.dasd.hit_time, true)?;
        number("dasd.", "miss_time", self.dasd.miss_time, true)?;
        number("dasd.", "page_time", self.dasd.page_time, true)
    }

    fn check_failures(&self) -> Checked {
        let members: Vec<&str> = self.db2.iter().flat_map(|one| &one.member).map(|one| one.name.as_str()).collect();
        for (at, failure) in self.failure.iter().enumerate() {
            let path = format!("failure[{at}].");
            number(&path, "at", failure.at, true)?;
            number(&path, "recovery", failure.recovery, false)?;
            match (&failure.member, &failure.coupling_facility) {
                (Some(name), None) => known(format!("{path}member"), name, "member", &members)?,
                (None, Some(name)) => {
                    known(format!("{path}coupling_facility"), name, "coupling facility", &self.names_of_facilities())?;
                }
                _ => {
                    let what = "one thing fails at a time".to_owned();
                    return wrong(path.trim_end_matches('.').to_owned(), what, "name a member or a coupling facility");
                }
            }
        }
        Ok(())
    }
}
