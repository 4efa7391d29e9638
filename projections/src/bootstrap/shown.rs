//! How a run is shown: in its view file and in answers.

use super::run::{Delivery, Domain, Gate, LastBreach};
use super::{Case, Core, Evidence, Run, State, Verdict, checklist};
use crate::prelude::*;

/// A run of the bootstrap contract
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunShown {
    /// Its id
    pub run: String,
    /// How far it is
    pub state: State,
    /// The contract's steps
    pub checklist: Vec<checklist::Step>,
    /// The events that lead on from here, the best first
    pub next: Vec<String>,
    /// What must not happen now
    pub forbidden: Vec<String>,
    /// The case that the answer of TeamCreate was read as; `null` while it has none
    pub case: Option<Case>,
    /// The team to work with
    pub team_name: Option<String>,
    /// The domains that it is about: those of the roster, else those that it was begun for
    pub domains: Vec<String>,
    /// Who of the core said that it is ready
    pub core_ready: CoreReady,
    /// Launches so far
    pub launches: u32,
    /// What the platform answered when no team could be launched
    pub blocked: Option<String>,
    /// What showed, or will show, that the team was launched as it should be
    pub evidence: Option<Evidence>,
    /// The domains while the team works
    pub work: Vec<DomainShown>,
    /// Whether every domain was reviewed once
    pub round1_complete: bool,
    /// What the reviewer said when it cleared the gate
    pub gate: Option<Gate>,
    /// How far the final synthesis is: `none`, `requested`, `accepted`, `delivered`
    pub synthesis: String,
    /// Violations of the contract so far
    pub breaches: u64,
    /// The last one
    pub last_breach: Option<LastBreach>,
    /// When the next thing of it times out
    pub due_at: Option<String>,
    /// The story that it belongs to
    pub trace_id: Option<String>,
    /// When it began
    pub started_at: String,
    /// When it last moved
    pub updated_at: String,
    /// The event that last moved it
    pub seq: u64,
}

/// Who of the core said that it is ready
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CoreReady {
    /// The one that reviews
    pub obstruction: bool,
    /// The one that puts everything together
    pub synthesizer: bool,
}

/// A domain while the team works
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DomainShown {
    /// Its name
    pub domain: String,
    /// `active`, `blocked`, `excluded`
    pub status: String,
    /// Why it was left out
    pub reason: Option<String>,
    /// Whether it joined later
    pub added: bool,
    /// Whether its flow began
    pub started: bool,
    /// Its round, from 1
    pub round: u32,
    /// The result of this round
    pub message_id: Option<String>,
    /// What became of it with the one that reviews: `none`, `sent`, `timed_out`, `acked`
    pub obstruction: String,
    /// What became of it with the one that puts everything together
    pub synthesizer: String,
    /// The last verdict
    pub verdict: Option<Verdict>,
    /// The round of that verdict
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
            evidence: Evidence::of(run),
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
