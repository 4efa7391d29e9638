//! What happens in a run of the bootstrap contract, and the JSON of those payloads.
//!
//! Every payload has `run`, and `note` and `details` where the caller gave them, and `message`, an object, where a member's
//! message held more than its event has fields for.

mod words;

use crate::event::stored::{id, name};
use crate::event::*;
use serde_json::{Map, Value};
pub use words::{Case, Core, Method, Outcome, State, Verdict};

/// Where the kind of an event stands beside its payload while it is read or written; no field of a payload is called so.
const TAG: &str = "@kind";

/// How long a handshake with the core may take, in microseconds.
pub const HANDSHAKE_MICROS: i64 = 60_000_000;
/// How long a core member has to confirm a delivery, in microseconds.
pub const DELIVERY_MICROS: i64 = 90_000_000;

/// What happened, and in which run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BootstrapFact {
    /// The run.
    pub run: String,
    /// What happened.
    pub act: BootstrapAct,
}

/// Declares what can happen in a run: of each event what it says, its kind, its variant and its payload.
macro_rules! acts {
    ($(
        $(#[doc = $doc:literal])+ $kind:literal => $variant:ident $(($payload:ty))? $({ $($fields:tt)* })?,
    )*) => {
        /// What can happen in a run. Its tag is the kind of the event.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(tag = "@kind")]
        pub enum BootstrapAct {
            $($(#[doc = $doc])+ #[serde(rename = $kind)] $variant $(($payload))? $({ $($fields)* })?,)*
        }

        const KINDS: &[Kind] = &[$(Kind {
            name: $kind,
            command: Some(match $kind.as_bytes() {
                STARTED => "teamlog bootstrap start TEAM",
                _ => "teamlog bootstrap record TEAM",
            }),
            doc: concat!($($doc),+).trim_ascii(),
        },)*];

        impl BootstrapAct {
            fn kind(&self) -> &'static str {
                match self {
                    $(BootstrapAct::$variant { .. } => $kind,)*
                }
            }
        }
    };
}

const STARTED: &[u8] = b"bootstrap_started";

acts! {
    /// A run of the bootstrap contract began.
    "bootstrap_started" => Started {
        /// The domains that it is about, as far as they are known.
        #[serde(default)]
        domains: Vec<String>,
    },
    /// An attempt to create the team returned.
    "bootstrap_probed" => Probed(Probe),
    /// The probe's outcome chose the case to go on with.
    "bootstrap_branch_taken" => BranchTaken {
        /// Which one.
        case: Case,
        /// The team to work with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        team_name: Option<String>,
    },
    /// No team could be created; the flow ended in the fallback.
    "bootstrap_fallback_entered" => FallbackEntered {
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// The members to launch were chosen.
    "bootstrap_roster_built" => RosterBuilt {
        /// Always both.
        core: Vec<Core>,
        /// The domains.
        domains: Vec<String>,
    },
    /// The team was launched at once.
    "bootstrap_team_launched" => TeamLaunched {
        /// How.
        method: Method,
        /// Who: the whole roster.
        members: Vec<String>,
        /// When the handshake times out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        due_at: Option<Timestamp>,
    },
    /// The capability to launch a team was not available.
    "bootstrap_blocked" => Blocked {
        /// The contract's code.
        code: String,
        /// Where the run stood, and stands.
        at_state: State,
        /// What the platform answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        raw: Option<String>,
    },
    /// A core member was asked whether it is ready.
    "bootstrap_core_pinged" => CorePinged {
        /// Which one.
        to: Core,
    },
    /// A core member said that it is ready.
    "bootstrap_core_acked" => CoreAcked {
        /// Which one.
        from: Core,
    },
    /// A core member did not say in time that it is ready.
    "bootstrap_handshake_timed_out" => HandshakeTimedOut {
        /// Whose acks were missing.
        missing: Vec<Core>,
    },
    /// Missing core members were launched again.
    "bootstrap_core_relaunched" => CoreRelaunched {
        /// Which ones.
        missing: Vec<Core>,
        /// When the handshake times out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        due_at: Option<Timestamp>,
    },
    /// The evidence of the launch was accepted; the team runs.
    "bootstrap_running_entered" => RunningEntered {
        /// What shows that it was launched as it should be.
        evidence: Evidence,
    },
    /// The lead said that the team works.
    "bootstrap_swarm_declared" => SwarmDeclared {},
    /// The category skeleton went to all domains.
    "bootstrap_skeleton_sent" => SkeletonSent {},
    /// A domain's flow began.
    "bootstrap_domain_started" => DomainStarted {
        /// Which one.
        domain: String,
    },
    /// A domain delivered its result to a core member.
    "bootstrap_mapping_delivered" => MappingDelivered(Delivered),
    /// A core member confirmed a domain's result.
    "bootstrap_delivery_acked" => DeliveryAcked {
        /// The domain.
        domain: String,
        /// The result.
        message_id: String,
        /// Who has it.
        by: Core,
    },
    /// A domain's result was not confirmed in time.
    "bootstrap_delivery_timed_out" => DeliveryTimedOut {
        /// The domain.
        domain: String,
        /// The result.
        message_id: String,
        /// Who did not say so.
        missing_ack: Core,
        /// Whether it was the second time.
        blocked: bool,
    },
    /// The reviewer gave a domain its verdict.
    "bootstrap_feedback_given" => FeedbackGiven(Feedback),
    /// A domain began another round, since its result was not accepted.
    "bootstrap_revision_submitted" => RevisionSubmitted {
        /// The domain.
        domain: String,
        /// The round that begins for it.
        round: u32,
    },
    /// A domain was left out, with its reason.
    "bootstrap_domain_excluded" => DomainExcluded {
        /// Which one.
        domain: String,
        /// Why.
        reason: String,
    },
    /// The reviewer finished a round over all active domains.
    "bootstrap_round_completed" => RoundCompleted {
        /// What.
        reviewed_domains: Vec<String>,
    },
    /// The reviewer cleared the gate before the final synthesis.
    "bootstrap_gate_cleared" => GateCleared {
        /// What the reviewer says of it, as it was given.
        clear_summary: Map<String, Value>,
        /// What the synthesis has to respect, as it was given.
        #[serde(default)]
        conditions_for_final_synthesis: Vec<Value>,
    },
    /// The final synthesis was requested.
    "bootstrap_final_synthesis_requested" => FinalSynthesisRequested {},
    /// The request for the final synthesis was accepted.
    "bootstrap_final_synthesis_acked" => FinalSynthesisAcked {
        /// Who.
        by: Core,
    },
    /// The final synthesis was delivered.
    "bootstrap_synthesis_delivered" => SynthesisDelivered {
        /// From whom.
        by: Core,
    },
    /// A member joined the running team.
    "bootstrap_member_added" => MemberAdded {
        /// Which one.
        domain: String,
    },
    /// A signal that moves nothing was reported.
    "bootstrap_signal_recorded" => SignalRecorded {
        /// What.
        signal: String,
        /// The rest of it.
        #[serde(flatten)]
        said: Map<String, Value>,
    },
    /// A guard of the bootstrap contract was violated; the code says which.
    "bootstrap_breached" => Breached(Breach),
}

/// What shows that a team was launched as it should be
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "LaunchEvidence")]
pub struct Evidence {
    /// Always `team_launch`
    pub launch_mode: String,
    /// `team_api` or `platform_nl_team_invocation`
    pub launch_method: String,
    /// The team
    pub team_name: String,
    /// The domains that were launched
    pub selected_domains: Vec<String>,
    /// Always both of the core
    pub active_core_members: Vec<String>,
    /// Who of them said that it is ready
    pub core_ready_ack: CoreReadyAck,
}

/// Who of the core said that it is ready
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CoreReadyAck {
    /// The one that reviews
    #[serde(rename = "OBSTRUCTION_CORE_READY_ACK")]
    pub obstruction: bool,
    /// The one that puts everything together
    #[serde(rename = "SYNTHESIZER_CORE_READY_ACK")]
    pub synthesizer: bool,
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
    /// Whether it was sent before without an ack.
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

impl Events for BootstrapFact {
    const KINDS: &'static [Kind] = KINDS;

    fn from_payload(kind: &str, payload: &str) -> Decoded<BootstrapFact> {
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
}

impl BootstrapAct {
    /// Domains become refs and are shown line by line.
    fn check(&self) -> Decoded<()> {
        match self {
            BootstrapAct::Started { domains } | BootstrapAct::RosterBuilt { domains, .. } => {
                id("domains", domains)
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
        fields.remove(TAG);
        let mut payload = Map::new();
        payload.insert("run".to_owned(), self.run.as_str().into());
        payload.extend(beside.clone());
        payload.append(&mut fields);
        let refs = [(RefKind::Trace, trace), (RefKind::Agent, self.act.member())];
        Ok(event(
            self.act.kind(),
            actor,
            Json::from_value(&payload)?,
            refs,
        ))
    }
}
