//! Tells callers of damage that the last verification of the log found.

use super::Context;
use teamlog_team::integrity::verify::VerifyLast;
use teamlog_team::shell::quoted;

impl Context {
    /// Returns a sentence if the last verification of the log found damage. Reads the small file with the result of that verification,
    /// and no events. If the file cannot be read, returns `None`.
    pub fn damage(&mut self, team: &str) -> Option<String> {
        let last = self.read(team, VerifyLast {}).ok()?;
        let is_damaged = last.ok == Some(false);
        let found = last.finished_at.filter(|_| is_damaged)?;
        let first = last
            .problems
            .first()
            .map(|problem| format!(": {}", problem.message));
        let first = first.unwrap_or_default();
        let command = self.command(&format!("verify {}", quoted(team)));
        Some(format!(
            "the log of team {team} is damaged (verified at {found}){first}. Check it: {command}"
        ))
    }
}
