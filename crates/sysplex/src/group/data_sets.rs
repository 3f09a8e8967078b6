//! Data sets on their volumes: where pages and records are, and what each job reads and writes there.

use std::collections::BTreeMap;

use super::measured::{DataSetUse, VolumeUse};
use super::plex::Kind;
use super::simulation::Simulation;
use super::task::Extent;
use crate::scenario::Scenario;

/// A job: database services of a group's member, or a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Job {
    /// Group, number of the member, page set.
    Member(u16, u8, u32),
    /// Region, data set.
    Region(u16, u16),
}

/// Requests by job with its data set, and volume. Page sets without volumes of their own are not counted.
pub(super) type DataSets = BTreeMap<(Job, u32), VolumeUse>;

/// Volume of a page: a page set is spread over its volumes, or over all of them.
pub(super) fn volume_of(of: &[u32], page_set: u32, page: u64, volumes: u32) -> u32 {
    // Runs of pages lie together: a cylinder of 180 pages.
    if of.is_empty() {
        return ((u64::from(page_set) * 7 + page / 180) % u64::from(volumes)) as u32;
    }
    of[(page / 180 % of.len() as u64) as usize]
}

impl Kind {
    /// I/Os of one of so many parts of a transaction's work in its region: volume and data set of each.
    pub(super) fn files_between(&mut self, parts: u32, scenario: &Scenario) -> Vec<(u32, u16)> {
        let mut made = Vec::new();
        for &(file, ios) in &self.files {
            let mean = ios / f64::from(parts);
            let count = mean.floor() as u64 + u64::from(self.stream.unit() < mean.fract());
            let volumes = &scenario.data_set[usize::from(file)].volumes;
            made.extend((0..count).map(|_| (volumes[self.stream.below(volumes.len() as u64) as usize], file)));
        }
        made
    }
}

impl Simulation<'_> {
    /// Counts a request of a task's job to a data set.
    pub(super) fn count_data_set(&mut self, number: u32, volume: u32, of: Extent, one: &VolumeUse) {
        let task = &self.tasks[number as usize];
        let job = match of {
            Extent::PageSet(page_set) => {
                let given = &self.plex.groups[usize::from(task.group)].page_sets[page_set as usize].volumes;
                (!given.is_empty()).then_some(Job::Member(task.group, task.member, page_set))
            }
            Extent::File(file) => Some(Job::Region(task.region, file)),
            Extent::Log => None,
        };
        if let Some(job) = job {
            self.data_sets.entry((job, volume)).or_default().add(one);
        }
    }

    /// What was counted since the last time.
    pub(super) fn take_data_sets(&mut self) -> Vec<DataSetUse> {
        let scenario = self.scenario;
        let named = |((job, volume), used)| match job {
            Job::Member(group, member, page_set) => {
                let group = &scenario.db2[usize::from(group)];
                let member = &group.member[usize::from(member)];
                DataSetUse {
                    job: format!("{}DBM1", member.name),
                    group: group.group.clone(),
                    system: member.system.clone(),
                    name: group.page_set[page_set as usize].name.clone(),
                    volume,
                    used,
                }
            }
            Job::Region(region, file) => {
                let region = &scenario.region[usize::from(region)];
                DataSetUse {
                    job: region.name.clone(),
                    group: String::new(),
                    system: region.system.clone(),
                    name: scenario.data_set[usize::from(file)].name.clone(),
                    volume,
                    used,
                }
            }
        };
        std::mem::take(&mut self.data_sets).into_iter().map(named).collect()
    }
}
