//! What happened in a run of the bootstrap contract, and the JSON of those payloads.
//!
//! Every payload has `run`, and `note` and `details` where the caller gave them, and `message`, an object, where a member's
//! message held more than its event has fields for; beside these:
//!
//! | kind | payload |
//! |---|---|
//! | `bootstrap_started` | `{domains[]}` |
//! | `bootstrap_probed` | `{outcome, team_name?, message?}` |
//! | `bootstrap_branch_taken` | `{case, team_name?}` |
//! | `bootstrap_fallback_entered` | `{reason?}` |
//! | `bootstrap_roster_built` | `{core[], domains[]}` |
//! | `bootstrap_team_launched` | `{method, members[]}` |
//! | `bootstrap_blocked` | `{code, at_state, raw?}` |
//! | `bootstrap_core_pinged` | `{to}` |
//! | `bootstrap_core_acked` | `{from}` |
//! | `bootstrap_handshake_timed_out` | `{missing[]}` |
//! | `bootstrap_core_relaunched` | `{missing[]}` |
//! | `bootstrap_running_entered` | `{evidence{…}}` |
//! | `bootstrap_swarm_declared`, `bootstrap_skeleton_sent` | `{}` |
//! | `bootstrap_domain_started`, `bootstrap_member_added` | `{domain}` |
//! | `bootstrap_mapping_delivered` | `{domain, message_id, to, round, resent, domain_file_path?, path_origin?}` |
//! | `bootstrap_delivery_acked` | `{domain, message_id, by}` |
//! | `bootstrap_delivery_timed_out` | `{domain, message_id, missing_ack, blocked}` |
//! | `bootstrap_feedback_given` | `{domain, round, verdict, reason?, fix_requests?}` |
//! | `bootstrap_revision_submitted` | `{domain, round}` |
//! | `bootstrap_domain_excluded` | `{domain, reason}` |
//! | `bootstrap_round_completed` | `{reviewed_domains[]}` |
//! | `bootstrap_gate_cleared` | `{clear_summary{…}, conditions_for_final_synthesis[]}` |
//! | `bootstrap_final_synthesis_requested` | `{}` |
//! | `bootstrap_final_synthesis_acked`, `bootstrap_synthesis_delivered` | `{by}` |
//! | `bootstrap_signal_recorded` | `{signal, …}`, as it was reported |
//! | `bootstrap_breached` | `{code, event, data{…}, at_state, rolled_back_to, why}` |

use crate::bootstrap::{
    Case, Core, DELIVERY_MICROS, Evidence, HANDSHAKE_MICROS, Method, Outcome, State, Verdict,
};
use crate::fact::event;
use crate::fact::stored::{Decoded, id, name, read};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use teamlog_engine::{Json, JsonError, NewEvent, RefKind, Timestamp};

/// The kinds that [`parse`] knows.
pub(crate) const KINDS: &[&str] = &[
    "bootstrap_blocked",
    "bootstrap_branch_taken",
    "bootstrap_breached",
    "bootstrap_core_acked",
    "bootstrap_core_pinged",
    "bootstrap_core_relaunched",
    "bootstrap_delivery_acked",
    "bootstrap_delivery_timed_out",
    "bootstrap_domain_excluded",
    "bootstrap_domain_started",
    "bootstrap_fallback_entered",
    "bootstrap_feedback_given",
    "bootstrap_final_synthesis_acked",
    "bootstrap_final_synthesis_requested",
    "bootstrap_gate_cleared",
    "bootstrap_handshake_timed_out",
    "bootstrap_mapping_delivered",
    "bootstrap_member_added",
    "bootstrap_probed",
    "bootstrap_revision_submitted",
    "bootstrap_roster_built",
    "bootstrap_round_completed",
    "bootstrap_running_entered",
    "bootstrap_signal_recorded",
    "bootstrap_skeleton_sent",
    "bootstrap_started",
    "bootstrap_swarm_declared",
    "bootstrap_synthesis_delivered",
    "bootstrap_team_launched",
];

/// Where the kind of an event stands beside its payload while it is read or written; no field of a payload is called so.
const TAG: &str = "@kind";

/// What happened, and in which run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BootstrapFact {
    /// The run.
    pub run: String,
    /// What happened.
    pub act: BootstrapAct,
}

/// What can happen in a run. Its tag is the kind of the event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "@kind")]
pub enum BootstrapAct {
    /// The run began.
    #[serde(rename = "bootstrap_started")]
    Started {
        /// The domains that it is about, as far as they are known.
        #[serde(default)]
        domains: Vec<String>,
    },
    /// The attempt to create a team returned.
    #[serde(rename = "bootstrap_probed")]
    Probed(Probe),
    /// The branch of that outcome.
    #[serde(rename = "bootstrap_branch_taken")]
    BranchTaken {
        /// Which one.
        case: Case,
        /// The team to work with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        team_name: Option<String>,
    },
    /// No team; the end.
    #[serde(rename = "bootstrap_fallback_entered")]
    FallbackEntered {
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Whom to launch.
    #[serde(rename = "bootstrap_roster_built")]
    RosterBuilt {
        /// Always both.
        core: Vec<Core>,
        /// The domains.
        domains: Vec<String>,
    },
    /// All were launched at once.
    #[serde(rename = "bootstrap_team_launched")]
    TeamLaunched {
        /// How.
        method: Method,
        /// Who: the whole roster.
        members: Vec<String>,
        /// When the handshake times out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        due_at: Option<Timestamp>,
    },
    /// There is no way to launch a team.
    #[serde(rename = "bootstrap_blocked")]
    Blocked {
        /// The contract's code.
        code: String,
        /// Where the run stood, and stands.
        at_state: State,
        /// What the platform answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        raw: Option<String>,
    },
    /// A core member was asked whether it is ready.
    #[serde(rename = "bootstrap_core_pinged")]
    CorePinged {
        /// Which one.
        to: Core,
    },
    /// A core member is ready.
    #[serde(rename = "bootstrap_core_acked")]
    CoreAcked {
        /// Which one.
        from: Core,
    },
    /// The handshake took too long; the acks so far count no more.
    #[serde(rename = "bootstrap_handshake_timed_out")]
    HandshakeTimedOut {
        /// Whose acks were missing.
        missing: Vec<Core>,
    },
    /// Core members were launched again.
    #[serde(rename = "bootstrap_core_relaunched")]
    CoreRelaunched {
        /// Which ones.
        missing: Vec<Core>,
        /// When the handshake times out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        due_at: Option<Timestamp>,
    },
    /// The team works.
    #[serde(rename = "bootstrap_running_entered")]
    RunningEntered {
        /// What shows that it was launched as it should be.
        evidence: Evidence,
    },
    /// The lead said that the team works.
    #[serde(rename = "bootstrap_swarm_declared")]
    SwarmDeclared {},
    /// The domains know the categories.
    #[serde(rename = "bootstrap_skeleton_sent")]
    SkeletonSent {},
    /// A domain's flow began.
    #[serde(rename = "bootstrap_domain_started")]
    DomainStarted {
        /// Which one.
        domain: String,
    },
    /// A domain gave its result to a core member.
    #[serde(rename = "bootstrap_mapping_delivered")]
    MappingDelivered(Delivered),
    /// A core member has a domain's result.
    #[serde(rename = "bootstrap_delivery_acked")]
    DeliveryAcked {
        /// The domain.
        domain: String,
        /// The result.
        message_id: String,
        /// Who has it.
        by: Core,
    },
    /// That was not said in time.
    #[serde(rename = "bootstrap_delivery_timed_out")]
    DeliveryTimedOut {
        /// The domain.
        domain: String,
        /// The result.
        message_id: String,
        /// Who did not say so.
        missing_ack: Core,
        /// Whether it was the second time.
        blocked: bool,
    },
    /// A domain's result was reviewed.
    #[serde(rename = "bootstrap_feedback_given")]
    FeedbackGiven(Feedback),
    /// A domain gives another result.
    #[serde(rename = "bootstrap_revision_submitted")]
    RevisionSubmitted {
        /// The domain.
        domain: String,
        /// The round that begins for it.
        round: u32,
    },
    /// A domain was left out.
    #[serde(rename = "bootstrap_domain_excluded")]
    DomainExcluded {
        /// Which one.
        domain: String,
        /// Why.
        reason: String,
    },
    /// Everything was reviewed once.
    #[serde(rename = "bootstrap_round_completed")]
    RoundCompleted {
        /// What.
        reviewed_domains: Vec<String>,
    },
    /// Nothing stands against the synthesis.
    #[serde(rename = "bootstrap_gate_cleared")]
    GateCleared {
        /// What the reviewer says of it, as it was given.
        clear_summary: Map<String, Value>,
        /// What the synthesis has to respect, as it was given.
        #[serde(default)]
        conditions_for_final_synthesis: Vec<Value>,
    },
    /// The final synthesis was asked for.
    #[serde(rename = "bootstrap_final_synthesis_requested")]
    FinalSynthesisRequested {},
    /// The synthesizer is at it.
    #[serde(rename = "bootstrap_final_synthesis_acked")]
    FinalSynthesisAcked {
        /// Who.
        by: Core,
    },
    /// It is there.
    #[serde(rename = "bootstrap_synthesis_delivered")]
    SynthesisDelivered {
        /// From whom.
        by: Core,
    },
    /// A domain joined.
    #[serde(rename = "bootstrap_member_added")]
    MemberAdded {
        /// Which one.
        domain: String,
    },
    /// Something was reported that moves nothing.
    #[serde(rename = "bootstrap_signal_recorded")]
    SignalRecorded {
        /// What.
        signal: String,
        /// The rest of it.
        #[serde(flatten)]
        said: Map<String, Value>,
    },
    /// The contract was violated; the run stands where it last was legal.
    #[serde(rename = "bootstrap_breached")]
    Breached(Breach),
}

/// `bootstrap_probed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// What it gave.
    pub outcome: Outcome,
    /// The team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team_name: Option<String>,
    /// What was answered, where that is all that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// `bootstrap_mapping_delivered`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivered {
    /// The domain.
    pub domain: String,
    /// The result, the same for both recipients.
    pub message_id: String,
    /// Who got it.
    pub to: Core,
    /// The domain's round.
    pub round: u32,
    /// Whether it was sent before, in vain.
    pub resent: bool,
    /// When the delivery times out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Timestamp>,
    /// The file that the domain worked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain_file_path: Option<String>,
    /// How that file was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_origin: Option<String>,
}

/// `bootstrap_feedback_given`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Feedback {
    /// The domain.
    pub domain: String,
    /// Its round.
    pub round: u32,
    /// What was found.
    pub verdict: Verdict,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What is to be done about it, as it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix_requests: Option<Value>,
}

/// `bootstrap_breached`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Breach {
    /// The contract's code.
    pub code: String,
    /// The event that was reported.
    pub event: String,
    /// What was reported with it.
    #[serde(default)]
    pub data: Map<String, Value>,
    /// Where the run stood.
    pub at_state: State,
    /// Where it stands.
    pub rolled_back_to: State,
    /// What was violated.
    pub why: String,
}

pub(crate) fn parse(kind: &str, payload: &str) -> Decoded<BootstrapFact> {
    let mut fields: Map<String, Value> = read(payload)?;
    let Some(Value::String(run)) = fields.remove("run") else {
        return Err("run is missing".to_owned());
    };
    name("run", &run)?;
    fields.insert(TAG.to_owned(), kind.into());
    let act: BootstrapAct =
        serde_json::from_value(Value::Object(fields)).map_err(|error| error.to_string())?;
    act.check()?;
    Ok(BootstrapFact { run, act })
}

impl BootstrapAct {
    /// Domains become refs and are shown line by line.
    fn check(&self) -> Decoded<()> {
        match self {
            BootstrapAct::Started { domains } | BootstrapAct::RosterBuilt { domains, .. } => {
                domains.iter().try_for_each(|domain| id("domains", domain))
            }
            act => act.domain().map_or(Ok(()), |domain| id("domain", domain)),
        }
    }

    /// The same as it happens now: what begins to wait says until when. The event's own time may lie ahead of now.
    #[must_use]
    pub fn starting(mut self, now: Timestamp) -> BootstrapAct {
        let (due_at, micros) = match &mut self {
            BootstrapAct::TeamLaunched { due_at, .. }
            | BootstrapAct::CoreRelaunched { due_at, .. } => (due_at, HANDSHAKE_MICROS),
            BootstrapAct::MappingDelivered(delivered) => (&mut delivered.due_at, DELIVERY_MICROS),
            _ => return self,
        };
        *due_at = Some(now.plus_micros(micros));
        self
    }

    /// The domain that it is about, if it is about one.
    pub fn domain(&self) -> Option<&str> {
        match self {
            BootstrapAct::DomainStarted { domain }
            | BootstrapAct::DeliveryAcked { domain, .. }
            | BootstrapAct::DeliveryTimedOut { domain, .. }
            | BootstrapAct::RevisionSubmitted { domain, .. }
            | BootstrapAct::DomainExcluded { domain, .. }
            | BootstrapAct::MemberAdded { domain } => Some(domain),
            BootstrapAct::MappingDelivered(delivered) => Some(&delivered.domain),
            BootstrapAct::FeedbackGiven(feedback) => Some(&feedback.domain),
            _ => None,
        }
    }

    /// The member that it is about: the domain, else one of the core.
    pub fn member(&self) -> Option<&str> {
        match self {
            BootstrapAct::CorePinged { to: core }
            | BootstrapAct::CoreAcked { from: core }
            | BootstrapAct::FinalSynthesisAcked { by: core }
            | BootstrapAct::SynthesisDelivered { by: core } => Some(core.name()),
            act => act.domain(),
        }
    }

    /// Who did it, if it was no deed of the lead's.
    pub fn doer(&self) -> Option<&str> {
        match self {
            BootstrapAct::CoreAcked { from: by }
            | BootstrapAct::DeliveryAcked { by, .. }
            | BootstrapAct::FinalSynthesisAcked { by }
            | BootstrapAct::SynthesisDelivered { by } => Some(by.name()),
            BootstrapAct::FeedbackGiven(_)
            | BootstrapAct::RoundCompleted { .. }
            | BootstrapAct::GateCleared { .. } => Some(Core::Obstruction.name()),
            BootstrapAct::MappingDelivered(delivered) => Some(&delivered.domain),
            BootstrapAct::RevisionSubmitted { domain, .. } => Some(domain),
            _ => None,
        }
    }
}

impl BootstrapFact {
    /// The event that records it; `beside` is what the caller wants kept with it, `trace` that of the run.
    ///
    /// # Errors
    /// What the caller gave is too deep for an event, or has numbers that one cannot hold.
    pub fn event(
        &self,
        actor: &str,
        trace: Option<&str>,
        beside: &Map<String, Value>,
    ) -> Result<NewEvent, JsonError> {
        let Ok(Value::Object(mut fields)) = serde_json::to_value(&self.act) else {
            let message = "it does not serialise".to_owned();
            return Err(JsonError { message, offset: 0 });
        };
        let kind = fields.remove(TAG);
        let kind = kind.as_ref().and_then(Value::as_str).unwrap_or_default();
        let kind = KINDS.iter().find(|known| **known == kind);
        let mut payload = Map::new();
        payload.insert("run".to_owned(), self.run.as_str().into());
        payload.extend(beside.clone());
        payload.append(&mut fields);
        let kind = kind.copied().unwrap_or("bootstrap_signal_recorded");
        let mut event = event(kind, actor, Json::of(&payload)?);
        event
            .refs
            .set_given([(RefKind::Trace, trace), (RefKind::Agent, self.act.member())]);
        Ok(event)
    }
}
