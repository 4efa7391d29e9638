//! Counters of a writer, for monitoring a long-lived process.

use std::time::Duration;

/// Upper bounds of the classes of [`WriterCounts::jobs_of_groups`], in jobs per group. One more class holds larger groups.
pub const JOBS_OF_GROUPS: [usize; 8] = [1, 2, 4, 8, 16, 32, 64, 128];

/// Counters of a writer since its creation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WriterCounts {
    /// Number of groups; each group is one write and one sync.
    pub groups: u64,
    /// Number of jobs in all groups.
    pub jobs: u64,
    /// Number of events in all groups.
    pub events: u64,
    /// Number of bytes of all groups.
    pub bytes: u64,
    /// Time for writes and syncs, in microseconds.
    pub written_micros: u64,
    /// Number of groups in each class of [`JOBS_OF_GROUPS`]. The jobs in a group decide its class.
    pub jobs_of_groups: [u64; JOBS_OF_GROUPS.len() + 1],
}

impl WriterCounts {
    pub(super) fn group(&mut self, jobs: usize, events: usize, bytes: usize, took: Duration) {
        self.groups += 1;
        self.jobs += jobs as u64;
        self.events += events as u64;
        self.bytes += bytes as u64;
        self.written_micros += u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let place = JOBS_OF_GROUPS.partition_point(|most| *most < jobs);
        if let Some(count) = self.jobs_of_groups.get_mut(place) {
            *count += 1;
        }
        debug_assert_eq!(
            self.jobs_of_groups.iter().sum::<u64>(),
            self.groups,
            "each group must be counted once"
        );
    }

    /// Adds the counts of another writer.
    pub fn add(&mut self, other: WriterCounts) {
        self.groups += other.groups;
        self.jobs += other.jobs;
        self.events += other.events;
        self.bytes += other.bytes;
        self.written_micros += other.written_micros;
        for (sum, more) in self.jobs_of_groups.iter_mut().zip(other.jobs_of_groups) {
            *sum += more;
        }
    }
}
