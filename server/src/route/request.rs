//! A call with its parsed input, and the context for its handler.

use super::endpoint::Route;
use super::problem::Problem;
use crate::call::Call;
use crate::reply::Reply;
use crate::served::Served;
use teamlog_team::api::Effect;
use teamlog_team::command::{ClaimOrder, Control};
use teamlog_team::engine::Point;
use teamlog_team::engine::Timestamp;
use teamlog_team::handle::exchange::{Exchanges, Form};
use teamlog_team::{Exchange, Notes, Root, RootOptions, Team};

/// Header of an answer that was stored for an earlier request with the same key.
pub const REPLAYED: &str = "Idempotent-Replayed";

/// Header with a warning that the team reached its token limit.
pub const WARNING: &str = "X-Budget-Warning";

/// Header with notes about the team, for example about a recovery of the log.
pub const NOTE: &str = "X-Teamlog-Note";

/// Header of an answer about the past. The header names the last event that the answer includes.
pub const AT: &str = "X-Teamlog-At";

/// Function that answers a call which only reads.
pub type ReadHandler<'a> =
    Box<dyn FnOnce(&mut Team, &RequestContext<'_>) -> Result<Reply, Problem> + 'a>;

/// The context of a handler.
pub struct RequestContext<'a> {
    pub served: &'a Served,
    /// Past point that the call names, if any.
    at: Option<Point>,
    /// The data root. This handle of the root collects the notes of this call.
    pub root: Root,
    pub call: &'a Call,
    pub route: &'a Route,
    /// Acting agent that the input names, if any.
    pub actor: Option<String>,
    /// The body as canonical JSON.
    canonical: String,
}

impl<'a> RequestContext<'a> {
    pub fn new(
        served: &'a Served,
        call: &'a Call,
        route: &'a Route,
        (canonical, at): (String, Option<Point>),
    ) -> RequestContext<'a> {
        let options = RootOptions {
            notes: Notes::default(),
            authenticated: call.caller.authenticated(),
            ..served.root().options().clone()
        };
        RequestContext {
            served,
            at,
            root: served
                .root()
                .with_options(options)
                .in_batch(call.batch.clone()),
            call,
            route,
            actor: None,
            canonical,
        }
    }

    pub fn now(&self) -> Timestamp {
        self.root.options().clock.now()
    }

    /// Opens the team of the token. Recorded events get the key and the trace id of the call.
    pub fn team(&self) -> Result<Team, Problem> {
        let mut team = self.root.team(&self.call.team)?;
        if self.route.effect == Effect::Records {
            team.under(self.control());
        }
        Ok(team)
    }

    /// Returns true if the call names a past point.
    pub fn is_of_the_past(&self) -> bool {
        self.at.is_some()
    }

    /// Answers a call that only reads, at the present or at the past point that the call names.
    pub fn look(&self, question: ReadHandler<'_>) -> Result<Reply, Problem> {
        let mut team = self.team()?;
        let Some(point) = self.at else {
            return question(&mut team, self);
        };
        let pasts = self.served.pasts();
        let (reply, seq) = pasts.ask(team, point, |team| question(team, self))?;
        Ok(reply?.header(AT, seq.to_string()))
    }

    /// Returns the [`Control`] of a recording call. Under one key, requests count as equal if method, path and body are equal.
    pub fn control(&self) -> Control {
        let Route {
            method, pattern, ..
        } = self.route;
        let path = serde_json::to_string(&self.call.path).unwrap_or_default();
        Control {
            operation: format!("{} {pattern}", method.name()),
            request: format!("{}\n{path}\n{}", method.name(), self.canonical).into_bytes(),
            key: self.call.key.clone(),
            trace_id: self.call.trace_id.clone(),
            actor: self.actor.clone(),
            claim_order: ClaimOrder::EpochFirst,
            ..Control::default()
        }
    }

    /// Runs a command. Formats its answer with `form`.
    pub fn exchange<T>(&self, command: impl Exchanges<T>, form: Form<T>) -> Result<Reply, Problem> {
        let mut team = self.team()?;
        let Exchange { status, body } = team.exchange(command, form)?;
        let reply = Reply::json_text(status, body.get().as_bytes().to_vec());
        Ok(after(reply, &mut team))
    }
}

/// Adds notes to a reply as headers.
pub fn noting(reply: Reply, notes: &Notes) -> Reply {
    match notes.take() {
        notes if notes.is_empty() => reply,
        notes => {
            let hidden = |c: char| c != ' ' && !c.is_ascii_graphic();
            reply.header(NOTE, notes.join("; ").replace(hidden, "?"))
        }
    }
}

/// Adds headers to a reply: one if the answer is a stored answer, and one with a warning about the budget.
pub fn after(mut reply: Reply, team: &mut Team) -> Reply {
    if team.repeated() {
        reply = reply.header(REPLAYED, "true");
    }
    // The command was carried out, so an error of the warning must not fail the call.
    match team.budget_warning() {
        Ok(Some(warning)) => reply.header(WARNING, warning),
        _ => reply,
    }
}
