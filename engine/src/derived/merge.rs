//! Merging: eight neighbouring runs of one level become one of the next.
//!
//! So a key has been rewritten once for each level, and there are at most seven runs to ask on each. A tombstone lives
//! until no older run is left that it could hide something in.

use super::filter::FilterBuilder;
use super::run::Run;
use super::scan::Walk;
use super::store::{FANOUT, RunMeta, Store};
use crate::error::Result;
use std::ops::Range;
use std::sync::Arc;

impl Store {
    /// Merges, lowest level first, as long as there are eight neighbours of one level with together at most `bytes_max`
    /// bytes. `None` as in [`Store::write`].
    pub fn merge(&self, bytes_max: u64) -> Result<Option<Store>> {
        let Some(_turn) = self.lock()? else {
            return Ok(None);
        };
        let mut store = self.clone();
        while let Some(range) = candidates(store.open_runs(), bytes_max) {
            store = store.merge_range(range)?;
        }
        Ok(Some(store))
    }
    /// Merges all runs into one. `None` as in [`Store::write`].
    pub fn merge_all(&self) -> Result<Option<Store>> {
        let Some(_turn) = self.lock()? else {
            return Ok(None);
        };
        let count = self.open_runs().len();
        if count < 2 {
            return Ok(Some(self.clone()));
        }
        self.merge_range(0..count).map(Some)
    }

    fn merge_range(&self, range: Range<usize>) -> Result<Store> {
        let mut runs = self.open_runs().to_vec();
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
        let oldest = range.start == 0;
        let keys = inputs.iter().map(|run| run.filter_keys()).sum();
        let merged = self.build(FilterBuilder::sized(keys), |name, mut builder| {
            for run in &inputs {
                for seq in run.meta().first_seq..=run.meta().last.seq {
                    builder.place(&run.place(seq)?)?;
                }
            }
            let mut walk = Walk::everything(&inputs)?;
            while walk.step()? {
                let value = walk.value();
                if value.is_some() || !oldest {
                    builder.entry(walk.key(), value)?;
                }
            }
            Ok(RunMeta {
                name,
                len: builder.finish(first_seq, last, level)?,
                first_seq,
                last,
                level,
            })
        })?;
        runs.insert(range.start, merged);
        self.publish(runs)
    }
}

/// The oldest eight neighbours of the lowest level that has such, if they are small enough.
fn candidates(runs: &[Arc<Run>], bytes_max: u64) -> Option<Range<usize>> {
    let level = |run: &Arc<Run>| run.meta().level;
    let eligible = runs.windows(FANOUT).enumerate().filter(|(_, window)| {
        let same = window
            .iter()
            .all(|run| Some(level(run)) == window.first().map(level));
        same && window.iter().map(|run| run.meta().len).sum::<u64>() <= bytes_max
    });
    let (start, _) = eligible.min_by_key(|(_, window)| window.first().map(level))?;
    Some(start..start + FANOUT)
}
