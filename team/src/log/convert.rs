//! `convert`: rewrites the log in the other format, in place.

use crate::operation::prelude::*;
use crate::time::millis;
use teamlog_engine::Size;

/// The answer `{status, team, format, events, groups, from, to, archive, original_receipt, …}`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ConvertAnswer {
    /// `converted`, or `unchanged` if the log has that format already.
    #[schemars(extend("enum" = ["converted", "unchanged"]))]
    pub status: &'static str,
    /// The team.
    pub team: String,
    /// The new format.
    pub format: &'static str,
    /// Copied events; the log has one more, which records the conversion.
    pub events: u64,
    /// Copied groups.
    pub groups: u64,
    /// Size of the log before; `null` if it was not converted.
    pub from: Option<Size>,
    /// Size of the log now.
    pub to: Option<Size>,
    /// Directory of the original, relative to the team's directory.
    pub archive: Option<String>,
    /// Last receipt of the original.
    pub original_receipt: Option<Receipt>,
    /// Digest of the state, which the conversion does not change.
    pub state_digest: Option<String>,
    /// Duration in ms.
    pub elapsed_ms: u64,
}

impl Team {
    /// Converts the log under its lock, and builds everything derived anew.
    pub fn convert(&mut self, format: Format) -> Result<ConvertAnswer> {
        let started = Instant::now();
        // Taking the lock recovers the log and notes that.
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
