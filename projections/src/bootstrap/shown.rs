//! Presentation of a run, in its view file and in answers.

use super::run::{Delivery, Domain, Gate, LastBreach};
use super::{Case, Core, Evidence, Run, State, Verdict, checklist};
use crate::prelude::*;

/// A run of the bootstrap contract
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunShown {
    /// Id
    pub run: String,
    /// State
    pub state: State,
    /// Steps of the contract
    pub checklist: Vec<checklist::Step>,
    /// Events that may follow, best first
    pub next: Vec<String>,
    /// Actions that are forbidden now
    pub forbidden: Vec<String>,
    /// Case that the answer of TeamCreate selects; `null` if there is none
    pub case: Option<Case>,
    /// Name of the team
    pub team_name: Option<String>,
    /// Domains of the roster; if there is no roster yet, the domains given at the start
    pub domains: Vec<String>,
    /// Ready answers of the core members
    pub core_ready: CoreReady,
    /// Number of launches so far
    pub launches: u32,
    /// Answer of the platform if no team could be launched
    pub blocked: Option<String>,
    /// Evidence of the launch
    pub evidence: Option<Evidence>,
    /// Domains of the running team
    pub work: Vec<DomainShown>,
    /// True if every domain was reviewed once
    pub round1_complete: bool,
    /// The reviewer's statement on clearing the gate
    pub gate: Option<Gate>,
    /// State of the final synthesis: `none`, `requested`, `accepted`, `delivered`
    pub synthesis: String,
    /// Number of violations so far
    pub breaches: u64,
    /// Last violation
    pub last_breach: Option<LastBreach>,
    /// Next timeout
    pub due_at: Option<String>,
    /// Trace id
    pub trace_id: Option<String>,
    /// Start time
    pub started_at: String,
    /// Time of the last change
    pub updated_at: String,
    /// Last event that changed the run
    pub seq: u64,
}

/// Ready answers of the core members
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CoreReady {
    /// True if `obstruction-theorist` is ready
    pub obstruction: bool,
    /// True if `synthesizer` is ready
    pub synthesizer: bool,
}

/// A domain of the running team
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DomainShown {
    /// Name
    pub domain: String,
    /// `active`, `blocked`, `excluded`
    pub status: String,
    /// Reason of the exclusion
    pub reason: Option<String>,
    /// True if the domain joined later
    pub added: bool,
    /// True if the domain's flow began
    pub started: bool,
    /// Round, from 1
    pub round: u32,
    /// Message id of this round's result
    pub message_id: Option<String>,
    /// Delivery to `obstruction-theorist`: `none`, `sent`, `timed_out`, `acked`
    pub obstruction: String,
    /// Delivery to `synthesizer`: `none`, `sent`, `timed_out`, `acked`
    pub synthesizer: String,
    /// Last verdict
    pub verdict: Option<Verdict>,
    /// Round of the last verdict
    pub reviewed_round: u32,
}

impl From<&Run> for RunShown {
    fn from(run: &Run) -> RunShown {
        let core_ready = CoreReady {
            obstruction: run.handshake(Core::Obstruction).acked,
            synthesizer: run.handshake(Core::Synthesizer).acked,
        };
        RunShown {
            run: run.run.clone(),
            state: run.state,
            checklist: checklist::checklist(run),
            next: checklist::next_events(run),
            forbidden: checklist::forbidden(run),
            case: run.known_case(),
            team_name: run.team_name.clone(),
            domains: run.roster.clone().unwrap_or_else(|| run.selected.clone()),
            core_ready,
            launches: run.launches,
            blocked: run.blocked.clone(),
            evidence: Evidence::from_run(run),
            work: run.domains.iter().map(DomainShown::from).collect(),
            round1_complete: run.round1_complete,
            gate: run.gate.clone(),
            synthesis: synthesis(run).to_owned(),
            breaches: run.breaches,
            last_breach: run.last_breach.clone(),
            due_at: run.due().map(|at| time(at).to_string()),
            trace_id: run.trace_id.clone(),
            started_at: time(run.started_at).to_string(),
            updated_at: time(run.updated_at).to_string(),
            seq: run.seq,
        }
    }
}

fn synthesis(run: &Run) -> &'static str {
    match (
        run.final_requested,
        run.final_acked,
        run.synthesis_delivered,
    ) {
        (_, _, true) => "delivered",
        (_, true, _) => "accepted",
        (true, ..) => "requested",
        _ => "none",
    }
}

impl From<&Domain> for DomainShown {
    fn from(domain: &Domain) -> DomainShown {
        let status = match (&domain.excluded, domain.blocked) {
            (Some(_), _) => "excluded",
            (None, true) => "blocked",
            (None, false) => "active",
        };
        DomainShown {
            domain: domain.domain.clone(),
            status: status.to_owned(),
            reason: domain.excluded.clone(),
            added: domain.added,
            started: domain.started,
            round: domain.round,
            message_id: domain.message_id.clone(),
            obstruction: delivery(domain.delivery(Core::Obstruction)).to_owned(),
            synthesizer: delivery(domain.delivery(Core::Synthesizer)).to_owned(),
            verdict: domain.verdict,
            reviewed_round: domain.reviewed,
        }
    }
}

fn delivery(delivery: &Delivery) -> &'static str {
    match delivery {
        Delivery { acked: true, .. } => "acked",
        Delivery { sent: 0, .. } => "none",
        Delivery { until: None, .. } => "timed_out",
        _ => "sent",
    }
}
