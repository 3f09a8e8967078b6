//! How busy everything was over the run.

use super::measured::{Resource, Utilisation, VolumeUse};
use super::processors::Processors;
use super::simulation::Simulation;
use crate::kernel::{Time, seconds};

/// Share of use from which on something counts as saturated.
pub(super) const SATURATED: f64 = 0.97;

impl Simulation<'_> {
    /// Begins to measure what is not measured by intervals.
    pub(super) fn measure_utilisations(&mut self, now: Time) {
        for region in &mut self.plex.regions {
            region.qr.begin(now);
            region.used_threads.begin(now);
            region.used_open_tcbs.begin(now);
            region.working_open_tcbs.begin(now);
            region.integrals = [0.0; 4];
        }
        for member in self.plex.groups.iter_mut().flat_map(|group| &mut group.members) {
            member.used_threads.begin(now);
        }
        for system in &mut self.plex.systems {
            for subchannels in &mut system.subchannels {
                subchannels.take_busy();
            }
        }
    }

    /// Utilisations of a run of so many seconds, from its intervals and from what was measured besides them.
    pub(super) fn utilisations(&mut self, length: f64) -> Vec<Utilisation> {
        let mut made = Vec::new();
        let mut note = |resource, name: String, busy: f64, servers: f64| {
            if servers > 0.0 {
                // Service that was asked for may end after the run.
                made.push(Utilisation { resource, name, utilisation: (busy / servers / length).min(1.0) });
            }
        };
        let intervals = &self.results.intervals;
        let now = self.calendar.now();
        let systems = self.scenario.system.len();
        let busy: Vec<[f64; 2]> = (0..systems)
            .map(|at| {
                let of = |take: fn(&super::measured::SystemUse) -> f64| -> f64 {
                    intervals.iter().map(|one| take(&one.systems[at])).sum()
                };
                [of(|one| one.busy), of(|one| one.ziip_busy)]
            })
            .collect();
        for (number, (about, machine)) in self.scenario.cec.iter().zip(&self.plex.machines).enumerate() {
            let images = || self.plex.systems.iter().enumerate().filter(|(_, one)| usize::from(one.machine) == number);
            let of = |kind: usize| images().map(|(at, _)| busy[at][kind]).sum::<f64>();
            let ziips = machine.ziip.as_ref().map_or(0, Processors::engines);
            note(Resource::Machine, about.name.clone(), of(0), machine.general.engines() as f64);
            note(Resource::MachineZiips, about.name.clone(), of(1), ziips as f64);
        }
        for (about, (image, used)) in self.scenario.system.iter().zip(self.plex.systems.iter().zip(&busy)) {
            let machine = &self.scenario.cec[usize::from(image.machine)];
            let logical = |own: Option<u32>, all: u32| f64::from(own.unwrap_or(all).min(all));
            note(Resource::System, about.name.clone(), used[0], logical(about.engines, machine.engines));
            note(Resource::SystemZiips, about.name.clone(), used[1], logical(about.ziips, machine.ziips));
        }
        for (about, region) in self.scenario.region.iter().zip(&self.plex.regions) {
            note(Resource::QrTcb, about.name.clone(), region.qr.integral(now), 1.0);
            if region.db2.is_some() {
                let used = region.used_threads.integral(now);
                note(Resource::RegionThreads, about.name.clone(), used, f64::from(about.threads));
            }
            if let Some(limit) = region.open_tcbs {
                let used = region.used_open_tcbs.integral(now);
                note(Resource::RegionOpenTcbs, about.name.clone(), used, f64::from(limit));
            }
        }
        let members = self.scenario.db2.iter().zip(&self.plex.groups).flat_map(|(about, group)| {
            about.member.iter().zip(&group.members).map(|(named, member)| (about.log_write, named, member))
        });
        for (at, (write, about, member)) in members.enumerate() {
            let used = member.used_threads.integral(now);
            note(Resource::MemberThreads, about.name.clone(), used, f64::from(about.threads));
            let writes: u64 = intervals.iter().map(|one| one.members[at].log_writes).sum();
            note(Resource::Log, about.name.clone(), writes as f64 * write, 1.0);
        }
        for (at, about) in self.scenario.coupling_facility.iter().enumerate() {
            let busy: f64 = intervals.iter().map(|one| one.facilities[at].busy).sum();
            note(Resource::CouplingFacility, about.name.clone(), busy, f64::from(about.engines));
            for (system, image) in self.scenario.system.iter().zip(&mut self.plex.systems) {
                let busy = seconds(image.subchannels[at].take_busy());
                let name = format!("{} to {}", system.name, about.name);
                note(Resource::Subchannels, name, busy, f64::from(about.subchannels));
            }
        }
        for volume in 0..self.plex.volumes.len() {
            let used = intervals.iter().flat_map(|one| &one.systems).filter_map(|one| one.volumes.get(volume));
            let busy: f64 = used.map(|used: &VolumeUse| used.service).sum();
            note(Resource::Volume, format!("SIM{volume:03}"), busy, f64::from(self.scenario.dasd.parallel));
        }
        made
    }
}
