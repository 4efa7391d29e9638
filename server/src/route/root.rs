//! All teams at once, for whoever may ask about all of them.

use super::page_session::Nothing;
use super::problem::Problem;
use super::request::RequestContext;
use crate::caller::Reach;
use crate::reply::Reply;
use crate::served::{Condition, DAMAGED, JOURNAL_DAMAGED};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use teamlog_team::api::milliseconds;
use teamlog_team::attention::Attention;
use teamlog_team::engine::Timestamp;
use teamlog_team::projections::Status;
use teamlog_team::{Result, Team};

/// `{teams, count}`.
#[derive(Serialize, JsonSchema)]
pub struct RootTeams {
    /// Those that are served: damaged ones first, then those that cannot be written for another reason, each by name
    teams: Vec<TeamBrief>,
    /// How many
    count: usize,
}

/// A team in a few words.
#[derive(Serialize, JsonSchema)]
pub struct TeamBrief {
    /// Its name
    team: String,
    /// `starting`, `sound` or `unready`
    #[schemars(extend("enum" = ["starting", "sound", "unready"]))]
    condition: &'static str,
    /// The stable word for why it is not sound
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    /// The long form
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    /// What is in it, unless it cannot be read
    #[serde(flatten)]
    counts: Option<Counts>,
}

/// What is in a team.
#[derive(Serialize, JsonSchema)]
struct Counts {
    /// How many members it has
    members: usize,
    /// Tasks by status, every status included
    tasks_by_status: BTreeMap<&'static str, u64>,
    /// Events of the log
    events: u64,
    /// Seq of the last event
    last_seq: u64,
    /// When that was recorded
    #[schemars(with = "Option<Timestamp>")]
    last_event_at: Option<String>,
    /// Open attention items, damage left out: `total` of the list
    attention: usize,
}

/// `GET /v1/root/teams`.
pub fn teams(_: Nothing, request: &mut RequestContext<'_>) -> Result<Reply, Problem> {
    if request.call.caller.reach != Reach::Root {
        let message = "authorization must be the token of runtime.json in the data root, or a page session of all teams";
        let problem = Problem::new("forbidden", message);
        return Err(problem.detail("hint", "teamlog dashboard, where there are several teams"));
    }
    let conditions = request.served.conditions().into_iter();
    let mut teams: Vec<TeamBrief> = conditions
        .map(|(team, condition)| {
            // Why it cannot be read is told by its condition, once that was looked at.
            let counts = request
                .root
                .team(&team)
                .and_then(|mut team| counts(&mut team));
            let (condition, code, why) = words(condition);
            TeamBrief {
                team,
                condition,
                code,
                why,
                counts: counts.ok(),
            }
        })
        .collect();
    // Sorted by name already, and stable.
    teams.sort_by_key(TeamBrief::turn);
    let count = teams.len();
    Ok(Reply::json(
        request.route.status,
        &RootTeams { teams, count },
    ))
}

impl TeamBrief {
    fn turn(&self) -> u8 {
        match (self.condition, self.code) {
            (_, Some(DAMAGED | JOURNAL_DAMAGED)) => 0,
            ("unready", _) => 1,
            _ => 2,
        }
    }
}

fn words(condition: Condition) -> (&'static str, Option<&'static str>, Option<String>) {
    match condition {
        Condition::Starting => ("starting", None, None),
        Condition::Sound => ("sound", None, None),
        Condition::Unready { code, why } => ("unready", Some(code), Some(why)),
    }
}

/// Each number is kept, or counted up to a bound: none of it grows with the log.
fn counts(team: &mut Team) -> Result<Counts> {
    let attention = team.attention(&Attention::default())?.total;
    team.query(|live, reader| {
        let names = Status::ALL.map(Status::name).into_iter();
        Ok(Counts {
            attention,
            members: live.members()?.len(),
            tasks_by_status: names.zip(live.task_counts()?.by_status).collect(),
            events: reader.head().last_seq,
            last_seq: reader.head().last_seq,
            last_event_at: live.last_at().map(milliseconds),
        })
    })
}
