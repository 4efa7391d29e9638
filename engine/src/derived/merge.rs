//! Merging: a store with more runs than [`RUNS_MAX`] merges its newest runs into one run.
//!
//! The levels of the runs, which never rise from older to newer runs, decide how many runs are merged. The merge takes runs from
//! the newest on until the next older run has a higher level than all merged runs. The result has the highest merged level plus
//! one. So the oldest run on level L consists of C(L + 8, 8) small runs, and L grows like the eighth root of the log. A key is
//! written about 5 times after a thousand small runs and 13 times after 300,000, close to the minimum for eight runs (Bentley and
//! Saxe, "Decomposable searching problems", 1980: the binomial transform). A tombstone stays while an older run could hold an
//! entry of its key.

use super::filter::FilterBuilder;
use super::run::Run;
use super::scan::Walk;
use super::store::{RUNS_MAX, Store, WAITING_RUNS_MAX};
use crate::prelude::*;

impl Store {
    /// Merges the newest runs if there are more than `RUNS_MAX`. Postpones a merge of more than `bytes_max` bytes until there are
    /// more than `WAITING_RUNS_MAX` runs. Returns `None` if there is nothing to merge, or if [`Store::write`] would return
    /// `None`.
    pub fn merge(&self, bytes_max: u64) -> Result<Option<Store>> {
        let Some(_turn) = self.lock()? else {
            return Ok(None);
        };
        let runs = self.in_use();
        let sizes: Vec<Size> = runs
            .iter()
            .map(|run| (run.meta().level, run.meta().len))
            .collect();
        match first_merged(&sizes, bytes_max) {
            Some(first) => self.merge_range(first..runs.len()).map(Some),
            None => Ok(Some(self.clone())),
        }
    }
    /// Merges all runs into one run. Returns `None` if [`Store::write`] would return `None`.
    pub fn merge_all(&self) -> Result<Option<Store>> {
        let Some(_turn) = self.lock()? else {
            return Ok(None);
        };
        let count = self.in_use().len();
        if count < 2 {
            return Ok(Some(self.clone()));
        }
        self.merge_range(0..count).map(Some)
    }

    fn merge_range(&self, range: Range<usize>) -> Result<Store> {
        let mut runs = self.in_use().to_vec();
        let inputs: Vec<Arc<Run>> = runs.drain(range.clone()).collect();
        let (Some(first), Some(last)) = (inputs.first(), inputs.last()) else {
            return Ok(self.clone());
        };
        assert!(
            inputs.len() > 1,
            "{} runs from seq {} on are not to be merged",
            inputs.len(),
            first.meta().first_seq
        );
        let (first_seq, last) = (first.meta().first_seq, last.meta().last);
        let level = inputs.iter().map(|run| run.meta().level).max().unwrap_or(0);
        let level = level.saturating_add(1);
        let at = range.start;
        let keys = inputs.iter().map(|run| run.shape().filter_keys).sum();
        let range = (first_seq, last, level);
        let merged = self.build(range, FilterBuilder::sized(keys), |builder| {
            for run in &inputs {
                run.open()?;
                run.read_in_order();
                for seq in run.meta().first_seq..=run.meta().last.seq {
                    builder.place(&run.place(seq)?)?;
                }
            }
            let mut walk = Walk::everything(&inputs)?;
            while walk.step()? {
                let value = walk.value();
                if value.is_some() || at > 0 {
                    builder.entry(walk.key(), value)?;
                }
            }
            Ok(())
        })?;
        runs.insert(at, merged);
        self.publish(runs)
    }
}

/// Level and bytes of a run.
type Size = (u8, u64);

/// Returns the index of the first run to merge; `runs` begins with the oldest run. Returns `None` if there are few enough runs,
/// or if the merge is too large for now.
fn first_merged(runs: &[Size], bytes_max: u64) -> Option<usize> {
    if runs.len() <= RUNS_MAX {
        return None;
    }
    let (older, newer) = runs.split_at(RUNS_MAX - 1);
    let highest = newer.iter().map(|(level, _)| *level).max();
    let higher = older.iter().rposition(|(level, _)| Some(*level) > highest);
    let first = higher.map_or(0, |at| at + 1);
    let bytes: u64 = runs.iter().skip(first).map(|(_, bytes)| bytes).sum();
    (bytes <= bytes_max || runs.len() > WAITING_RUNS_MAX).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::super::store::level_of;
    use super::*;

    /// Cost of a long history of flushes.
    #[derive(Default)]
    struct Cost {
        runs_max: usize,
        flushed: u64,
        written: u64,
        /// Number of merges of more than a million events.
        large_merges: u64,
    }

    /// Bytes of a run for each event.
    const EVENT_BYTES: u64 = 54;

    fn history(
        runs: &mut Vec<(u64, u8)>,
        flushes: impl Iterator<Item = u64>,
        bytes_max: u64,
    ) -> Cost {
        let mut cost = Cost::default();
        for events in flushes {
            runs.push((events, level_of(events)));
            cost.flushed += events;
            cost.written += events;
            let size = |(events, level): &(u64, u8)| (*level, events * EVENT_BYTES);
            let sizes: Vec<Size> = runs.iter().map(size).collect();
            if let Some(first) = first_merged(&sizes, bytes_max) {
                let merged: u64 = runs.iter().skip(first).map(|(events, _)| events).sum();
                let levels = runs.iter().skip(first).map(|(_, level)| *level);
                let level = levels.max().unwrap_or(0) + 1;
                runs.truncate(first);
                runs.push((merged, level));
                cost.written += merged;
                cost.large_merges += u64::from(merged > 1_000_000);
            }
            cost.runs_max = cost.runs_max.max(runs.len());
        }
        cost
    }

    #[test]
    fn eight_runs_suffice_for_ten_million_events_of_one_shot_commands() {
        let cost = history(&mut Vec::new(), std::iter::repeat_n(33, 310_000), u64::MAX);
        assert_eq!(cost.runs_max, RUNS_MAX);
        assert!(
            cost.written < 14 * cost.flushed,
            "{} events written",
            cost.written
        );
        assert!(cost.large_merges <= 10, "{}", cost.large_merges);
    }

    #[test]
    fn large_merges_wait_for_somebody_with_time_until_there_are_sixteen_runs() {
        let mut runs = Vec::new();
        let cost = history(&mut runs, std::iter::repeat_n(33, 310_000), 16 << 20);
        assert_eq!(cost.runs_max, WAITING_RUNS_MAX);
        assert!(
            cost.written < 14 * cost.flushed,
            "{} events written",
            cost.written
        );
        assert!(cost.large_merges > 0);
        let waiting: Vec<Size> = vec![(3, 16 << 20); 16];
        assert_eq!(first_merged(&waiting, 16 << 20), None);
        assert_eq!(first_merged(&waiting, u64::MAX), Some(0));
        assert_eq!(first_merged(&[(3, 16 << 20); 17], 16 << 20), Some(0));
    }

    #[test]
    fn runs_of_any_size_stay_few_and_are_seldom_written_again() {
        let sizes = [33, 40, 513, 33, 64, 20_000, 1].into_iter().cycle();
        let cost = history(&mut Vec::new(), sizes.take(20_000), u64::MAX);
        assert_eq!(cost.runs_max, RUNS_MAX);
        assert!(
            cost.written < 20 * cost.flushed,
            "{} events written",
            cost.written
        );
    }

    #[test]
    fn a_run_of_ten_million_events_stays_as_it_is_while_few_follow() {
        let mut runs = vec![(10_000_000, level_of(10_000_000))];
        let cost = history(&mut runs, std::iter::repeat_n(33, 30_000), u64::MAX);
        assert_eq!(cost.large_merges, 0);
        assert_eq!(runs.first().map(|(events, _)| *events), Some(10_000_000));
    }

    #[test]
    fn many_runs_of_an_older_version_become_few_at_once() {
        let first = |levels: &[u8]| {
            let sizes: Vec<Size> = levels.iter().map(|level| (*level, 1)).collect();
            first_merged(&sizes, u64::MAX)
        };
        let mut levels = vec![4, 4, 4];
        levels.extend([3; 100]);
        levels.extend([0; 55]);
        assert_eq!(first(&levels), Some(3));
        assert_eq!(first(&[3; 158]), Some(0));
        assert_eq!(first(&[9, 8, 7, 6, 5, 4, 3, 2, 9]), Some(0));
    }
}
