//! Parser for reports. A report is the name of an event and its data; the result is the payload for the rules.

use super::events::{KEPT, NameMeaning, named};
use super::message::SIGNAL;
use super::*;

pub struct Report {
    pub event: Event,
    /// The payload, or the error in the data. The error is kept only if the event is a breach of the contract regardless of its
    /// data: the event comes too early, or the lead signs for the core.
    pub said: Result<Payload, Box<Refusal>>,
    /// Fields that are only stored with the event.
    pub beside: Map<String, Value>,
}

/// The data of an event: the fields that breaches depend on, and the rule for the event.
pub struct Payload {
    /// Participant that reports the event.
    pub by: Option<Participant>,
    /// The way in which the members are launched.
    pub how: Option<How>,
    /// Names of the launched members.
    pub members: Vec<String>,
    /// Branch that the report names.
    pub case: Option<Case>,
    /// Role in which the lead writes.
    pub role: Option<String>,
    /// True if the lead calls its text a simulation of other members' work.
    pub simulation: bool,
    /// Function that computes the effect of the report. Call this function only for a run in which the report's event is legal.
    pub rule: Rule,
}

/// Function that computes the effect of a report on a run in which the event is legal.
type Rule = Box<dyn Fn(&Run) -> Ruled>;

impl Payload {
    fn new(rule: impl Fn(&Run) -> Ruled + 'static) -> Payload {
        Payload {
            by: None,
            how: None,
            members: Vec::new(),
            case: None,
            role: None,
            simulation: false,
            rule: Box::new(rule),
        }
    }

    /// Returns a payload with its reporter. The rule also gets the reporter.
    fn by(by: Participant, rule: impl Fn(&Run, &Participant) -> Ruled + 'static) -> Payload {
        let who = by.clone();
        Payload {
            by: Some(by),
            ..Payload::new(move |run| rule(run, &who))
        }
    }
}

/// A result that a domain delivers.
pub struct Mapping {
    pub domain: String,
    pub message_id: String,
    pub to: Vec<Core>,
    pub round: Option<u32>,
    pub domain_file_path: Option<String>,
    pub path_origin: Option<String>,
}

/// A report of the obstruction theorist that round 1 is complete.
pub struct Round1 {
    pub reviewed: Option<Covered>,
    pub active: Option<Covered>,
    pub verdicts: Option<Map<String, Value>>,
}

/// Domains that a reviewer has covered: their names or their number.
pub enum Covered {
    Names(Vec<String>),
    Count(u64),
}

pub fn read(name: &str, data: &Map<String, Value>) -> Result<Report, Refusal> {
    if let NameMeaning::Event(Event::Signal, _) = named(name)? {
        return signalled(data);
    }
    let (name, mut told) = message::opened(name, data)?;
    let (event, settled) = match named(name)? {
        NameMeaning::Event(event, settled) => (event, settled),
        NameMeaning::Signal(signal) => {
            told.insert(SIGNAL.to_owned(), signal.into());
            (Event::Signal, None)
        }
    };
    let (fields, beside) = Fields::read(event, &told, settled, message::is_signal(name))?;
    let is_breach = event.is_too_early_by_itself() || fields.is_lead_for_core(event);
    let agreed = fields.agree(event, settled);
    let said = match agreed.and_then(|()| said(event, fields, data)) {
        Err(fault) if is_breach => Err(Box::new(fault)),
        said => Ok(said?),
    };
    Ok(Report {
        event,
        said,
        beside,
    })
}

/// Parses `signal {signal, …}`. If the signal counts as an event, parses it as that event.
fn signalled(data: &Map<String, Value>) -> Result<Report, Refusal> {
    let (fields, beside) = Fields::read(Event::Signal, data, None, true)?;
    let signal = fields.id(SIGNAL)?;
    if let Ok(NameMeaning::Event(event, _)) = named(&signal)
        && event != Event::Signal
    {
        let mut rest = data.clone();
        // Without a field `signal`, the field `name` contains the name of the signal.
        if rest.remove(SIGNAL).is_none_or(|signal| signal.is_null()) {
            rest.remove("name");
        }
        return read(&signal, &rest);
    }
    Ok(Report {
        event: Event::Signal,
        said: Ok(said(Event::Signal, fields, data)?),
        beside,
    })
}

fn said(event: Event, fields: Fields, data: &Map<String, Value>) -> Result<Payload, Refusal> {
    let obstruction = Participant::Core(Core::Obstruction);
    let by = |default: Participant| Ok::<_, Refusal>(fields.who("by")?.unwrap_or(default));
    let name = event.name();
    Ok(match event {
        Event::TeamCreateReturned => {
            let probe = probed(&fields)?;
            Payload::new(move |run| guards::probed(run, &probe))
        }
        Event::BranchTaken => {
            let (case, team_name) = (case(&fields)?, fields.maybe_id("team_name")?);
            Payload {
                case,
                ..Payload::new(move |run| guards::branched(run, case, team_name.as_deref()))
            }
        }
        Event::FallbackEntered => {
            let reason = fields.text("reason")?;
            Payload::new(move |run| guards::fallen_back(run, reason.as_ref()))
        }
        Event::RosterBuilt => {
            let (core, domains) = roster(&fields)?;
            Payload::new(move |run| guards::roster(run, core.as_deref(), domains.as_deref()))
        }
        Event::TeamLaunched => {
            let how = how(&fields)?.ok_or_else(|| no_method(""))?;
            let mut members = Vec::new();
            for name in ["members", "core", "domains"] {
                members.extend(fields.list(name)?.into_iter().flatten());
            }
            let launched = members.clone();
            Payload {
                how: Some(how),
                members,
                ..Payload::new(move |run| guards::launched(run, how, &launched))
            }
        }
        Event::TaskLaunched => reported(event, data),
        Event::LaunchUnavailable => {
            let raw = fields.value("raw").map(as_text);
            Payload::new(move |run| guards::blocked(run, raw.as_ref()))
        }
        Event::CorePinged => {
            let to = fields.cores("to")?.unwrap_or_else(|| Core::ALL.to_vec());
            Payload::new(move |_| {
                let ping = |to: &Core| BootstrapAct::CorePinged { to: *to };
                Ok(Accepted {
                    acts: to.iter().map(ping).collect(),
                    ..Accepted::default()
                })
            })
        }
        Event::CoreReadyAck => {
            let from = fields.who("from")?.unwrap_or(Participant::Lead);
            let launch = fields.whole("launch")?;
            Payload::new(move |run| guards::ready(run, &from, launch))
        }
        Event::CoreHandshakeTimedOut => {
            fields.cores("missing")?;
            Payload::new(move |run| {
                Err(illegal(run, name, "both core members have sent their acks"))
            })
        }
        Event::CoreRelaunched => {
            let (missing, how) = (fields.cores("missing")?, how(&fields)?);
            Payload {
                how,
                ..Payload::new(move |run| guards::relaunched(run, missing.as_deref()))
            }
        }
        Event::RunningEntered => {
            let evidence = evidence(fields)?;
            Payload::new(move |run| guards::running(run, evidence.as_ref()))
        }
        Event::SwarmDeclared => Payload::new(|_| Ok(Accepted::one(BootstrapAct::SwarmDeclared {}))),
        Event::SkeletonSent => Payload::new(|_| Ok(Accepted::one(BootstrapAct::SkeletonSent {}))),
        Event::DomainStarted => {
            let domain = fields.id("domain")?;
            Payload::new(move |run| work::started(run, &domain))
        }
        Event::MappingResult => {
            let mapping = mapping(&fields)?;
            Payload::new(move |run| work::delivered(run, &mapping))
        }
        Event::LeadContent => {
            word(&fields, "kind", &["domain", "review", "synthesis"])?;
            Payload {
                role: fields.text("role")?,
                simulation: fields.switch("simulation")?,
                ..reported(event, data)
            }
        }
        Event::DeliveryAck => {
            word(&fields, "status", &["received"])?;
            let by = by(Participant::Lead)?;
            let (domain, message_id) = (fields.id("domain")?, fields.id("message_id")?);
            Payload::new(move |run| work::acked(run, &by, &domain, &message_id))
        }
        Event::DeliveryAckTimeout => {
            let missing = fields.core("missing_ack")?;
            let (domain, id) = (fields.id("domain")?, fields.maybe_id("message_id")?);
            Payload::new(move |run| work::ack_missed(run, missing, &domain, id.as_deref()))
        }
        Event::ObstructionFeedback => {
            let by = by(obstruction)?;
            // Round 0 means the current round of the domain.
            let review = Feedback {
                domain: fields.id("domain")?,
                round: fields.whole("round")?.unwrap_or_default(),
                verdict: verdict("verdict", fields.value("verdict"))?,
                reason: fields.text("reason")?,
                fix_requests: fields.value("fix_requests").cloned(),
            };
            Payload::by(by, move |run, by| work::reviewed(run, by, &review))
        }
        Event::Round1Complete => {
            let (by, round) = (by(obstruction)?, round1(&fields)?);
            Payload::by(by, move |run, by| work::round_completed(run, by, &round))
        }
        Event::DomainExcluded => {
            let (domain, reason) = (fields.id("domain")?, fields.text("reason")?);
            Payload::new(move |run| work::excluded(run, &domain, reason.as_ref()))
        }
        Event::RevisionSubmitted => {
            let (domain, round) = (fields.id("domain")?, fields.whole("round")?);
            Payload::new(move |run| work::revised(run, &domain, round))
        }
        Event::GateCleared => {
            let by = by(obstruction)?;
            let summary = fields.map("clear_summary")?;
            let conditions = fields.values("conditions_for_final_synthesis")?;
            Payload::by(by, move |run, by| {
                work::cleared(run, by, summary.as_ref(), conditions.as_deref())
            })
        }
        Event::FinalSynthesisRequested => Payload::by(by(Participant::Lead)?, work::requested),
        Event::FinalSynthesisAck | Event::SynthesisResult => {
            word(&fields, "status", &["accepted"])?;
            let done = event == Event::SynthesisResult;
            Payload::by(by(Participant::Core(Core::Synthesizer))?, move |run, by| {
                work::synthesized(run, name, by, done)
            })
        }
        Event::MemberAdded => {
            let (domain, how) = (fields.id("domain")?, how(&fields)?);
            Payload::new(move |run| work::joined(run, &domain, how))
        }
        Event::Signal => {
            let signal = fields.id(SIGNAL)?;
            let mut said = fields.all();
            for taken in [SIGNAL, "run"] {
                said.remove(taken);
            }
            recorded(signal, said, None)
        }
    })
}

/// Returns the payload of a report that is only recorded and changes no state.
fn reported(event: Event, data: &Map<String, Value>) -> Payload {
    let mut said = data.clone();
    for taken in KEPT.iter().chain(&["run", SIGNAL]) {
        said.remove(*taken);
    }
    let warning = (event == Event::TaskLaunched)
        .then_some("members are launched by the team, not by tasks of the lead");
    recorded(event.name().to_owned(), said, warning)
}

fn recorded(signal: String, said: Map<String, Value>, warning: Option<&'static str>) -> Payload {
    let act = BootstrapAct::SignalRecorded { signal, said };
    Payload::new(move |_| Ok(Accepted::one(act.clone()).warned(warning)))
}

/// Parses the outcome of TeamCreate. The outcome is a word, an object with one field, or the
/// literal answer.
fn probed(fields: &Fields) -> Result<Probe, Refusal> {
    let mut probe = match (fields.value("outcome"), fields.value("raw")) {
        (Some(Value::String(word)), raw) => {
            match Outcome::from_any_case(&word.trim().replace(['-', ' '], "_")) {
                Some(outcome) => Probe {
                    message: raw.map(as_text),
                    ..bare(outcome)
                },
                None => probe::read(&Value::String(word.clone())),
            }
        }
        (Some(Value::Object(one)), _) => in_object(one)?,
        (Some(other), _) => {
            let rule = "must be a word, an object or the literal answer";
            return Err(invalid("outcome", other, rule));
        }
        (None, Some(raw)) => probe::read(raw),
        (None, None) if fields.value("team_name").is_some() => bare(Outcome::Ok),
        (None, None) => {
            let rule = "is required for team_create_returned, or data.raw with the literal answer";
            return Err(broken(Code::InvalidInput, "outcome", rule));
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
        let rule = "is required if the team was created";
        return Err(broken(Code::InvalidInput, "team_name", rule));
    }
    if let Some(name) = &probe.team_name {
        crate::names::check_free("data.team_name", name)?;
    }
    Ok(probe)
}

/// Parses `{"ok": "x"}`, `{"already_leading": {"name": "x"}}` or `{"unavailable": "why"}`. Any other object counts as the
/// literal answer.
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
                other,
                "must contain a name or a message",
            ));
        }
    };
    let inner = inner.filter(|text| !text.is_empty());
    let mut probe = bare(outcome);
    match outcome.is_usable() {
        true => probe.team_name = inner,
        false => probe.message = inner,
    }
    Ok(probe)
}

/// Returns an outcome of TeamCreate without data.
fn bare(outcome: Outcome) -> Probe {
    Probe {
        outcome,
        team_name: None,
        message: None,
    }
}

fn case(fields: &Fields) -> Result<Option<Case>, Refusal> {
    let read = |text: String| {
        let upper = text.to_ascii_uppercase().replace('_', " ");
        let letter = upper.trim_start_matches("CASE").trim();
        Case::from_any_case(letter).ok_or_else(|| invalid("case", &text, "must be A, B or C"))
    };
    fields.text("case")?.map(read).transpose()
}

/// The core members and the domains of a roster, if the data names them.
type Roster = (Option<Vec<Core>>, Option<Vec<String>>);

/// Parses `core` and `domains`, or `members` with both.
fn roster(fields: &Fields) -> Result<Roster, Refusal> {
    let (mut core, mut domains) = (None, fields.list("domains")?);
    if let Some(names) = fields.list("core")? {
        let (both, others) = split(names);
        if let Some(other) = others.first() {
            let rule = "must be the two core members";
            return Err(Refusal {
                code: Code::RosterIncomplete,
                ..invalid("core", other, rule)
            });
        }
        core = Some(both);
    }
    if let Some(members) = fields.list("members")? {
        let (both, others) = split(members);
        core.get_or_insert_default().extend(both);
        domains.get_or_insert_default().extend(others);
    }
    Ok((core, domains))
}

/// Returns the evidence: the field `evidence`, or the whole data if there is no such field.
fn evidence(fields: Fields) -> Result<Option<Map<String, Value>>, Refusal> {
    let given = fields.map("evidence")?;
    let own = fields.all();
    match given {
        Some(_) if own.len() > 1 => {
            let rule = "must contain all of the evidence, but there are fields beside it";
            Err(broken(Code::InvalidInput, "evidence", rule))
        }
        Some(evidence) => Ok(Some(evidence)),
        None => Ok(Some(own).filter(|own| !own.is_empty())),
    }
}

fn mapping(fields: &Fields) -> Result<Mapping, Refusal> {
    word(fields, "path_origin", &["absolute", "relative_fallback"])?;
    let (path, origin) = (
        fields.text("domain_file_path")?,
        fields.text("path_origin")?,
    );
    check_path(path.as_deref(), origin.as_deref(), fields.is_message())?;
    let rule = "must name the core members that received it";
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

fn round1(fields: &Fields) -> Result<Round1, Refusal> {
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
        reviewed: covered("reviewed_domains")?,
        active: covered("active_domains")?,
        verdicts,
    })
}

/// Parses a list of names, or a number.
fn covered(field: &'static str, value: &Value) -> Result<Covered, Refusal> {
    match value {
        Value::Number(number) => number.as_u64().map(Covered::Count).ok_or_else(|| {
            let field = format!("coverage.{field}");
            invalid(&field, number, "must be a whole number, or names")
        }),
        names => names_in(field, names).map(Covered::Names),
    }
}

/// Parses a verdict, ignoring case.
pub fn verdict(field: &str, value: Option<&Value>) -> Result<Verdict, Refusal> {
    let text = value.map(as_text).unwrap_or_default();
    Verdict::from_any_case(text.trim())
        .ok_or_else(|| invalid(field, &text, "must be PASS, REVISE or REJECT"))
}

/// Checks that an optional field holds one of the given words.
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

/// Checks that a path and its origin agree, and that both are given. In a message (`of_message`) a result has only the path.
fn check_path(path: Option<&str>, origin: Option<&str>, of_message: bool) -> Result<(), Refusal> {
    let field = "domain_file_path";
    let relative = |path: &str| path.strip_prefix("references/").is_some_and(inside);
    let (path, origin) = match (path, origin) {
        (None, None) => return Ok(()),
        (Some(path), Some(origin)) => (path, origin),
        (Some(path), None) if of_message => {
            let is_one = path.starts_with('/') || relative(path);
            let rule = "must begin with /, or be references/… without ..";
            return is_one
                .then_some(())
                .ok_or_else(|| invalid(field, path, rule));
        }
        (Some(_), None) => {
            let rule = "is required together with data.domain_file_path";
            return Err(broken(Code::InvalidInput, "path_origin", rule));
        }
        (None, Some(_)) => {
            let rule = "is required together with data.path_origin";
            return Err(broken(Code::InvalidInput, field, rule));
        }
    };
    let rule = match origin {
        "absolute" if !path.starts_with('/') => "must begin with /",
        "relative_fallback" if !relative(path) => "must be references/… without ..",
        _ => return Ok(()),
    };
    let rule = format!("{rule} if data.path_origin is {origin}");
    Err(invalid(field, path, rule))
}

/// Returns true if a path names a file inside a directory. `rest` is the path after the directory's name.
fn inside(rest: &str) -> bool {
    !rest.is_empty() && !rest.split(['/', '\\']).any(|part| part == "..")
}
