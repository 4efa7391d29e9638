//! One command on every team of the data root. A team that fails does not keep the others from theirs.

use crate::command::prelude::*;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// Those that were not closed.
    Open,
    All,
}

/// `{status, teams[], failed[]}`: the answers of all teams.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AllTeams_{A}")]
pub struct AllAnswer<A> {
    /// `ok`, or `partial` where it failed for a team.
    #[schemars(extend("enum" = ["ok", "partial"]))]
    pub status: &'static str,
    /// What each team answered, by their names.
    pub teams: Vec<A>,
    /// The teams that it failed for.
    pub failed: Vec<FailedTeam>,
}

/// A team that it failed for.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FailedTeam {
    /// The team.
    pub team: String,
    /// The code of the error.
    pub code: String,
    /// Why.
    pub message: String,
}

impl<A> AllAnswer<A> {
    /// Asks each team in turn.
    pub fn of(
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

    /// How it ends: with `failed` where it failed for a team, or what they answered is not `sound`.
    pub fn exit(&self, failed: Exit, sound: bool) -> Exit {
        failed.unless(sound && self.failed.is_empty())
    }

    /// The answers as each team's own command shows them, then what failed.
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
