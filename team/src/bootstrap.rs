//! The rules of the bootstrap contract. The rules decide the effect of a report on a run, from the
//! run and the report alone.
//!
//! A report is parsed (`payload`), then checked against the contract's codes in their order ([`breach`]), then against
//! the table of states in which each event is legal ([`events`]), then against further conditions of its event
//! (`guards` up to `RUNNING`, `work` in `RUNNING`).

pub mod breach;
pub mod events;
mod fields;
mod guards;
pub mod list;
mod message;
mod payload;
mod probe;
mod proof;
pub mod record;
pub mod show;
pub mod start;
pub mod tick;
mod verdict;
mod work;

pub use events::Event;

use crate::operation::prelude::*;
use crate::projections::bootstrap::event::{BootstrapAct, Breach, Delivered, Feedback, Probe};
use crate::projections::bootstrap::{
    Case, Core, Domain, Evidence, LAUNCH_MODE, Method, Outcome, Run, RunShown, State, Verdict,
};
use crate::shapes::as_text;
use fields::{
    DOMAINS_MAX, Fields, How, Participant, core_named, how, invalid, names_in, no_method, split,
};
use payload::{Report, read};
use verdict::{Accepted, Ruled, broken, illegal};

/// Decides the effect of a report on a run, as a pure function. `name` and `data` are the report's name and data.
pub(crate) fn decide(
    run: &Run,
    report: &Report,
    (name, data): (&str, &Map<String, Value>),
) -> Ruled {
    if let Some((code, rolled_back_to, why)) = breach::found(run, report) {
        let mut acts = Vec::new();
        if report.event == Event::CoreHandshakeTimedOut {
            let missing = run.unready();
            acts.push(BootstrapAct::HandshakeTimedOut { missing });
        }
        acts.push(BootstrapAct::Breached(Breach {
            code: code.as_str().to_owned(),
            event: name.to_owned(),
            data: data.clone(),
            at_state: run.state,
            rolled_back_to,
            why: why.clone(),
        }));
        let breached = Accepted {
            acts,
            ..Accepted::default()
        };
        return Ok(breached.despite(code, Some(rolled_back_to), why));
    }
    let said = report.said.as_ref().map_err(|fault| (**fault).clone())?;
    legal(run, report.event)?;
    (said.rule)(run)
}

/// Returns the acts for all timeouts of a run up to `now`.
pub(crate) fn due(run: &Run, now: Timestamp) -> Vec<BootstrapAct> {
    let by = |until: Option<i64>| until.is_some_and(|until| until <= now.micros());
    let mut acts = Vec::new();
    if by(run.handshake_until) {
        let missing = run.unready();
        acts.push(BootstrapAct::HandshakeTimedOut { missing });
    }
    for domain in run.active() {
        for core in Core::ALL {
            if by(domain.delivery(core).until) {
                acts.push(work::timed_out(domain, core));
            }
        }
    }
    acts
}

/// Returns the breach of the contract for a handshake whose time limit passed without a report.
pub(crate) fn handshake_breach(run: &Run) -> Breach {
    let missing = breach::unready(run).join(" and ");
    Breach {
        code: Code::BreachCoreNotReady.as_str().to_owned(),
        event: Event::CoreHandshakeTimedOut.name().to_owned(),
        data: Map::new(),
        at_state: run.state,
        rolled_back_to: State::CoreReady,
        why: format!("the handshake timed out without {missing}"),
    }
}

/// Checks that a run in this state may receive the event.
fn legal(run: &Run, event: Event) -> Result<(), Refusal> {
    let row = event.row();
    if row.from.contains(&run.state) {
        return Ok(());
    }
    let from: Vec<&str> = row.from.iter().map(|state| state.name()).collect();
    let why = match (event, run.state) {
        (Event::TeamLaunched, State::CoreReady) => {
            return Err(illegal(run, row.name, "the team was launched already")
                .hint("to launch core members again, record core_relaunched"));
        }
        (Event::TeamLaunched, State::Running) => {
            return Err(illegal(run, row.name, "the team works already")
                .hint("to add a member later, record member_added"));
        }
        (_, State::Fallback) => "the team flow has ended".to_owned(),
        _ => format!("it is in {}", from.join(", ")),
    };
    Err(illegal(run, row.name, &why))
}

/// Returns the roster members that `members` does not contain.
fn missing_of(run: &Run, members: &[String]) -> Vec<String> {
    let core = Core::ALL.iter().filter(|core| {
        !members
            .iter()
            .any(|member| core_named(member) == Some(**core))
    });
    let domains = run
        .roster
        .iter()
        .flatten()
        .filter(|domain| !members.contains(domain));
    let core = core.map(|core| core.name().to_owned());
    core.chain(domains.cloned()).collect()
}
