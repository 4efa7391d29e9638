//! State of a run, and the effect of each event on it.
//!
//! Events are applied without checks, because they were checked before they were recorded. Returning to an earlier state discards
//! the data of later states: acks belong to one launch, reviews to one period of `RUNNING`.

use super::{Case, Core, DELIVERY_MICROS, Evidence, HANDSHAKE_MICROS, Method, State, Verdict};
use crate::event::bootstrap::{BootstrapAct, Breach, Delivered, Feedback, Probe};
use crate::prelude::*;
use serde_json::{Map, Value};

/// A run. Times are microseconds since 1970.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Id of the run.
    pub run: String,
    /// State of the run.
    pub state: State,
    /// Domains given at the start.
    pub selected: Vec<String>,
    /// Outcome of the attempt to create a team.
    pub probe: Option<Probe>,
    /// Branch of the contract.
    pub case: Option<Case>,
    /// Name of the team.
    pub team_name: Option<String>,
    /// Domains to launch.
    pub roster: Option<Vec<String>>,
    /// Method of the launch.
    pub launch: Option<Method>,
    /// Number of launches so far.
    pub launches: u32,
    /// Answer of the platform if no team can be launched.
    pub blocked: Option<String>,
    /// Handshake with each core member, in the order of [`Core::ALL`].
    pub core: [Handshake; 2],
    /// Core members whose ack was missing when the handshake timed out.
    pub missing: Vec<Core>,
    /// Deadline of the handshake.
    pub handshake_until: Option<i64>,
    /// Accepted evidence of the launch.
    pub evidence: Option<Evidence>,
    /// True if the lead announced that the team works.
    pub declared: bool,
    /// True if the domains got the category skeleton.
    pub skeleton_sent: bool,
    /// Domains of the running team.
    pub domains: Vec<Domain>,
    /// True if every domain was reviewed once.
    pub round1_complete: bool,
    /// The reviewer's statement on clearing the gate; absent while the gate is closed.
    pub gate: Option<Gate>,
    /// True if the final synthesis was requested.
    pub final_requested: bool,
    /// True if the synthesizer accepted the request.
    pub final_acked: bool,
    /// True if the final synthesis was delivered.
    pub synthesis_delivered: bool,
    /// Number of violations so far.
    pub breaches: u64,
    /// The last violation, without the reported data.
    pub last_breach: Option<LastBreach>,
    /// Trace id of the first event with a trace id.
    pub trace_id: Option<String>,
    /// Start time.
    pub started_at: i64,
    /// Time of the last change.
    pub updated_at: i64,
    /// First event.
    pub started_seq: u64,
    /// Last event that changed the run.
    pub seq: u64,
}

/// Handshake with a core member.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handshake {
    /// True if the member was asked.
    pub pinged: bool,
    /// True if the member is ready.
    pub acked: bool,
}

/// A domain of the running team.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Domain {
    /// Name.
    pub domain: String,
    /// Reason of the exclusion, if the domain is excluded.
    pub excluded: Option<String>,
    /// True if the domain joined later.
    pub added: bool,
    /// True if the domain's flow began.
    pub started: bool,
    /// Round, from 1.
    pub round: u32,
    /// Message id of this round's result.
    pub message_id: Option<String>,
    /// Message ids of earlier rounds' results, which cannot be reused.
    pub earlier_ids: Vec<String>,
    /// Delivery of the result to each core member, in the order of [`Core::ALL`].
    pub deliveries: [Delivery; 2],
    /// True if both core members confirmed a result of any round.
    pub confirmed: bool,
    /// Last verdict.
    pub verdict: Option<Verdict>,
    /// Round of the last verdict; 0 if there is none.
    pub reviewed: u32,
    /// True if a delivery timed out twice.
    pub blocked: bool,
}

/// Delivery of a domain's result to a core member.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// Number of times that the result was sent.
    pub sent: u32,
    /// True if the core member confirmed the result.
    pub acked: bool,
    /// Number of timeouts.
    pub timeouts: u32,
    /// Deadline of the ack.
    pub until: Option<i64>,
}

/// The reviewer's statement on clearing the gate
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "GateShown")]
pub struct Gate {
    /// Summary, as given
    pub clear_summary: Map<String, Value>,
    /// Conditions for the final synthesis, as given
    pub conditions_for_final_synthesis: Vec<Value>,
}

/// A violation of the contract
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "BreachShown")]
pub struct LastBreach {
    /// Error code of the contract
    pub code: String,
    /// Name of the reported event
    pub event: String,
    /// State before the violation
    pub at_state: State,
    /// State after the violation
    pub rolled_back_to: State,
    /// Description of the violation
    pub why: String,
    /// Event that recorded the violation
    pub seq: u64,
}

impl Run {
    /// Creates a run at its start.
    pub fn new(run: &str, selected: &[String], at: i64, seq: u64) -> Run {
        Run {
            run: run.to_owned(),
            selected: selected.to_vec(),
            started_at: at,
            updated_at: at,
            started_seq: seq,
            seq,
            ..Run::default()
        }
    }

    /// Applies the event `act` with the given time and seq.
    pub fn apply(&mut self, act: &BootstrapAct, at: i64, seq: u64) {
        match act {
            // The start, and events that are recorded for people only, do not change the run.
            BootstrapAct::Started { .. } | BootstrapAct::SignalRecorded { .. } => return,
            BootstrapAct::Breached(breach) => self.breached(breach, seq),
            act if self.enters(act, at) => {}
            act if self.shakes_hands(act, at) => {}
            act => self.runs(act, at),
        }
        self.updated_at = at;
        self.seq = seq;
    }

    /// Applies an event that changes the state of the run. Returns false if the event is of another kind.
    fn enters(&mut self, act: &BootstrapAct, at: i64) -> bool {
        match act {
            BootstrapAct::Probed(probe) => {
                self.fall_to(State::Init);
                self.probe = Some(probe.clone());
                self.state = State::TeamProbed;
            }
            BootstrapAct::BranchTaken { case: Case::C, .. } => {
                self.case = Some(Case::C);
                self.state = State::Fallback;
            }
            BootstrapAct::BranchTaken { case, team_name } => {
                self.case = Some(*case);
                self.team_name.clone_from(team_name);
                self.state = State::TeamReady;
            }
            BootstrapAct::FallbackEntered { .. } => {
                self.handshake_until = None;
                self.domains.iter_mut().for_each(Domain::rest);
                self.state = State::Fallback;
            }
            BootstrapAct::RosterBuilt { domains, .. } => {
                self.roster = Some(domains.clone());
                self.state = State::MembersReady;
            }
            BootstrapAct::TeamLaunched { method, due_at, .. } => {
                self.fall_to(State::MembersReady);
                self.launch = Some(*method);
                self.launches = self.launches.saturating_add(1);
                self.blocked = None;
                self.handshake_until = Some(until(*due_at, at, HANDSHAKE_MICROS));
                self.state = State::CoreReady;
            }
            BootstrapAct::Blocked { raw, .. } => {
                self.blocked = Some(raw.clone().unwrap_or_default());
            }
            BootstrapAct::RunningEntered { evidence } => {
                self.evidence = Some(evidence.clone());
                self.handshake_until = None;
                let roster = self.roster.iter().flatten();
                self.domains = roster.map(|name| Domain::new(name, false)).collect();
                self.state = State::Running;
            }
            _ => return false,
        }
        true
    }

    /// Applies an event between launch and `RUNNING`. Returns false if the event is of another kind.
    fn shakes_hands(&mut self, act: &BootstrapAct, at: i64) -> bool {
        match act {
            BootstrapAct::CorePinged { to } => self.handshake_mut(*to).pinged = true,
            BootstrapAct::CoreAcked { from } => {
                self.handshake_mut(*from).acked = true;
                if self.both_acked() {
                    self.handshake_until = None;
                    self.missing.clear();
                }
            }
            BootstrapAct::HandshakeTimedOut { missing } => {
                self.core = [Handshake::default(); 2];
                self.missing.clone_from(missing);
                self.handshake_until = None;
            }
            BootstrapAct::CoreRelaunched { missing, due_at } => {
                for core in missing {
                    *self.handshake_mut(*core) = Handshake::default();
                }
                self.missing.clear();
                self.handshake_until = Some(until(*due_at, at, HANDSHAKE_MICROS));
            }
            _ => return false,
        }
        true
    }

    /// Applies an event of the running team.
    fn runs(&mut self, act: &BootstrapAct, at: i64) {
        match act {
            BootstrapAct::SwarmDeclared {} => self.declared = true,
            BootstrapAct::SkeletonSent {} => self.skeleton_sent = true,
            BootstrapAct::RoundCompleted { .. } => self.round1_complete = true,
            BootstrapAct::GateCleared {
                clear_summary,
                conditions_for_final_synthesis,
            } => {
                self.gate = Some(Gate {
                    clear_summary: clear_summary.clone(),
                    conditions_for_final_synthesis: conditions_for_final_synthesis.clone(),
                });
            }
            BootstrapAct::FinalSynthesisRequested {} => self.final_requested = true,
            BootstrapAct::FinalSynthesisAcked { .. } => self.final_acked = true,
            BootstrapAct::SynthesisDelivered { .. } => self.synthesis_delivered = true,
            BootstrapAct::MemberAdded { domain } => self.joined(domain),
            act => {
                let Some(name) = act.domain() else {
                    return;
                };
                if let Some(domain) = self.domains.iter_mut().find(|one| one.domain == name) {
                    domain.apply(act, at);
                }
                let against = matches!(act, BootstrapAct::FeedbackGiven(feedback)
                    if feedback.verdict != Verdict::Pass);
                if against {
                    self.close_gate();
                }
            }
        }
    }

    /// Adds a domain, which has to be reviewed too.
    fn joined(&mut self, name: &str) {
        let mut domain = Domain::new(name, true);
        // A domain that was part of the team before keeps its used message ids.
        for old in self.domains.extract_if(.., |one| one.domain == name) {
            domain.earlier_ids = old.earlier_ids;
            domain.earlier_ids.extend(old.message_id);
        }
        self.domains.push(domain);
        self.round1_complete = false;
        self.close_gate();
    }

    /// Closes the gate. Then the gate must be cleared, and the synthesis requested, again.
    fn close_gate(&mut self) {
        self.gate = None;
        self.final_requested = false;
        self.final_acked = false;
        self.synthesis_delivered = false;
    }

    fn breached(&mut self, breach: &Breach, seq: u64) {
        self.breaches = self.breaches.saturating_add(1);
        self.last_breach = Some(LastBreach {
            code: breach.code.clone(),
            event: breach.event.clone(),
            at_state: breach.at_state,
            rolled_back_to: breach.rolled_back_to,
            why: breach.why.clone(),
            seq,
        });
        self.fall_to(breach.rolled_back_to);
    }

    /// Returns to an earlier state and discards the data of later states.
    fn fall_to(&mut self, state: State) {
        if state < State::Running {
            self.evidence = None;
            self.declared = false;
            self.skeleton_sent = false;
            self.domains.clear();
            self.round1_complete = false;
            self.close_gate();
        }
        if state < State::CoreReady {
            self.launch = None;
            self.core = [Handshake::default(); 2];
            self.missing.clear();
            self.handshake_until = None;
        }
        if state < State::MembersReady {
            self.roster = None;
            self.blocked = None;
        }
        if state < State::TeamReady {
            self.case = None;
            self.team_name = None;
        } else if self.team_name.is_none()
            && let Some(probe) = &self.probe
        {
            // The probe knows the name of the team, so only the branch of the probe's outcome is possible. Take that branch
            // again.
            self.team_name.clone_from(&probe.team_name);
            self.case = probe.outcome.case();
        }
        if state < State::TeamProbed {
            self.probe = None;
        }
        self.state = state;
    }

    /// Returns the case that the answer of TeamCreate selects, even if that branch was not taken.
    pub fn known_case(&self) -> Option<Case> {
        let read = || self.probe.as_ref()?.outcome.case();
        self.case.or_else(read)
    }

    /// Returns the handshake with a core member.
    pub fn handshake(&self, core: Core) -> Handshake {
        self.core[core as usize]
    }
    fn handshake_mut(&mut self, core: Core) -> &mut Handshake {
        &mut self.core[core as usize]
    }
    /// Returns true if both core members are ready.
    pub fn both_acked(&self) -> bool {
        self.core.iter().all(|handshake| handshake.acked)
    }
    /// Returns the core members that are not ready yet.
    pub fn unready(&self) -> Vec<Core> {
        let unready = |core: &Core| !self.handshake(*core).acked;
        Core::ALL.iter().copied().filter(unready).collect()
    }
    /// Returns an active domain: a domain of the running team that is not excluded.
    pub fn active_domain(&self, name: &str) -> Option<&Domain> {
        self.active().find(|domain| domain.domain == name)
    }
    /// Returns the active domains.
    pub fn active(&self) -> impl Iterator<Item = &Domain> {
        let domains = self.domains.iter();
        domains.filter(|domain| domain.excluded.is_none())
    }
    /// Returns the name of the team, if the attempt to create a team returned the name.
    pub fn known_team_name(&self) -> Option<&str> {
        let probed = self
            .probe
            .iter()
            .find_map(|probe| probe.team_name.as_deref());
        self.team_name.as_deref().or(probed)
    }
    /// Returns true if a team to work with is known to exist.
    pub fn is_usable(&self) -> bool {
        self.probe.iter().any(|probe| probe.outcome.is_usable())
    }
    /// Returns the run's next timeout.
    pub fn due(&self) -> Option<i64> {
        let deliveries = self.active().flat_map(|domain| &domain.deliveries);
        let deliveries = deliveries.filter_map(|delivery| delivery.until);
        deliveries.chain(self.handshake_until).min()
    }
}

/// Returns the deadline of a wait: the deadline that the event holds. Events of earlier versions hold none; for these, the deadline
/// is the event's time plus `micros`.
fn until(due_at: Option<Timestamp>, at: i64, micros: i64) -> i64 {
    due_at.map_or(at.saturating_add(micros), Timestamp::micros)
}

impl Delivery {
    /// Returns true if the delivery timed out twice and was not confirmed later.
    fn is_lost(&self) -> bool {
        self.timeouts > 1 && !self.acked
    }
}

impl Domain {
    fn new(name: &str, added: bool) -> Domain {
        Domain {
            domain: name.to_owned(),
            added,
            round: 1,
            ..Domain::default()
        }
    }

    fn apply(&mut self, act: &BootstrapAct, at: i64) {
        match act {
            BootstrapAct::DomainStarted { .. } => self.started = true,
            BootstrapAct::DomainExcluded { reason, .. } => {
                self.excluded = Some(reason.clone());
                self.rest();
            }
            BootstrapAct::MappingDelivered(delivered) => self.delivered(delivered, at),
            BootstrapAct::DeliveryAcked { by, .. } => {
                let delivery = self.delivery_mut(*by);
                delivery.acked = true;
                delivery.until = None;
                self.confirmed |= self.is_delivered();
                self.blocked = self.deliveries.iter().any(Delivery::is_lost);
            }
            BootstrapAct::DeliveryTimedOut {
                missing_ack,
                blocked,
                ..
            } => {
                let delivery = self.delivery_mut(*missing_ack);
                delivery.timeouts = delivery.timeouts.saturating_add(1);
                delivery.until = None;
                self.blocked |= blocked;
            }
            BootstrapAct::FeedbackGiven(Feedback { round, verdict, .. }) => {
                self.verdict = Some(*verdict);
                self.reviewed = *round;
            }
            BootstrapAct::RevisionSubmitted { round, .. } => {
                self.round = *round;
                self.earlier_ids.extend(self.message_id.take());
                self.deliveries = Default::default();
                self.blocked = false;
            }
            _ => {}
        }
    }

    fn delivered(&mut self, delivered: &Delivered, at: i64) {
        self.started = true;
        self.message_id = Some(delivered.message_id.clone());
        let delivery = self.delivery_mut(delivered.to);
        delivery.sent = delivery.sent.saturating_add(1);
        if !delivery.acked {
            delivery.until = Some(until(delivered.due_at, at, DELIVERY_MICROS));
        }
    }

    /// Cancels all timeouts.
    fn rest(&mut self) {
        for delivery in &mut self.deliveries {
            delivery.until = None;
        }
    }

    /// Returns the delivery of the result to a core member.
    pub fn delivery(&self, core: Core) -> &Delivery {
        &self.deliveries[core as usize]
    }
    fn delivery_mut(&mut self, core: Core) -> &mut Delivery {
        &mut self.deliveries[core as usize]
    }
    /// Returns true if both core members have this round's result.
    pub fn is_delivered(&self) -> bool {
        self.deliveries.iter().all(|delivery| delivery.acked)
    }
    /// Returns true if both core members have this round's result and no ack is pending.
    pub fn is_settled(&self) -> bool {
        self.is_delivered() && !self.blocked
    }
    /// Returns true if this round's result was reviewed.
    pub fn is_reviewed(&self) -> bool {
        self.reviewed == self.round && self.verdict.is_some()
    }
    /// Returns true if the result was accepted and no delivery is blocked.
    pub fn passes(&self) -> bool {
        self.is_reviewed() && self.verdict == Some(Verdict::Pass)
    }
}
