//! The rules of the bootstrap contract: what a report on a run does, decided purely on the run and what was reported.
//!
//! A report is read (`payload`), held against the contract's codes in their order ([`breach`]), then against the table of
//! where each event is legal ([`events`]), then against what else it needs (`guards` up to `RUNNING`, `work` in it).

pub mod breach;
pub mod events;
mod fields;
mod guards;
mod how;
pub mod list;
mod message;
mod path;
mod payload;
pub mod probe;
mod proof;
pub mod record;
pub mod show;
pub mod start;
pub mod tick;
mod verdict;
mod work;

pub use events::Event;
pub use fields::DOMAINS_MAX;
pub use payload::{Report, read};
pub use verdict::{Accepted, Breached, Verdict};

use crate::projections::bootstrap::event::BootstrapAct;
use crate::projections::bootstrap::{Core, Run, State, event};
use crate::refusal::{Code, Refusal};
use fields::core_named;
use teamlog_engine::Timestamp;
use verdict::illegal;

/// Decides about a report on a run. Pure.
pub fn decide(run: &Run, report: &Report) -> Verdict {
    if let Some((code, rolled_back_to, why)) = breach::found(run, report) {
        let first = (report.event == Event::CoreHandshakeTimedOut).then(|| {
            BootstrapAct::HandshakeTimedOut {
                missing: run.unready(),
            }
        });
        return Verdict::Breach(Box::new(Breached {
            first,
            code,
            rolled_back_to,
            why,
        }));
    }
    let said = match &report.said {
        Ok(said) => said,
        Err(fault) => return Verdict::Refused(fault.clone()),
    };
    if let Err(refusal) = legal(run, report.event) {
        return Verdict::Refused(Box::new(refusal));
    }
    if report.event == Event::LaunchUnavailable {
        return Verdict::Blocked {
            raw: said.raw.clone(),
            why: "the platform cannot launch a team".to_owned(),
        };
    }
    match (said.rule)(run) {
        Ok(accepted) => Verdict::Accepted(accepted),
        Err(refusal) => Verdict::Refused(Box::new(refusal)),
    }
}

/// What times out of a run by then, each with what it leads to.
pub fn due(run: &Run, now: Timestamp) -> Vec<BootstrapAct> {
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

/// The violation that a handshake is which timed out by itself.
pub fn handshake_breach(run: &Run) -> event::Breach {
    let missing = breach::unready(run).join(" and ");
    event::Breach {
        code: Code::BreachCoreNotReady.as_str().to_owned(),
        event: Event::CoreHandshakeTimedOut.name().to_owned(),
        data: serde_json::Map::new(),
        at_state: run.state,
        rolled_back_to: State::CoreReady,
        why: format!("the handshake timed out without {missing}"),
    }
}

/// Where the event is legal.
fn legal(run: &Run, event: Event) -> Result<(), Refusal> {
    let row = event.row();
    if row.from.contains(&run.state) {
        return Ok(());
    }
    let from: Vec<&str> = row.from.iter().map(|state| state.name()).collect();
    let why = match (event, run.state) {
        (Event::TeamLaunched, State::CoreReady) => {
            return Err(illegal(run, row.name, "the team was launched already")
                .hint("to launch core members again: core_relaunched"));
        }
        (Event::TeamLaunched, State::Running) => {
            return Err(illegal(run, row.name, "the team works already")
                .hint("whoever comes later joins: member_added"));
        }
        (_, State::Fallback) => "the team flow has ended".to_owned(),
        _ => format!("it is in {}", from.join(", ")),
    };
    Err(illegal(run, row.name, &why))
}

/// The members of the roster that are not among these.
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
