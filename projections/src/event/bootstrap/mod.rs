//! Events of a run of the bootstrap contract, and the JSON of their payloads.
//!
//! Every payload has `run`. `note` and `details` are present if the caller gave them. The object `message` holds the fields of a
//! member's message for which the event has no field of its own.

mod words;

use crate::event::stored::{id, name};
use crate::event::*;
use serde_json::{Map, Value};
pub use words::{Case, Core, Method, Outcome, State, Verdict};

/// Key of the event's kind among the fields of a payload, while the payload is read or written. No payload has a field of this name.
const TAG: &str = "@kind";

/// Deadline of a handshake with the core, in microseconds.
pub const HANDSHAKE_MICROS: i64 = 60_000_000;
/// Deadline of a core member's ack for a delivery, in microseconds.
pub const DELIVERY_MICROS: i64 = 90_000_000;

/// An event of a bootstrap run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BootstrapFact {
    /// Id of the run.
    pub run: String,
    /// The event's kind and payload.
    pub act: BootstrapAct,
}

/// Declares the events of a run: the description, kind, variant and payload of each.
macro_rules! acts {
    ($(
        $(#[doc = $doc:literal])+ $kind:literal => $variant:ident $(($payload:ty))? $({ $($fields:tt)* })?,
    )*) => {
        /// An event of a run. The tag in JSON is the event's kind.
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
        /// Domains known at the start.
        #[serde(default)]
        domains: Vec<String>,
    },
    /// An attempt to create the team returned.
    "bootstrap_probed" => Probed(Probe),
    /// The probe's outcome selected a branch.
    "bootstrap_branch_taken" => BranchTaken {
        /// The selected branch.
        case: Case,
        /// Name of the team, if the branch has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        team_name: Option<String>,
    },
    /// No team could be created; the flow ended in the fallback.
    "bootstrap_fallback_entered" => FallbackEntered {
        /// Reason, if known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// The members to launch were chosen.
    "bootstrap_roster_built" => RosterBuilt {
        /// The core members: always both.
        core: Vec<Core>,
        /// Domains of the roster.
        domains: Vec<String>,
    },
    /// The team was launched at once.
    "bootstrap_team_launched" => TeamLaunched {
        /// Method of the launch.
        method: Method,
        /// Launched members: the whole roster.
        members: Vec<String>,
        /// Deadline of the handshake.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        due_at: Option<Timestamp>,
    },
    /// The capability to launch a team was not available.
    "bootstrap_blocked" => Blocked {
        /// Error code of the contract.
        code: String,
        /// State of the run, which this event leaves unchanged.
        at_state: State,
        /// Answer of the platform, if there was one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        raw: Option<String>,
    },
    /// A core member was asked whether it is ready.
    "bootstrap_core_pinged" => CorePinged {
        /// The core member that was asked.
        to: Core,
    },
    /// A core member answered that it is ready.
    "bootstrap_core_acked" => CoreAcked {
        /// The core member that answered.
        from: Core,
    },
    /// A core member did not answer the handshake in time.
    "bootstrap_handshake_timed_out" => HandshakeTimedOut {
        /// Core members that did not answer.
        missing: Vec<Core>,
    },
    /// Missing core members were launched again.
    "bootstrap_core_relaunched" => CoreRelaunched {
        /// The core members launched again.
        missing: Vec<Core>,
        /// Deadline of the handshake.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        due_at: Option<Timestamp>,
    },
    /// The launch evidence was accepted; the run is `RUNNING`.
    "bootstrap_running_entered" => RunningEntered {
        /// Evidence of the launch.
        evidence: Evidence,
    },
    /// The lead announced that the team works.
    "bootstrap_swarm_declared" => SwarmDeclared {},
    /// The category skeleton went to all domains.
    "bootstrap_skeleton_sent" => SkeletonSent {},
    /// A domain's flow began.
    "bootstrap_domain_started" => DomainStarted {
        /// The domain.
        domain: String,
    },
    /// A domain delivered its result to a core member.
    "bootstrap_mapping_delivered" => MappingDelivered(Delivered),
    /// A core member confirmed a domain's result.
    "bootstrap_delivery_acked" => DeliveryAcked {
        /// The domain.
        domain: String,
        /// Id of the result's message.
        message_id: String,
        /// The core member that confirmed.
        by: Core,
    },
    /// A domain's result was not confirmed in time.
    "bootstrap_delivery_timed_out" => DeliveryTimedOut {
        /// The domain.
        domain: String,
        /// Id of the result's message.
        message_id: String,
        /// The core member whose ack is missing.
        missing_ack: Core,
        /// True if this was the second timeout, which blocks the delivery.
        blocked: bool,
    },
    /// The reviewer gave a domain its verdict.
    "bootstrap_feedback_given" => FeedbackGiven(Feedback),
    /// A domain began another round, because the domain's result was not accepted.
    "bootstrap_revision_submitted" => RevisionSubmitted {
        /// The domain.
        domain: String,
        /// The round that begins for the domain.
        round: u32,
    },
    /// A domain was excluded, for the given reason.
    "bootstrap_domain_excluded" => DomainExcluded {
        /// The excluded domain.
        domain: String,
        /// Reason of the exclusion.
        reason: String,
    },
    /// The reviewer finished a round over all active domains.
    "bootstrap_round_completed" => RoundCompleted {
        /// The reviewed domains.
        reviewed_domains: Vec<String>,
    },
    /// The reviewer cleared the gate before the final synthesis.
    "bootstrap_gate_cleared" => GateCleared {
        /// The reviewer's summary, as given.
        clear_summary: Map<String, Value>,
        /// Conditions for the final synthesis, as given.
        #[serde(default)]
        conditions_for_final_synthesis: Vec<Value>,
    },
    /// The final synthesis was requested.
    "bootstrap_final_synthesis_requested" => FinalSynthesisRequested {},
    /// The request for the final synthesis was accepted.
    "bootstrap_final_synthesis_acked" => FinalSynthesisAcked {
        /// The core member that accepted.
        by: Core,
    },
    /// The final synthesis was delivered.
    "bootstrap_synthesis_delivered" => SynthesisDelivered {
        /// The core member that delivered.
        by: Core,
    },
    /// A member joined the running team.
    "bootstrap_member_added" => MemberAdded {
        /// The new member's domain.
        domain: String,
    },
    /// A signal that changes no state was reported.
    "bootstrap_signal_recorded" => SignalRecorded {
        /// Name of the signal.
        signal: String,
        /// Other fields of the report.
        #[serde(flatten)]
        said: Map<String, Value>,
    },
    /// A guard of the bootstrap contract was violated; the code names the guard.
    "bootstrap_breached" => Breached(Breach),
}

/// Evidence that the whole team was launched at once
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "LaunchEvidence")]
pub struct Evidence {
    /// Always `team_launch`
    pub launch_mode: String,
    /// `team_api` or `platform_nl_team_invocation`
    pub launch_method: String,
    /// Name of the team
    pub team_name: String,
    /// Launched domains
    pub selected_domains: Vec<String>,
    /// Core members; always both
    pub active_core_members: Vec<String>,
    /// Ready answers of the core members
    pub core_ready_ack: CoreReadyAck,
}

/// Ready answers of the core members
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CoreReadyAck {
    /// True if `obstruction-theorist` is ready
    #[serde(rename = "OBSTRUCTION_CORE_READY_ACK")]
    pub obstruction: bool,
    /// True if `synthesizer` is ready
    #[serde(rename = "SYNTHESIZER_CORE_READY_ACK")]
    pub synthesizer: bool,
}

/// Payload of `bootstrap_probed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// Outcome of the attempt.
    pub outcome: Outcome,
    /// Name of the team, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team_name: Option<String>,
    /// Text of the platform's answer, if the answer has no other data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Payload of `bootstrap_mapping_delivered`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivered {
    /// The domain.
    pub domain: String,
    /// Id of the result's message. Both recipients get the result under the same id.
    pub message_id: String,
    /// The core member that got the result.
    pub to: Core,
    /// Round of the domain.
    pub round: u32,
    /// True if the result was sent before and not acknowledged.
    pub resent: bool,
    /// Deadline of the ack.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Timestamp>,
    /// Path of the domain's file, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain_file_path: Option<String>,
    /// Origin of the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_origin: Option<String>,
}

/// Payload of `bootstrap_feedback_given`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Feedback {
    /// The domain.
    pub domain: String,
    /// Round of the domain.
    pub round: u32,
    /// The reviewer's verdict.
    pub verdict: Verdict,
    /// Reason of the verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Requested changes, as given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix_requests: Option<Value>,
}

/// Payload of `bootstrap_breached`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Breach {
    /// Error code of the contract.
    pub code: String,
    /// Name of the reported event.
    pub event: String,
    /// Data of the reported event.
    #[serde(default)]
    pub data: Map<String, Value>,
    /// State of the run before the violation.
    pub at_state: State,
    /// State of the run after the violation.
    pub rolled_back_to: State,
    /// Description of the violation.
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
    /// Checks the names of the domains, because they become refs, and text output shows one domain per line.
    fn check(&self) -> Decoded<()> {
        match self {
            BootstrapAct::Started { domains } | BootstrapAct::RosterBuilt { domains, .. } => {
                id("domains", domains)
            }
            act => act.domain().map_or(Ok(()), |domain| id("domain", domain)),
        }
    }

    /// Returns the act as it starts now: sets the deadline if the act begins a wait. The deadline counts from `now`, because the
    /// event's own time may be later than the clock.
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

    /// Returns the domain of the act; `None` if the act has no domain.
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

    /// Returns the member of the act: the domain, or else the core member.
    pub fn member(&self) -> Option<&str> {
        match self {
            BootstrapAct::CorePinged { to: core }
            | BootstrapAct::CoreAcked { from: core }
            | BootstrapAct::FinalSynthesisAcked { by: core }
            | BootstrapAct::SynthesisDelivered { by: core } => Some(core.name()),
            act => act.domain(),
        }
    }

    /// Returns the member that acted; `None` if the lead acted.
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
    /// Builds the event; `beside` holds the caller's extra fields, `trace` is the trace id of the run.
    ///
    /// # Errors
    /// If the caller's data are nested too deep for an event, or have numbers that an event cannot hold.
    pub fn event(
        &self,
        actor: &str,
        trace: Option<&str>,
        beside: &Map<String, Value>,
    ) -> Result<NewEvent, JsonError> {
        let Ok(Value::Object(mut fields)) = serde_json::to_value(&self.act) else {
            let message = "it cannot be serialized".to_owned();
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
