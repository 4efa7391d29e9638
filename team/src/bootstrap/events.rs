//! The reportable events of a run: their names, the states in which each event is legal, and their fields. The reader of
//! payloads, the rules and the documents all use this table.
//!
//! A signal between members counts as the event that has the same meaning, if there is such an
//! event.

use super::*;
use State::{CoreReady, Fallback, Init, MembersReady, Running, TeamProbed, TeamReady};
use schemars::{Schema, SchemaGenerator, json_schema};

/// An event in the table of events.
#[derive(Debug)]
pub struct EventRow {
    /// The event.
    pub event: Event,
    /// Name of the event.
    pub name: &'static str,
    /// States in which the event is legal.
    pub from: &'static [State],
    /// State that the event leads to; empty if the event does not change the state.
    pub to: &'static str,
    /// Fields of the event's data.
    pub fields: &'static [Field],
    /// Further conditions, each with the code of its refusal.
    pub guard: &'static str,
}

/// A field of an event's data.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// Name of the field.
    pub name: &'static str,
    /// Other accepted names of the field.
    pub aliases: &'static [&'static str],
    /// True if the field is required.
    pub required: bool,
}

const fn must(name: &'static str, aliases: &'static [&'static str]) -> Field {
    Field {
        name,
        aliases,
        required: true,
    }
}

const fn may(name: &'static str, aliases: &'static [&'static str]) -> Field {
    Field {
        required: false,
        ..must(name, aliases)
    }
}

/// Fields that every event may have, with any value. The rules ignore these fields; they are only
/// stored.
pub const KEPT: [&str; 2] = ["note", "details"];

const DOMAIN: Field = must("domain", &["d", "domain_key"]);
const MESSAGE_ID: Field = must("message_id", &["id"]);
const ROUND: Field = may("round", &[]);
const TEAM_NAME: Field = may("team_name", &["name", "team"]);
const BY: Field = may("by", &["from", "actor"]);
const METHOD: Field = may("method", &["launch_method"]);
const MODE: Field = may("launch_mode", &["mode"]);
const MISSING: Field = may("missing", &["members", "to"]);

/// Declares the events and their table.
macro_rules! table {
    ($($event:ident = $name:literal, $from:expr => $to:literal, $fields:expr, $guard:literal;)*) => {
        /// An event that can be reported.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Event {
            $(#[doc = concat!("`", $name, "`.")] $event,)*
        }

        /// All events, in the order in which a run reaches them.
        pub const EVENTS: &[EventRow] = &[$(EventRow {
            event: Event::$event,
            name: $name,
            from: $from,
            to: $to,
            fields: $fields,
            guard: $guard,
        },)*];
    };
}

table! {
    TeamCreateReturned = "team_create_returned", &[Init, TeamProbed] => "TEAM_PROBED",
        &[may("outcome", &[]), TEAM_NAME, may("message", &["msg"]), may("raw", &["returned", "result", "answer"])],
        "in `TEAM_PROBED` only if the previous answer was not recognised or named no team (`illegal_event`)";
    BranchTaken = "branch_taken", &[TeamProbed] => "TEAM_READY (A, B), FALLBACK (C)",
        &[may("case", &["branch"]), TEAM_NAME],
        "the case agrees with the outcome; cases A and B have a team name (`branch_mismatch`)";
    FallbackEntered = "fallback_entered", &[TeamProbed, MembersReady] => "FALLBACK",
        &[may("reason", &["why"])],
        "no team can be created, or the team cannot be launched (`PROTOCOL_BREACH_INVALID_FALLBACK_REASON`)";
    RosterBuilt = "roster_built", &[TeamReady] => "MEMBERS_READY",
        &[may("core", &[]), may("domains", &["selected_domains"]), may("members", &["roster"])],
        "the roster names both members of the core and every selected domain, at least one domain, and no name twice (`roster_incomplete`)";
    TeamLaunched = "team_launched", &[MembersReady] => "CORE_READY",
        &[must("method", &["launch_method"]), MODE, may("members", &["roster"]), may("core", &[]), may("domains", &["selected_domains"])],
        "the mode is `team_launch` or a mode of tasks (`invalid_input`); the launched members equal the roster (`PROTOCOL_BREACH_PARTIAL_ATOMIC_LAUNCH`, `roster_incomplete`)";
    TaskLaunched = "task_launched", &[Running] => "",
        &[must("member", &["agent", "domain"]), TEAM_NAME, may("subagent_type", &[]), may("description", &["prompt"])],
        "a warning; before `RUNNING` it is `PROTOCOL_BREACH_INITIAL_TASK_LAUNCH`";
    LaunchUnavailable = "launch_unavailable", &[MembersReady] => "",
        &[may("raw", &["message", "msg", "returned", "reason"])],
        "recorded as `PROTOCOL_BLOCKED_TEAM_LAUNCH_UNAVAILABLE`";
    CorePinged = "core_pinged", &[CoreReady] => "",
        &[may("to", &["core", "members"])],
        "`to` names members of the core (`illegal_event`); without `to` both are meant";
    CoreReadyAck = "core_ready_ack", &[CoreReady] => "",
        &[must("from", &["by", "actor"]), may("launch", &[])],
        "a member of the core sends it for this launch (`illegal_event`)";
    CoreHandshakeTimedOut = "core_handshake_timed_out", &[CoreReady] => "",
        &[MISSING],
        "an ack is missing, and `missing` names only members of the core (`illegal_event`); recorded as `PROTOCOL_BREACH_CORE_NOT_READY`";
    CoreRelaunched = "core_relaunched", &[CoreReady] => "",
        &[MISSING, METHOD, MODE],
        "the launch is at team level, and of members of the core only (`illegal_event`)";
    RunningEntered = "running_entered", &[CoreReady] => "RUNNING",
        &[may("evidence", &["launch_evidence", "LAUNCH_EVIDENCE"]), may("launch_mode", &[]), may("launch_method", &[]), may("team_name", &[]),
            may("selected_domains", &[]), may("active_core_members", &[]), may("core_ready_ack", &[])],
        "both acks were reported (`PROTOCOL_BREACH_CORE_NOT_READY`); the evidence is valid and agrees with the log (`evidence_invalid`)";
    SwarmDeclared = "swarm_declared", &[Running] => "",
        &[may("text", &["message"])],
        "before both acks it is `PROTOCOL_BREACH_CORE_NOT_READY`";
    SkeletonSent = "skeleton_sent", &[Running] => "",
        &[may("skeleton", &[]), may("domains", &["to"])],
        "before both acks it is `PROTOCOL_BREACH_DOMAIN_BEFORE_CORE_READY`";
    DomainStarted = "domain_started", &[Running] => "",
        &[DOMAIN],
        "the domain is active (`illegal_event`); before both acks it is `PROTOCOL_BREACH_DOMAIN_BEFORE_CORE_READY`";
    MappingResult = "mapping_result", &[Running] => "",
        &[DOMAIN, MESSAGE_ID, must("to", &["recipient"]), ROUND, may("domain_file_path", &["path"]), may("path_origin", &[])],
        "the domain is active, a round has one message id, and a result is sent again at most once (`illegal_event`); the path is absolute or in `references/` (`invalid_input`); before both acks it is `PROTOCOL_BREACH_DOMAIN_BEFORE_CORE_READY`";
    LeadContent = "lead_content", &[Fallback] => "",
        &[must("kind", &["type"]), may("role", &["ROLE"]), may("simulation", &["fallback"]), may("reason", &["why"]), may("domain", &["d"])],
        "in `FALLBACK` with a role; else `PROTOCOL_BREACH_LEAD_SOLO_ANALYSIS`";
    DeliveryAck = "delivery_ack", &[Running] => "",
        &[must("by", &["from", "actor"]), DOMAIN, MESSAGE_ID, may("status", &[])],
        "this result was delivered to this member of the core (`illegal_event`); `status` is `received` (`invalid_input`)";
    DeliveryAckTimeout = "delivery_ack_timeout", &[Running] => "",
        &[DOMAIN, may("message_id", &["id"]), may("missing_ack", &["by", "missing"])],
        "this result is not confirmed yet (`illegal_event`); the second time-out blocks the domain";
    ObstructionFeedback = "obstruction_feedback", &[Running] => "",
        &[DOMAIN, must("verdict", &[]), ROUND, may("reason", &["why"]), may("fix_requests", &[]), BY],
        "the result of this round was delivered (`review_before_result`); if the lead sends it, it is `PROTOCOL_BREACH_LEAD_SOLO_ANALYSIS`";
    Round1Complete = "round1_complete", &[Running] => "",
        &[may("coverage", &[]), may("verdicts", &["domain_verdicts"]), BY],
        "every active domain was reviewed, and both members of the core confirmed its result (`round1_incomplete`)";
    DomainExcluded = "domain_excluded", &[Running] => "",
        &[DOMAIN, may("reason", &["why"])],
        "the domain is active (`illegal_event`); a reason is given (`reason_required`)";
    RevisionSubmitted = "revision_submitted", &[Running] => "",
        &[DOMAIN, ROUND],
        "the last verdict is REVISE or REJECT (`untriggered_revision`)";
    GateCleared = "gate_cleared", &[Running] => "",
        &[may("clear_summary", &["summary"]), may("conditions_for_final_synthesis", &["conditions"]), BY],
        "round 1 is complete, every active domain passes, both members of the core confirmed its result, and the summary has all its fields (`gate_refused`)";
    FinalSynthesisRequested = "final_synthesis_requested", &[Running] => "",
        &[BY],
        "the gate is cleared (`gate_not_cleared`)";
    FinalSynthesisAck = "final_synthesis_ack", &[Running] => "",
        &[BY, may("status", &[])],
        "the synthesizer sends it after the request (`illegal_event`); `status` is `accepted` (`invalid_input`); if the lead sends it, it is `PROTOCOL_BREACH_LEAD_SOLO_ANALYSIS`";
    SynthesisResult = "synthesis_result", &[Running] => "",
        &[must("by", &["from", "actor"])],
        "the synthesizer sends it after the request (`illegal_event`); if the lead sends it, it is `PROTOCOL_BREACH_LEAD_SOLO_ANALYSIS`";
    MemberAdded = "member_added", &[Running] => "",
        &[must("domain", &["d", "member", "name"]), METHOD, MODE],
        "the launch is at team level, and the domain is no member yet (`illegal_event`); it opens round 1 and the gate again";
    Signal = "signal", &[Init, TeamProbed, TeamReady, MembersReady, CoreReady, Running, Fallback] => "",
        &[must("signal", &["name"])],
        "accepts any further fields";
}

/// A signal, its event, and the field with a value that the signal implies.
pub type SignalRow = (&'static str, Event, Option<(&'static str, &'static str)>);

const OBSTRUCTION: &str = "obstruction-theorist";
const SYNTHESIZER: &str = "synthesizer";

/// Signals that count as events.
#[rustfmt::skip]
pub const SIGNALS: &[SignalRow] = &[
    ("CORE_BOOTSTRAP_PING", Event::CorePinged, None),
    ("OBSTRUCTION_CORE_READY_ACK", Event::CoreReadyAck, Some(("from", OBSTRUCTION))),
    ("SYNTHESIZER_CORE_READY_ACK", Event::CoreReadyAck, Some(("from", SYNTHESIZER))),
    ("CATEGORY_SKELETON", Event::SkeletonSent, None),
    ("MAPPING_RESULT_ROUND1", Event::MappingResult, Some(("to", OBSTRUCTION))),
    ("MAPPING_RESULT_JSON", Event::MappingResult, Some(("to", SYNTHESIZER))),
    ("OBSTRUCTION_ACK_RECEIVED", Event::DeliveryAck, Some(("by", OBSTRUCTION))),
    ("SYNTHESIZER_ACK_RECEIVED", Event::DeliveryAck, Some(("by", SYNTHESIZER))),
    ("OBSTRUCTION_DELIVERY_ACK", Event::DeliveryAck, Some(("by", OBSTRUCTION))),
    ("SYNTHESIZER_DELIVERY_ACK", Event::DeliveryAck, Some(("by", SYNTHESIZER))),
    ("DELIVERY_ACK_TIMEOUT", Event::DeliveryAckTimeout, None),
    ("OBSTRUCTION_FEEDBACK", Event::ObstructionFeedback, Some(("by", OBSTRUCTION))),
    ("OBSTRUCTION_ROUND1_COMPLETE", Event::Round1Complete, Some(("by", OBSTRUCTION))),
    ("OBSTRUCTION_GATE_CLEARED", Event::GateCleared, Some(("by", OBSTRUCTION))),
    ("FINAL_SYNTHESIS_REQUEST", Event::FinalSynthesisRequested, None),
    ("FINAL_SYNTHESIS_ACK", Event::FinalSynthesisAck, Some(("by", SYNTHESIZER))),
    ("SYNTHESIS_RESULT_JSON", Event::SynthesisResult, Some(("by", SYNTHESIZER))),
];

/// Signals without an event, which are only recorded.
pub const OTHER_SIGNALS: &[&str] = &[
    "OBSTRUCTION_DIAGNOSIS",
    "SCHEMA_REJECTED",
    "PRELIMINARY_SYNTHESIS",
    "COMMUTATIVITY_OBSTRUCTION_ALERT",
    "WAITING_OBSTRUCTION_FEEDBACK",
    "SYNTHESIS_REMINDER_1",
    "SYNTHESIS_REMINDER_2",
    "DECISION_MEETING_REQUEST",
    "SYNTHESIS_BLOCKED",
];

impl Event {
    /// Returns the event's row of the table.
    pub fn row(self) -> &'static EventRow {
        &EVENTS[self as usize]
    }
    /// Returns the event's name.
    pub fn name(self) -> &'static str {
        self.row().name
    }
    /// Returns true if only a core member may report the event. If the lead reports such an event,
    /// the lead acts in place of the core.
    pub(super) fn is_of_core(self) -> bool {
        matches!(
            self,
            Event::ObstructionFeedback
                | Event::Round1Complete
                | Event::GateCleared
                | Event::FinalSynthesisAck
                | Event::SynthesisResult
        )
    }
    /// Returns true if the event can be a breach of the contract regardless of its data.
    pub(super) fn is_too_early_by_itself(self) -> bool {
        matches!(
            self,
            Event::SkeletonSent
                | Event::DomainStarted
                | Event::MappingResult
                | Event::RunningEntered
                | Event::SwarmDeclared
        )
    }
}

/// Meaning of a name: an event or a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameMeaning {
    /// An event, and the field with a value that the name implies.
    Event(Event, Option<(&'static str, &'static str)>),
    /// A signal that is only recorded.
    Signal(&'static str),
}

/// Returns the names of all events, then of all signals.
fn names() -> impl Iterator<Item = &'static str> {
    let events = EVENTS.iter().map(|row| row.name);
    let signals = SIGNALS.iter().map(|row| row.0);
    events.chain(signals).chain(OTHER_SIGNALS.iter().copied())
}

impl JsonSchema for NameMeaning {
    fn schema_name() -> Cow<'static, str> {
        "BootstrapEvent".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "An event of the bootstrap contract, or a signal",
            "enum": names().collect::<Vec<_>>(),
        })
    }
}

/// Returns the event or signal with the given name.
///
/// # Errors
/// `invalid_input`, with the nearest name.
pub fn named(name: &str) -> Result<NameMeaning, Refusal> {
    if let Some(row) = EVENTS.iter().find(|row| row.name == name) {
        return Ok(NameMeaning::Event(row.event, None));
    }
    if let Some((_, event, settled)) = SIGNALS.iter().find(|row| row.0 == name) {
        return Ok(NameMeaning::Event(*event, *settled));
    }
    if let Some(signal) = OTHER_SIGNALS.iter().find(|signal| **signal == name) {
        return Ok(NameMeaning::Signal(signal));
    }
    let near = spelling::nearest(name, names()).map_or("", |near| near.0);
    let message = format!(
        "event must be an event of the bootstrap contract, but is {}; did you mean {near}?",
        shown(name)
    );
    let refusal = Refusal::new(Code::InvalidInput, message).field("event");
    Err(refusal.detail("nearest", near))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_event_has_one_row_whose_fields_have_one_meaning() {
        let names: BTreeSet<&str> = EVENTS.iter().map(|row| row.name).collect();
        assert_eq!((names.len(), EVENTS.len()), (29, 29));
        for row in EVENTS {
            assert_eq!(row.event.row().name, row.name);
            assert!(
                !row.from.is_empty() && !row.guard.is_empty(),
                "{}",
                row.name
            );
            let mut seen = BTreeSet::new();
            for field in row.fields {
                for name in [field.name].iter().chain(field.aliases).chain(&KEPT) {
                    assert!(
                        seen.insert(*name) || KEPT.contains(name),
                        "{}: {name}",
                        row.name
                    );
                }
            }
        }
    }

    #[test]
    fn what_a_signal_settles_is_a_field_of_its_event() {
        for (signal, event, settled) in SIGNALS {
            assert!(
                matches!(named(signal).unwrap(), NameMeaning::Event(named, _) if named == *event)
            );
            if let Some((field, _)) = settled {
                let known = event.row().fields.iter().any(|one| one.name == *field);
                assert!(known, "{signal}");
            }
        }
    }

    #[test]
    fn a_mistyped_name_is_refused_with_the_nearest() {
        let refusal = named("team_create_return").unwrap_err();
        assert_eq!(refusal.code, Code::InvalidInput);
        assert_eq!(refusal.details["nearest"], "team_create_returned");
        assert!(named("").is_err());
    }
}
