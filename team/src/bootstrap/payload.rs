//! What was reported: the name of an event and what was said with it, read into what the rules look at.

use super::events::{Event, Named, named};
use super::fields::{Fields, Who, invalid, names_in, split};
use super::how::{How, how, no_method};
use super::message::{self, SIGNAL};
use super::{path, probe};
use crate::projections::bootstrap::event::Probe;
use crate::projections::bootstrap::{Case, Core, Outcome, Verdict};
use crate::refusal::{Code, Refusal};
use serde_json::{Map, Value};

/// Something that was reported.
#[derive(Debug, Clone)]
pub struct Report {
    /// The event.
    pub event: Event,
    /// What was said.
    pub said: Payload,
    /// What was said, as it was given.
    pub data: Map<String, Value>,
    /// What is only kept with it.
    pub beside: Map<String, Value>,
}

/// What was said with an event.
#[derive(Debug, Clone)]
pub enum Payload {
    /// Something with a fault, of what may violate the contract whatever else is said with it: an event that comes too
    /// early, or one of the core's that the lead signs.
    Faulty(Box<Refusal>),
    Probe(Probe),
    Branch {
        case: Option<Case>,
        team_name: Option<String>,
    },
    Fallback {
        reason: Option<String>,
    },
    Roster {
        core: Option<Vec<Core>>,
        domains: Option<Vec<String>>,
    },
    Launch {
        how: How,
        members: Vec<String>,
    },
    Task,
    Unavailable {
        raw: Option<String>,
    },
    Ping {
        to: Vec<Core>,
    },
    Ready {
        from: Who,
        launch: Option<u32>,
    },
    HandshakeTimedOut,
    Relaunch {
        missing: Option<Vec<Core>>,
        how: Option<How>,
    },
    Running {
        evidence: Option<Map<String, Value>>,
    },
    Declared,
    Skeleton,
    Domain {
        domain: String,
    },
    Mapping(Mapping),
    LeadContent {
        role: Option<String>,
        simulation: bool,
    },
    Ack {
        by: Who,
        domain: String,
        message_id: String,
    },
    AckTimeout {
        missing: Option<Core>,
        domain: String,
        message_id: Option<String>,
    },
    Feedback(Review),
    Round1(Round1),
    Exclude {
        domain: String,
        reason: Option<String>,
    },
    Revision {
        domain: String,
        round: Option<u32>,
    },
    Gate {
        by: Who,
        summary: Option<Map<String, Value>>,
        conditions: Option<Vec<Value>>,
    },
    Request {
        by: Who,
    },
    ByWhom {
        by: Who,
    },
    Join {
        domain: String,
        how: Option<How>,
    },
    Signal {
        signal: String,
        said: Map<String, Value>,
    },
}

/// A domain's result on its way.
#[derive(Debug, Clone)]
pub struct Mapping {
    pub domain: String,
    pub message_id: String,
    pub to: Vec<Core>,
    pub round: Option<u32>,
    pub domain_file_path: Option<String>,
    pub path_origin: Option<String>,
}

/// A reviewer's verdict.
#[derive(Debug, Clone)]
pub struct Review {
    pub by: Who,
    pub domain: String,
    pub round: Option<u32>,
    pub verdict: Verdict,
    pub reason: Option<String>,
    pub fix_requests: Option<Value>,
}

/// A reviewer's word that everything was reviewed.
#[derive(Debug, Clone)]
pub struct Round1 {
    pub by: Who,
    pub reviewed: Option<Covered>,
    pub active: Option<Covered>,
    pub verdicts: Option<Map<String, Value>>,
}

/// Which domains a reviewer says that it looked at, or how many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Covered {
    Names(Vec<String>),
    Count(u64),
}

/// What the lead may write in place of others.
const CONTENTS: [&str; 3] = ["domain", "review", "synthesis"];
/// What an ack of a delivery says.
const RECEIVED: [&str; 1] = ["received"];
/// What an ack of the request for the synthesis says.
const ACCEPTED: [&str; 1] = ["accepted"];
/// Reads a report.
///
/// # Errors
/// `invalid_input`: there is no such event, or what was said has not its shape; `illegal_event`: somebody is named who
/// has no part in it.
pub fn read(name: &str, data: &Map<String, Value>) -> Result<Report, Refusal> {
    if let Named::Event(Event::Signal, _) = named(name)? {
        return signalled(data);
    }
    let opened = message::opened(name, data)?;
    let (mut told, mut data) = (opened.data, data.clone());
    let (event, settled) = match named(opened.name)? {
        Named::Event(event, settled) => (event, settled),
        Named::Signal(signal) => {
            told.insert(SIGNAL.to_owned(), signal.into());
            data.clone_from(&told);
            (Event::Signal, None)
        }
    };
    let (fields, beside) = Fields::read(event, &told, settled, opened.is_message)?;
    let is_breach = event.is_too_early_by_itself() || fields.is_lead_for_core(event);
    let said = match fields.agree(event, settled) {
        Ok(()) => said(event, fields),
        Err(fault) => Err(fault),
    };
    let said = match said {
        Err(fault) if is_breach => Payload::Faulty(Box::new(fault)),
        said => said?,
    };
    Ok(Report {
        event,
        said,
        data,
        beside,
    })
}

/// `signal {signal, …}`: one that stands for an event is that event.
fn signalled(data: &Map<String, Value>) -> Result<Report, Refusal> {
    let (fields, beside) = Fields::read(Event::Signal, data, None, true)?;
    let signal = fields.id(SIGNAL)?;
    if let Ok(Named::Event(event, _)) = named(&signal)
        && event != Event::Signal
    {
        let mut rest = data.clone();
        // Without the field of that name it was given as `name`.
        if rest.remove(SIGNAL).is_none_or(|signal| signal.is_null()) {
            rest.remove("name");
        }
        return read(&signal, &rest);
    }
    Ok(Report {
        event: Event::Signal,
        said: said(Event::Signal, fields)?,
        data: data.clone(),
        beside,
    })
}

fn said(event: Event, fields: Fields) -> Result<Payload, Refusal> {
    let obstruction = Who::Core(Core::Obstruction);
    let by = |default: Who| Ok::<_, Refusal>(fields.who("by")?.unwrap_or(default));
    Ok(match event {
        Event::TeamCreateReturned => Payload::Probe(probed(&fields)?),
        Event::BranchTaken => Payload::Branch {
            case: case(&fields)?,
            team_name: fields.maybe_id("team_name")?,
        },
        Event::FallbackEntered => Payload::Fallback {
            reason: fields.text("reason")?,
        },
        Event::RosterBuilt => roster(&fields)?,
        Event::TeamLaunched => launch(&fields)?,
        Event::TaskLaunched => Payload::Task,
        Event::LaunchUnavailable => Payload::Unavailable {
            raw: fields.value("raw").map(as_text),
        },
        Event::CorePinged => Payload::Ping {
            to: fields.cores("to")?.unwrap_or_else(|| Core::ALL.to_vec()),
        },
        Event::CoreReadyAck => Payload::Ready {
            from: fields.who("from")?.unwrap_or(Who::Lead),
            launch: fields.whole("launch")?,
        },
        Event::CoreHandshakeTimedOut => {
            fields.cores("missing")?;
            Payload::HandshakeTimedOut
        }
        Event::CoreRelaunched => Payload::Relaunch {
            missing: fields.cores("missing")?,
            how: how(&fields)?,
        },
        Event::RunningEntered => Payload::Running {
            evidence: evidence(fields)?,
        },
        Event::SwarmDeclared => Payload::Declared,
        Event::SkeletonSent => Payload::Skeleton,
        Event::DomainStarted => Payload::Domain {
            domain: fields.id("domain")?,
        },
        Event::MappingResult => Payload::Mapping(mapping(&fields)?),
        Event::LeadContent => {
            word(&fields, "kind", &CONTENTS)?;
            Payload::LeadContent {
                role: fields.text("role")?,
                simulation: fields.switch("simulation")?,
            }
        }
        Event::DeliveryAck => {
            word(&fields, "status", &RECEIVED)?;
            Payload::Ack {
                by: fields.who("by")?.unwrap_or(Who::Lead),
                domain: fields.id("domain")?,
                message_id: fields.id("message_id")?,
            }
        }
        Event::DeliveryAckTimeout => Payload::AckTimeout {
            missing: fields.core("missing_ack")?,
            domain: fields.id("domain")?,
            message_id: fields.maybe_id("message_id")?,
        },
        Event::ObstructionFeedback => Payload::Feedback(Review {
            by: by(obstruction)?,
            domain: fields.id("domain")?,
            round: fields.whole("round")?,
            verdict: verdict("verdict", fields.value("verdict"))?,
            reason: fields.text("reason")?,
            fix_requests: fields.value("fix_requests").cloned(),
        }),
        Event::Round1Complete => Payload::Round1(round1(&fields, by(obstruction)?)?),
        Event::DomainExcluded => Payload::Exclude {
            domain: fields.id("domain")?,
            reason: fields.text("reason")?,
        },
        Event::RevisionSubmitted => Payload::Revision {
            domain: fields.id("domain")?,
            round: fields.whole("round")?,
        },
        Event::GateCleared => Payload::Gate {
            by: by(obstruction)?,
            summary: fields.map("clear_summary")?,
            conditions: fields.values("conditions_for_final_synthesis")?,
        },
        Event::FinalSynthesisRequested => Payload::Request { by: by(Who::Lead)? },
        Event::FinalSynthesisAck | Event::SynthesisResult => {
            word(&fields, "status", &ACCEPTED)?;
            Payload::ByWhom {
                by: by(Who::Core(Core::Synthesizer))?,
            }
        }
        Event::MemberAdded => Payload::Join {
            domain: fields.id("domain")?,
            how: how(&fields)?,
        },
        Event::Signal => {
            let signal = fields.id(SIGNAL)?;
            let mut said = fields.all();
            for taken in [SIGNAL, "run"] {
                said.remove(taken);
            }
            Payload::Signal { signal, said }
        }
    })
}

/// `outcome` names the outcome, or holds it as an object of one field, or is the literal answer.
fn probed(fields: &Fields) -> Result<Probe, Refusal> {
    let mut probe = match (fields.value("outcome"), fields.value("raw")) {
        (Some(Value::String(word)), raw) => {
            match Outcome::from_any_case(&word.trim().replace(['-', ' '], "_")) {
                Some(outcome) => Probe {
                    outcome,
                    team_name: None,
                    message: raw.map(as_text),
                },
                None => probe::read(&Value::String(word.clone())),
            }
        }
        (Some(Value::Object(one)), _) => in_object(one)?,
        (Some(other), _) => {
            return Err(invalid(
                "outcome",
                &other.to_string(),
                "must be a word, an object or the literal answer",
            ));
        }
        (None, Some(raw)) => probe::read(raw),
        (None, None) if fields.value("team_name").is_some() => Probe {
            outcome: Outcome::Ok,
            team_name: None,
            message: None,
        },
        (None, None) => {
            let message = "data.outcome is required for team_create_returned, or data.raw with the literal answer";
            return Err(Refusal::new(Code::InvalidInput, message).field("data.outcome"));
        }
    };
    if probe.outcome.is_usable()
        && let Some(name) = fields.maybe_id("team_name")?
    {
        probe.team_name = Some(name);
    }
    if let Some(message) = fields.text("message")? {
        probe.message = Some(message);
    }
    if probe.outcome == Outcome::Ok && probe.team_name.is_none() {
        let message = "data.team_name is required where the team was created";
        return Err(Refusal::new(Code::InvalidInput, message).field("data.team_name"));
    }
    if let Some(name) = &probe.team_name {
        crate::names::check_free("data.team_name", name)?;
    }
    Ok(probe)
}

/// `{"ok": "x"}`, `{"already_leading": {"name": "x"}}`, `{"unavailable": "why"}`; any other object is an answer.
fn in_object(one: &Map<String, Value>) -> Result<Probe, Refusal> {
    let mut entries = one.iter();
    let (Some((word, value)), None) = (entries.next(), entries.next()) else {
        return Ok(probe::read(&Value::Object(one.clone())));
    };
    let Some(outcome) = Outcome::from_any_case(word) else {
        return Ok(probe::read(&Value::Object(one.clone())));
    };
    let inner = match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Object(fields) => {
            let names = ["team_name", "name", "message", "msg", "raw"];
            let found = names.iter().find_map(|name| fields.get(*name)?.as_str());
            found.map(|text| text.trim().to_owned())
        }
        Value::Null => None,
        other => {
            return Err(invalid(
                "outcome",
                &other.to_string(),
                "must hold a name or a message",
            ));
        }
    };
    let inner = inner.filter(|text| !text.is_empty());
    Ok(match outcome.is_usable() {
        true => Probe {
            outcome,
            team_name: inner,
            message: None,
        },
        false => Probe {
            outcome,
            team_name: None,
            message: inner,
        },
    })
}

fn case(fields: &Fields) -> Result<Option<Case>, Refusal> {
    let Some(text) = fields.text("case")? else {
        return Ok(None);
    };
    let upper = text.to_ascii_uppercase().replace('_', " ");
    let letter = upper.trim_start_matches("CASE").trim();
    match Case::from_any_case(letter) {
        Some(case) => Ok(Some(case)),
        None => Err(invalid("case", &text, "must be A, B or C")),
    }
}

/// `core` and `domains`, or `members` with both.
fn roster(fields: &Fields) -> Result<Payload, Refusal> {
    let (mut core, mut domains) = (None, fields.list("domains")?);
    if let Some(names) = fields.list("core")? {
        let (both, others) = split(names);
        if let Some(other) = others.first() {
            let rule = "must be the two of the core";
            return Err(Refusal {
                code: Code::RosterIncomplete,
                ..invalid("core", other, rule)
            });
        }
        core = Some(both);
    }
    if let Some(members) = fields.list("members")? {
        let (both, others) = split(members);
        core = Some(core.unwrap_or_default().into_iter().chain(both).collect());
        domains = Some(
            domains
                .unwrap_or_default()
                .into_iter()
                .chain(others)
                .collect(),
        );
    }
    Ok(Payload::Roster { core, domains })
}

fn launch(fields: &Fields) -> Result<Payload, Refusal> {
    let Some(how) = how(fields)? else {
        return Err(no_method(""));
    };
    let mut members = Vec::new();
    for name in ["members", "core", "domains"] {
        members.extend(fields.list(name)?.into_iter().flatten());
    }
    Ok(Payload::Launch { how, members })
}

/// Under `evidence`, or as what is said itself.
fn evidence(fields: Fields) -> Result<Option<Map<String, Value>>, Refusal> {
    let given = fields.map("evidence")?;
    let own = fields.all();
    match given {
        Some(_) if own.len() > 1 => {
            let message =
                "data.evidence must hold all of the evidence, but some of it stands beside it";
            Err(Refusal::new(Code::InvalidInput, message).field("data.evidence"))
        }
        Some(evidence) => Ok(Some(evidence)),
        None => Ok(Some(own).filter(|own| !own.is_empty())),
    }
}

fn mapping(fields: &Fields) -> Result<Mapping, Refusal> {
    word(fields, "path_origin", &path::ORIGINS)?;
    let (path, origin) = (
        fields.text("domain_file_path")?,
        fields.text("path_origin")?,
    );
    path::check(path.as_deref(), origin.as_deref(), fields.is_message())?;
    let rule = "must name who of the core got it";
    let to = fields.cores("to")?.ok_or_else(|| invalid("to", "", rule))?;
    Ok(Mapping {
        domain: fields.id("domain")?,
        message_id: fields.id("message_id")?,
        to,
        round: fields.whole("round")?,
        domain_file_path: path,
        path_origin: origin,
    })
}

fn round1(fields: &Fields, by: Who) -> Result<Round1, Refusal> {
    let coverage = fields.map("coverage")?.unwrap_or_default();
    let covered = |name: &'static str| {
        let value = coverage.get(name).filter(|value| !value.is_null());
        value.map(|value| covered(name, value)).transpose()
    };
    let verdicts = fields.map("verdicts")?;
    for value in verdicts.iter().flat_map(Map::values) {
        verdict("verdicts", Some(value))?;
    }
    Ok(Round1 {
        by,
        reviewed: covered("reviewed_domains")?,
        active: covered("active_domains")?,
        verdicts,
    })
}

/// Names, or how many there are.
fn covered(field: &'static str, value: &Value) -> Result<Covered, Refusal> {
    match value {
        Value::Number(number) => number.as_u64().map(Covered::Count).ok_or_else(|| {
            let field = format!("coverage.{field}");
            invalid(
                &field,
                &number.to_string(),
                "must be a whole number, or names",
            )
        }),
        names => names_in(field, names).map(Covered::Names),
    }
}

/// A verdict as somebody writes it.
pub fn verdict(field: &str, value: Option<&Value>) -> Result<Verdict, Refusal> {
    let text = value.map(as_text).unwrap_or_default();
    Verdict::from_any_case(text.trim())
        .ok_or_else(|| invalid(field, &text, "must be PASS, REVISE or REJECT"))
}

/// A field that holds one of some words, if it is there.
fn word(fields: &Fields, name: &str, words: &[&str]) -> Result<(), Refusal> {
    match fields.text(name)? {
        Some(text) if !words.contains(&&*text) => {
            let one_of = if words.len() > 1 { "one of " } else { "" };
            let rule = format!("must be {one_of}{}", words.join(", "));
            Err(invalid(name, &text, &rule))
        }
        _ => Ok(()),
    }
}

fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
