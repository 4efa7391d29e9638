//! `usage series`: tokens over time, by agent or by task. The index has no usage reports, so the operation reads all events
//! between the two times, but no other events.

use crate::log::replay::Replay;
use crate::operation::prelude::*;
use crate::projections::usage::event::UsageReported;
use std::cmp::Reverse;

operation! {
    /// Read the tokens used over time, by agent or by task; reads all events between the two times
    "read-usage-series": Reads(UsageSeries {
        /// Start of the series, ISO 8601; one day before the end if absent
        from: Option<String>,
        /// End of the series, ISO 8601; now if absent
        to: Option<String>,
        /// Number of equal time spans, 1 to 500; 60 if absent
        #[schemars(range(min = 1, max = 500))]
        buckets: Option<usize>,
        /// Grouping of the tokens; by agent if absent
        by: Option<By>,
    }) -> UsageSeriesAnswer = |team, asked| team.usage_series(&asked)
}

/// Default number of buckets.
const BUCKETS: usize = 60;
const BUCKETS_MAX: usize = 500;
/// Maximum number of series in the answer. Further series are added up as `others`.
const SERIES_MAX: usize = 100;
const DAY_MICROS: i64 = 86_400_000_000;

words! {
    /// Grouping of the series
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum By {
        /// One series per agent
        Agent = "agent",
        /// One series per task; tokens without a task are left out
        Task = "task",
    }
}

/// The answer `{team, from, to, bucket_ms, series, others?}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UsageSeriesAnswer {
    /// Name of the team
    pub team: String,
    /// Start of the first bucket
    pub from: Timestamp,
    /// End of the series
    pub to: Timestamp,
    /// Length of a bucket, in milliseconds
    pub bucket_ms: u64,
    /// The 100 largest series, by name
    pub series: Vec<Series>,
    /// Sum of all further series per bucket; absent if there are none
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<u64>,
}

/// Tokens of an agent or a task over time
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// Name of the agent or id of the task
    pub name: String,
    /// Tokens per bucket
    pub tokens: Vec<u64>,
}

impl Team {
    /// Returns tokens over time.
    pub fn usage_series(&mut self, asked: &UsageSeries) -> Result<UsageSeriesAnswer> {
        let buckets = page::within("buckets", asked.buckets, BUCKETS, BUCKETS_MAX)?;
        let to = time("to", asked.to.as_ref())?.unwrap_or_else(|| self.now());
        let from = time("from", asked.from.as_ref())?;
        let from = from.unwrap_or_else(|| to.plus_micros(-DAY_MICROS));
        let span = to.micros() - from.micros();
        if span <= 0 {
            let rule = format!("must be before {to}");
            return Err(Refusal::invalid("from", from, rule).into());
        }
        let count = i64::try_from(buckets).unwrap_or(1);
        // Rounds up to whole milliseconds, so the last bucket can end after `to`.
        let bucket_ms = (span + count * 1_000 - 1) / (count * 1_000);
        let by = asked.by.unwrap_or(By::Agent);
        let between = Replay {
            since: Some(from),
            until: Some(to),
            kind: Some("usage_reported".to_owned()),
            ..Replay::default()
        };
        let mut found = BTreeMap::<String, Vec<u64>>::new();
        self.replay(between, &mut |event, _| {
            let reported = serde_json::from_str::<UsageReported>(&event.payload).ok();
            let Some(reported) = reported.filter(|_| !event.foreign) else {
                return ControlFlow::Continue(());
            };
            let name = match by {
                By::Agent => Some(reported.worker),
                By::Task => reported.task_id,
            };
            let since = event.created_at.micros() - from.micros();
            let at = usize::try_from(since / (bucket_ms * 1_000)).unwrap_or(0);
            if let Some(name) = name {
                let tokens = found.entry(name).or_insert_with(|| vec![0; buckets]);
                if let Some(sum) = tokens.get_mut(at.min(buckets - 1)) {
                    *sum = sum.saturating_add(reported.tokens);
                }
            }
            ControlFlow::Continue(())
        })?;
        let (series, others) = told_apart(found, buckets);
        Ok(UsageSeriesAnswer {
            team: self.name().to_owned(),
            from,
            to,
            bucket_ms: u64::try_from(bucket_ms).unwrap_or(0),
            series,
            others,
        })
    }
}

fn time(field: &'static str, text: Option<&String>) -> Result<Option<Timestamp>, Refusal> {
    let parsed = |text: &String| {
        let rule = "must be an ISO 8601 time";
        Timestamp::parse(text).map_err(|_| Refusal::invalid(field, text, rule))
    };
    text.map(parsed).transpose()
}

/// Returns the largest series, ordered by name, and the sum of the other series.
fn told_apart(found: BTreeMap<String, Vec<u64>>, buckets: usize) -> (Vec<Series>, Vec<u64>) {
    let all = found.into_iter();
    let mut series: Vec<Series> = all.map(|(name, tokens)| Series { name, tokens }).collect();
    if series.len() <= SERIES_MAX {
        return (series, Vec::new());
    }
    let sum = |sum: u64, tokens: &u64| sum.saturating_add(*tokens);
    let total = |one: &Series| one.tokens.iter().fold(0, sum);
    series.sort_by_key(|one| Reverse(total(one)));
    let mut others = vec![0_u64; buckets];
    for one in series.drain(SERIES_MAX..) {
        for (sum, tokens) in others.iter_mut().zip(one.tokens) {
            *sum = sum.saturating_add(tokens);
        }
    }
    series.sort_by(|one, other| one.name.cmp(&other.name));
    (series, others)
}
