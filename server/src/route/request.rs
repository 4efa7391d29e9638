//! A call whose input was read, with what its answer is made from.

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

/// Says that an answer is that of an earlier request under the same key.
pub const REPLAYED: &str = "Idempotent-Replayed";

/// Says that the team used as many tokens as it should.
pub const WARNING: &str = "X-Budget-Warning";

/// Says what the team has to say beside an answer: that bytes lie beyond the durable head, that it recovered the log.
pub const NOTE: &str = "X-Teamlog-Note";

/// Says which event an answer about the past knows last.
pub const AT: &str = "X-Teamlog-At";

/// What answers a question.
pub type Look<'a> = Box<dyn FnOnce(&mut Team, &RequestContext<'_>) -> Result<Reply, Problem> + 'a>;

/// What a handler has at hand.
pub struct RequestContext<'a> {
    pub served: &'a Served,
    /// The point of the past that is asked about.
    at: Option<Point>,
    /// The root; its notes are those of this call.
    pub root: Root,
    pub call: &'a Call,
    pub route: &'a Route,
    /// Who does it, where the input says.
    pub actor: Option<String>,
    /// The body, in its one form.
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

    /// The team that the token belongs to. What it records, it records under the key and in the story of the call.
    pub fn team(&self) -> Result<Team, Problem> {
        let mut team = self.root.team(&self.call.team)?;
        if self.route.effect == Effect::Records {
            team.under(self.control());
        }
        Ok(team)
    }

    /// Whether a point of the past is asked about.
    pub fn is_of_the_past(&self) -> bool {
        self.at.is_some()
    }

    /// What a question is answered, now or at the point of the past that the request names.
    pub fn look(&self, question: Look<'_>) -> Result<Reply, Problem> {
        let mut team = self.team()?;
        let Some(point) = self.at else {
            return question(&mut team, self);
        };
        let pasts = self.served.pasts();
        let (reply, seq) = pasts.ask(team, point, |team| question(team, self))?;
        Ok(reply?.header(AT, seq.to_string()))
    }

    /// What stands beside the input: the same method, path and body under one key are one request.
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

    /// Carries out a command, and answers in that form.
    pub fn exchange<T>(&self, command: impl Exchanges<T>, form: Form<T>) -> Result<Reply, Problem> {
        let mut team = self.team()?;
        let Exchange { status, body } = team.exchange(command, form)?;
        let reply = Reply::json_text(status, body.get().as_bytes().to_vec());
        Ok(after(reply, &mut team))
    }
}

/// Says beside an answer what was noted meanwhile.
pub fn noting(reply: Reply, notes: &Notes) -> Reply {
    match notes.take() {
        notes if notes.is_empty() => reply,
        notes => {
            let hidden = |c: char| c != ' ' && !c.is_ascii_graphic();
            reply.header(NOTE, notes.join("; ").replace(hidden, "?"))
        }
    }
}

/// Says beside an answer whether it is the repetition of an earlier one, and what the team is to be warned of.
pub fn after(mut reply: Reply, team: &mut Team) -> Reply {
    if team.repeated() {
        reply = reply.header(REPLAYED, "true");
    }
    // What was asked is done; a warning that cannot be had changes nothing of that.
    match team.budget_warning() {
        Ok(Some(warning)) => reply.header(WARNING, warning),
        _ => reply,
    }
}
