//! `convert`: the same history in the other format, in place.

use crate::operation::prelude::*;
use crate::time::millis;
use teamlog_engine::Size;

/// `{status, team, format, events, groups, from, to, archive, original_receipt, …}`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ConvertAnswer {
    /// `converted`, or `unchanged` where the log has that format already.
    #[schemars(extend("enum" = ["converted", "unchanged"]))]
    pub status: &'static str,
    /// The team.
    pub team: String,
    /// The format now.
    pub format: &'static str,
    /// Events copied; one more says that the log was converted.
    pub events: u64,
    /// Groups copied.
    pub groups: u64,
    /// The log before; `null` where nothing was converted.
    pub from: Option<Size>,
    /// The log now.
    pub to: Option<Size>,
    /// Where the original lies, relative to the team's directory.
    pub archive: Option<String>,
    /// The last receipt of the original.
    pub original_receipt: Option<Receipt>,
    /// Digest of the state, which is that of before.
    pub state_digest: Option<String>,
    /// How long it took.
    pub elapsed_ms: u64,
}

impl Team {
    /// Converts the log, under its lock; whole-log work. What is derived is built anew.
    pub fn convert(&mut self, format: Format) -> Result<ConvertAnswer> {
        let started = Instant::now();
        // Recovers, and says so.
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
