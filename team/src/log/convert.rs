//! `convert`: rewrites a log in place, from `jsonl` to `binary` or from `binary` to `jsonl`.

use crate::operation::prelude::*;
use crate::time::millis;
use teamlog_engine::Size;

/// The answer `{status, team, format, events, groups, from, to, archive, original_receipt, …}`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ConvertAnswer {
    /// `converted`; or `unchanged` if the log already has the format.
    #[schemars(extend("enum" = ["converted", "unchanged"]))]
    pub status: &'static str,
    /// The team.
    pub team: String,
    /// The new format.
    pub format: &'static str,
    /// Number of copied events. The log has one more event, which records the conversion.
    pub events: u64,
    /// Number of copied groups.
    pub groups: u64,
    /// Size of the log before the conversion; `null` if the log was not converted.
    pub from: Option<Size>,
    /// Size of the log after the conversion.
    pub to: Option<Size>,
    /// Directory of the original log, relative to the team's directory.
    pub archive: Option<String>,
    /// Last receipt of the original log.
    pub original_receipt: Option<Receipt>,
    /// Digest of the state. The conversion does not change it.
    pub state_digest: Option<String>,
    /// Duration in milliseconds.
    pub elapsed_ms: u64,
}

impl Team {
    /// Converts the log under its lock, and rebuilds all derived data.
    pub fn convert(&mut self, format: Format) -> Result<ConvertAnswer> {
        let started = Instant::now();
        // Taking the lock recovers the log and adds a note about the recovery.
        drop(self.lock()?);
        let converted = self.alone(|team| Ok(team.log.convert(format)?))?;
        let mut answer = ConvertAnswer {
            status: "unchanged",
            team: self.name().to_owned(),
            format: format.name(),
            ..ConvertAnswer::default()
        };
        if let Some(converted) = converted {
            let log = &self.log;
            let log = Log::open(log.storage().clone(), log.dir(), log.options().clone())?;
            *self = Team::new(log, self.options.clone(), None);
            let rebuilt = self.rehydrate(Default::default(), &mut |_, _| {})?;
            answer.status = "converted";
            (answer.events, answer.groups) = (converted.events, converted.groups);
            answer.archive = Some(converted.archive.to_string_lossy().into_owned());
            (answer.from, answer.to) = (Some(converted.from), Some(converted.to));
            answer.original_receipt = converted.receipt;
            answer.state_digest = Some(rebuilt.state_digest);
        }
        answer.elapsed_ms = millis(started);
        Ok(answer)
    }
}
