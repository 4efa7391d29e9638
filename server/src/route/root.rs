//! Overview of all teams, for callers who may use all of them.

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
    /// Served teams: damaged teams first, then other teams that cannot be written, each group sorted by name
    teams: Vec<TeamBrief>,
    /// Number of teams
    count: usize,
}

/// Overview of a team.
#[derive(Serialize, JsonSchema)]
pub struct TeamBrief {
    /// Name of the team
    team: String,
    /// `starting`, `sound` or `unready`
    #[schemars(extend("enum" = ["starting", "sound", "unready"]))]
    condition: &'static str,
    /// Code of the reason for which the team is not sound
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    /// Description of the reason
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    /// Counts; absent if the team cannot be read
    #[serde(flatten)]
    counts: Option<Counts>,
}

/// Counts of a team.
#[derive(Serialize, JsonSchema)]
struct Counts {
    /// Number of members
    members: usize,
    /// Tasks by status, every status included
    tasks_by_status: BTreeMap<&'static str, u64>,
    /// Number of events in the log
    events: u64,
    /// Seq of the last event
    last_seq: u64,
    /// Time of the last event
    #[schemars(with = "Option<Timestamp>")]
    last_event_at: Option<String>,
    /// Number of open attention items, not counting damage, equal to `total` of the list
    attention: usize,
}

/// `GET /v1/root/teams`.
pub fn teams(_: Nothing, request: &mut RequestContext<'_>) -> Result<Reply, Problem> {
    if request.call.caller.reach != Reach::Root {
        let message = "this path requires the token in runtime.json of the data root, or a page session for all teams";
        let problem = Problem::new("forbidden", message);
        return Err(problem.detail(
            "hint",
            "teamlog dashboard, in a data root with several teams",
        ));
    }
    let conditions = request.served.conditions().into_iter();
    let mut teams: Vec<TeamBrief> = conditions
        .map(|(team, condition)| {
            // Ignore the error: if a team cannot be read, its condition already names the reason.
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
    // The list is sorted by name already, and this sort is stable.
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

/// Returns the counts of a team without a scan of the log. Each number is stored, or is counted up to a limit.
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
