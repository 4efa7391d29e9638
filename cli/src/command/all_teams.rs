//! Runs a command on every team of the data root. If one team fails, the other teams are still processed.

use crate::command::prelude::*;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// Teams that are not closed.
    Open,
    All,
}

/// Answers of all teams: `{status, teams[], failed[]}`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AllTeams_{A}")]
pub struct AllAnswer<A> {
    /// `ok`, or `partial` if a team failed.
    #[schemars(extend("enum" = ["ok", "partial"]))]
    pub status: &'static str,
    /// Answers of the teams that succeeded, sorted by team name.
    pub teams: Vec<A>,
    /// Teams that failed.
    pub failed: Vec<FailedTeam>,
}

/// A team that failed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FailedTeam {
    /// Name of the team.
    pub team: String,
    /// Code of the team's error.
    pub code: String,
    /// Message of the team's error.
    pub message: String,
}

impl<A> AllAnswer<A> {
    /// Runs the command on each team in turn.
    pub fn collect(
        context: &mut Context,
        which: Which,
        mut ask: impl FnMut(&mut Context, &str) -> Result<A, CommandError>,
    ) -> Result<AllAnswer<A>, CommandError> {
        let mut all = AllAnswer {
            status: "ok",
            teams: Vec::new(),
            failed: Vec::new(),
        };
        let root = context.data()?;
        for name in root.teams()? {
            if which == Which::Open && root.is_closed(&name) {
                continue;
            }
            let asked = ask(context, &name);
            let left = context.leave_team();
            match asked.and_then(|answer| left.map(|()| answer)) {
                Ok(answer) => all.teams.push(answer),
                Err(error) => all.failed.push(FailedTeam {
                    team: name,
                    code: error.code().to_owned(),
                    message: error.message().to_owned(),
                }),
            }
        }
        if !all.failed.is_empty() {
            all.status = "partial";
        }
        Ok(all)
    }

    /// Returns `failed` if a team failed or if `sound` is false; else the exit code of success.
    pub fn exit(&self, failed: Exit, sound: bool) -> Exit {
        failed.unless(sound && self.failed.is_empty())
    }

    /// Renders each team's answer with `one`, then the failures.
    pub fn shown(&self, view: &View, one: impl Fn(&A, &View) -> Vec<String>) -> Vec<String> {
        let mut shown: Vec<String> = self
            .teams
            .iter()
            .flat_map(|answer| one(answer, view))
            .collect();
        shown.extend(self.failed.iter().map(|failed| {
            let word = view.paint.show(Style::Bad, "failed");
            let (team, why) = (visible(&failed.team), visible(&failed.message));
            format!("{team}: {word}: {why}")
        }));
        if shown.is_empty() {
            shown.push("there is no team to do this for".to_owned());
        }
        shown
    }
}
