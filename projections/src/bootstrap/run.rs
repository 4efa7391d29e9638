//! A run as its events left it, and what each event does to it.
//!
//! What an event says is taken as it is; whether it may be said was decided before it was recorded. Falling back to a
//! state forgets what belongs to the states behind it: acks belong to one launch and die with it, reviews to one time
//! of running.

use super::{Case, Core, DELIVERY_MICROS, Evidence, HANDSHAKE_MICROS, Method, State, Verdict};
use crate::event::bootstrap::{BootstrapAct, Breach, Delivered, Feedback, Probe};
use crate::prelude::*;
use serde_json::{Map, Value};

/// A run. Times are microseconds since 1970.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Its id.
    pub run: String,
    /// How far it is.
    pub state: State,
    /// The domains that it was begun for, if it was said.
    pub selected: Vec<String>,
    /// What the attempt to create a team gave.
    pub probe: Option<Probe>,
    /// The branch that was taken.
    pub case: Option<Case>,
    /// The team to work with.
    pub team_name: Option<String>,
    /// The domains to launch.
    pub roster: Option<Vec<String>>,
    /// How they were launched.
    pub launch: Option<Method>,
    /// Launches so far.
    pub launches: u32,
    /// Why no team can be launched.
    pub blocked: Option<String>,
    /// The handshake with each of the core, as [`Core::ALL`].
    pub core: [Handshake; 2],
    /// Whose acks were missing when the handshake timed out.
    pub missing: Vec<Core>,
    /// When the handshake times out.
    pub handshake_until: Option<i64>,
    /// What showed that it was launched as it should be.
    pub evidence: Option<Evidence>,
    /// Whether the lead said that the team works.
    pub declared: bool,
    /// Whether the domains know the categories.
    pub skeleton_sent: bool,
    /// The domains of the running team.
    pub domains: Vec<Domain>,
    /// Whether everything was reviewed once.
    pub round1_complete: bool,
    /// What the reviewer said when nothing stood against the synthesis any more.
    pub gate: Option<Gate>,
    /// Whether the final synthesis was asked for.
    pub final_requested: bool,
    /// Whether the synthesizer is at it.
    pub final_acked: bool,
    /// Whether it is there.
    pub synthesis_delivered: bool,
    /// Violations so far.
    pub breaches: u64,
    /// The last one, without what was reported.
    pub last_breach: Option<LastBreach>,
    /// The story that the run belongs to: the first that an event of it named.
    pub trace_id: Option<String>,
    /// When it began.
    pub started_at: i64,
    /// When it last moved.
    pub updated_at: i64,
    /// The event that began it.
    pub started_seq: u64,
    /// The event that last moved it.
    pub seq: u64,
}

/// The handshake with a core member.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handshake {
    /// Whether it was asked.
    pub pinged: bool,
    /// Whether it is ready.
    pub acked: bool,
}

/// A domain of the running team.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Domain {
    /// Its name.
    pub domain: String,
    /// Why it was left out, if it was.
    pub excluded: Option<String>,
    /// Whether it joined later.
    pub added: bool,
    /// Whether its flow began.
    pub started: bool,
    /// Its round, from 1.
    pub round: u32,
    /// The result of this round.
    pub message_id: Option<String>,
    /// The results of the rounds before, which are never this one's.
    pub earlier_ids: Vec<String>,
    /// What became of it with each of the core, as [`Core::ALL`].
    pub deliveries: [Delivery; 2],
    /// Whether both of the core confirmed a result of it, in whatever round.
    pub confirmed: bool,
    /// The last verdict.
    pub verdict: Option<Verdict>,
    /// The round of that verdict; 0 where there is none.
    pub reviewed: u32,
    /// Whether a delivery was not confirmed in time twice.
    pub blocked: bool,
}

/// A domain's result on its way to a core member.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// How often it was sent.
    pub sent: u32,
    /// Whether it was confirmed.
    pub acked: bool,
    /// How often it was not confirmed in time.
    pub timeouts: u32,
    /// When it times out.
    pub until: Option<i64>,
}

/// What the reviewer said when it cleared the gate
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "GateShown")]
pub struct Gate {
    /// Its summary, as it was given
    pub clear_summary: Map<String, Value>,
    /// What the synthesis has to respect, as it was given
    pub conditions_for_final_synthesis: Vec<Value>,
}

/// A violation of the contract
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "BreachShown")]
pub struct LastBreach {
    /// The contract's code
    pub code: String,
    /// The event that was reported
    pub event: String,
    /// Where the run stood
    pub at_state: State,
    /// Where it fell back to
    pub rolled_back_to: State,
    /// What was violated
    pub why: String,
    /// The event that records it
    pub seq: u64,
}

impl Run {
    /// A run that just began.
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

    /// What the event of that seq, at that time, does to it.
    pub fn apply(&mut self, act: &BootstrapAct, at: i64, seq: u64) {
        match act {
            // It began; what is recorded for people only moves nothing.
            BootstrapAct::Started { .. } | BootstrapAct::SignalRecorded { .. } => return,
            BootstrapAct::Breached(breach) => self.breached(breach, seq),
            act if self.enters(act, at) => {}
            act if self.shakes_hands(act, at) => {}
            act => self.runs(act, at),
        }
        self.updated_at = at;
        self.seq = seq;
    }

    /// What leads from state to state.
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

    /// What happens between a launch and the team's work.
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

    /// What happens while the team works.
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

    /// Somebody new has to be reviewed too.
    fn joined(&mut self, name: &str) {
        let mut domain = Domain::new(name, true);
        // Who was here before has used its message ids already.
        for old in self.domains.extract_if(.., |one| one.domain == name) {
            domain.earlier_ids = old.earlier_ids;
            domain.earlier_ids.extend(old.message_id);
        }
        self.domains.push(domain);
        self.round1_complete = false;
        self.close_gate();
    }

    /// The gate has to be cleared anew, and the synthesis asked for anew.
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

    /// Stands in that state, and forgets what belongs to those behind it.
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
            // The name was known, and the branch is the only one that there is.
            self.team_name.clone_from(&probe.team_name);
            self.case = probe.outcome.case();
        }
        if state < State::TeamProbed {
            self.probe = None;
        }
        self.state = state;
    }

    /// The case that the answer of TeamCreate was read as, whether its branch was taken or not.
    pub fn known_case(&self) -> Option<Case> {
        let read = || self.probe.as_ref()?.outcome.case();
        self.case.or_else(read)
    }

    /// The handshake with that member of the core.
    pub fn handshake(&self, core: Core) -> Handshake {
        self.core[core as usize]
    }
    fn handshake_mut(&mut self, core: Core) -> &mut Handshake {
        &mut self.core[core as usize]
    }
    /// Whether both of the core are ready.
    pub fn both_acked(&self) -> bool {
        self.core.iter().all(|handshake| handshake.acked)
    }
    /// The core members that are not ready yet.
    pub fn unready(&self) -> Vec<Core> {
        let unready = |core: &Core| !self.handshake(*core).acked;
        Core::ALL.iter().copied().filter(unready).collect()
    }
    /// A domain of the running team that was not left out.
    pub fn active_domain(&self, name: &str) -> Option<&Domain> {
        self.active().find(|domain| domain.domain == name)
    }
    /// The domains that were not left out.
    pub fn active(&self) -> impl Iterator<Item = &Domain> {
        let domains = self.domains.iter();
        domains.filter(|domain| domain.excluded.is_none())
    }
    /// The team's name, as far as the attempt to create one gave it.
    pub fn known_team_name(&self) -> Option<&str> {
        let probed = self
            .probe
            .iter()
            .find_map(|probe| probe.team_name.as_deref());
        self.team_name.as_deref().or(probed)
    }
    /// Whether there is a team to work with, as far as anybody knows.
    pub fn is_usable(&self) -> bool {
        self.probe.iter().any(|probe| probe.outcome.is_usable())
    }
    /// When the next thing of it times out.
    pub fn due(&self) -> Option<i64> {
        let deliveries = self.active().flat_map(|domain| &domain.deliveries);
        let deliveries = deliveries.filter_map(|delivery| delivery.until);
        deliveries.chain(self.handshake_until).min()
    }
}

/// Until when something waits: as its event says, else so long behind it, as logs of earlier versions have it.
fn until(due_at: Option<Timestamp>, at: i64, micros: i64) -> i64 {
    due_at.map_or(at.saturating_add(micros), Timestamp::micros)
}

impl Delivery {
    /// Whether it was not confirmed in time twice, nor later.
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

    /// Nothing of it times out any more.
    fn rest(&mut self) {
        for delivery in &mut self.deliveries {
            delivery.until = None;
        }
    }

    /// What became of its result with that member of the core.
    pub fn delivery(&self, core: Core) -> &Delivery {
        &self.deliveries[core as usize]
    }
    fn delivery_mut(&mut self, core: Core) -> &mut Delivery {
        &mut self.deliveries[core as usize]
    }
    /// Whether both of the core have the result of this round.
    pub fn is_delivered(&self) -> bool {
        self.deliveries.iter().all(|delivery| delivery.acked)
    }
    /// Whether both of the core have the result of this round, and nobody waits for an ack of it.
    pub fn is_settled(&self) -> bool {
        self.is_delivered() && !self.blocked
    }
    /// Whether the result of this round was reviewed.
    pub fn is_reviewed(&self) -> bool {
        self.reviewed == self.round && self.verdict.is_some()
    }
    /// Whether nothing stands against it.
    pub fn passes(&self) -> bool {
        self.is_reviewed() && self.verdict == Some(Verdict::Pass)
    }
}
