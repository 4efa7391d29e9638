//! Rules for reports in `RUNNING`, with their conditions and effects.

use super::payload::{Covered, Mapping, Round1, verdict};
use super::*;
use crate::projections::bootstrap::checklist::round_is_complete;

/// Required fields of the summary of a cleared gate.
pub const SUMMARY: [&str; 4] = ["pass_domains", "revised_domains", "excluded_domains", RISKS];
/// Field of the summary that accepts any value. The other fields of the summary contain names.
const RISKS: &str = "residual_risks";

const OBSTRUCTION: Participant = Participant::Core(Core::Obstruction);
/// Maximum number of times that a result is sent to a core member per round.
const SENT_MAX: u32 = 2;
/// Hint for a run without active domains.
const NOBODY: &str = "no active domain is left; continue with member_added";

/// Returns an active domain; refuses the event if the domain is not active.
fn active<'a>(run: &'a Run, event: &str, name: &str) -> Result<&'a Domain, Refusal> {
    run.active_domain(name).ok_or_else(|| {
        let active = names(run.active()).join(", ");
        let why = format!("{name:?} is not an active domain ({active})");
        illegal(run, event, &why).field("data.domain")
    })
}

/// Records that a domain started its work.
pub fn started(run: &Run, name: &str) -> Ruled {
    match active(run, "domain_started", name)?.started {
        true => Ok(Accepted::known("the domain has already started")),
        false => Ok(Accepted::one(BootstrapAct::DomainStarted {
            domain: name.to_owned(),
        })),
    }
}

/// Records that a domain sent its result to one or both core members. If the review was not PASS, the new result begins the
/// next round.
pub fn delivered(run: &Run, mapping: &Mapping) -> Ruled {
    let event = "mapping_result";
    let domain = active(run, event, &mapping.domain)?;
    let round = mapping.round.unwrap_or(domain.round);
    let mut accepted = Accepted::default();
    if round != domain.round {
        accepted = revised(run, &mapping.domain, Some(round))?;
    } else if domain.is_reviewed() && domain.message_id.as_ref() != Some(&mapping.message_id) {
        let why = format!("round {round} of {} is already reviewed", domain.domain);
        return Err(
            illegal(run, event, &why).hint("report revision_submitted before another result")
        );
    }
    let fresh = round != domain.round;
    let id = Some(&mapping.message_id);
    let known = domain.message_id.as_ref();
    if let Some(known) = known.filter(|known| !fresh && Some(*known) != id) {
        let why = format!("the result of round {round} has the message id {known:?}");
        return Err(illegal(run, event, &why).field("data.message_id"));
    }
    if domain.earlier_ids.contains(&mapping.message_id) || (fresh && known == id) {
        let (id, name) = (&mapping.message_id, &domain.domain);
        let why = format!("the message id {id:?} was used in an earlier round of {name}");
        return Err(illegal(run, event, &why).field("data.message_id"));
    }
    for to in &mapping.to {
        let delivery = domain.delivery(*to);
        if !fresh && delivery.sent >= SENT_MAX && !delivery.acked {
            let why = format!("the result was already resent to {}", to.name());
            return Err(illegal(run, event, &why)
                .field("data.to")
                .hint("wait for the recipient's ack, or exclude the domain with domain_excluded"));
        }
        let waits = delivery.sent > 0 && (delivery.acked || delivery.until.is_some());
        if !fresh && waits {
            let known = format!("the result was already sent to {}", to.name());
            accepted = accepted.warned(Some(&known));
            continue;
        }
        let delivered = Delivered {
            domain: mapping.domain.clone(),
            message_id: mapping.message_id.clone(),
            to: *to,
            round,
            resent: !fresh && delivery.sent > 0,
            due_at: None,
            domain_file_path: mapping.domain_file_path.clone(),
            path_origin: mapping.path_origin.clone(),
        };
        let delivered = BootstrapAct::MappingDelivered(delivered);
        accepted.acts.push(delivered);
    }
    let fell_back = mapping.path_origin.as_deref() == Some("relative_fallback");
    let unreadable = "the absolute path of the domain's file was not readable";
    Ok(accepted.warned(fell_back.then_some(unreadable)))
}

/// Records that a core member confirms the delivery of a domain's result.
pub fn acked(run: &Run, by: &Participant, name: &str, message_id: &str) -> Ruled {
    let event = "delivery_ack";
    let Participant::Core(by) = by else {
        return Err(illegal(run, event, "its sender is not a core member").field("data.by"));
    };
    let domain = active(run, event, name)?;
    let delivery = domain.delivery(*by);
    if domain.message_id.as_deref() != Some(message_id) || delivery.sent == 0 {
        let by = by.name();
        let why =
            format!("no result of {name} with the message id {message_id:?} was sent to {by}");
        return Err(illegal(run, event, &why).field("data.message_id"));
    }
    match delivery.acked {
        true => Ok(Accepted::known("the ack is already recorded")),
        false => Ok(Accepted::one(BootstrapAct::DeliveryAcked {
            domain: name.to_owned(),
            message_id: message_id.to_owned(),
            by: *by,
        })),
    }
}

/// Records that a core member did not confirm a domain's result in time.
pub fn ack_missed(run: &Run, missing: Option<Core>, name: &str, message_id: Option<&str>) -> Ruled {
    let event = "delivery_ack_timeout";
    let domain = active(run, event, name)?;
    let open = |core: &Core| {
        let delivery = domain.delivery(*core);
        delivery.sent > 0 && !delivery.acked
    };
    let open: Vec<Core> = Core::ALL.iter().copied().filter(open).collect();
    let known = domain.message_id.as_deref();
    if open.is_empty() || message_id.is_some_and(|id| known != Some(id)) {
        let why = format!("no result of {name} with that message id waits for an ack");
        return Err(illegal(run, event, &why).field("data.message_id"));
    }
    let missing = match (missing, open.as_slice()) {
        (Some(missing), open) if open.contains(&missing) => missing,
        (None, [one]) => *one,
        (Some(missing), _) => {
            let why = format!("no result of {name} waits for an ack of {}", missing.name());
            return Err(illegal(run, event, &why).field("data.missing_ack"));
        }
        (None, _) => {
            let rule = "is required while both acks are missing";
            return Err(broken(Code::InvalidInput, "missing_ack", rule));
        }
    };
    let act = timed_out(domain, missing);
    let warning = match &act {
        BootstrapAct::DeliveryTimedOut { blocked: true, .. } => {
            format!("{name} is blocked: exclude it, or get the ack")
        }
        _ => {
            let name = missing.name();
            format!("send the result to {name} again, with the same message id")
        }
    };
    Ok(Accepted::one(act).warned(Some(&warning)))
}

/// Returns the act for a timed-out delivery: the first timeout repeats the delivery, the second timeout blocks the domain.
pub fn timed_out(domain: &Domain, missing_ack: Core) -> BootstrapAct {
    BootstrapAct::DeliveryTimedOut {
        domain: domain.domain.clone(),
        message_id: domain.message_id.clone().unwrap_or_default(),
        missing_ack,
        blocked: domain.delivery(missing_ack).timeouts > 0,
    }
}

/// Refuses a report from any participant except `allowed`.
fn only(allowed: &Participant, run: &Run, event: &str, by: &Participant) -> Result<(), Refusal> {
    let name = match allowed {
        _ if by == allowed => return Ok(()),
        Participant::Core(Core::Obstruction) => "obstruction theorist",
        Participant::Core(Core::Synthesizer) => "synthesizer",
        _ => "lead",
    };
    let why = format!("only the {name} may report it");
    Err(illegal(run, event, &why).field("data.by"))
}

fn names<'a>(domains: impl Iterator<Item = &'a Domain>) -> Vec<&'a str> {
    domains.map(|domain| domain.domain.as_str()).collect()
}

/// Accepts a verdict on a delivered result, or refuses it.
pub fn reviewed(run: &Run, by: &Participant, review: &Feedback) -> Ruled {
    let event = "obstruction_feedback";
    only(&OBSTRUCTION, run, event, by)?;
    let domain = active(run, event, &review.domain)?;
    let round = match review.round {
        0 => domain.round,
        round => round,
    };
    if round != domain.round || domain.delivery(Core::Obstruction).sent == 0 {
        let message = format!(
            "the result of round {round} of {} must be delivered to the obstruction theorist before its review; the domain is in round {}",
            domain.domain, domain.round
        );
        return Err(Refusal::new(Code::ReviewBeforeResult, message).field("data.domain"));
    }
    Ok(Accepted::one(BootstrapAct::FeedbackGiven(Feedback {
        round,
        ..review.clone()
    })))
}

/// Begins the next round of a domain.
pub fn revised(run: &Run, name: &str, round: Option<u32>) -> Ruled {
    let domain = active(run, "revision_submitted", name)?;
    let next = domain.round.saturating_add(1);
    let verdict = format!("the last verdict on {name} must be REVISE or REJECT");
    let untriggered = if domain.passes() {
        Some(format!("{verdict}, but is PASS"))
    } else if !domain.is_reviewed() {
        Some(format!(
            "{verdict}, but there is none on round {}",
            domain.round
        ))
    } else {
        let round = round.filter(|round| *round != next);
        round.map(|round| format!("data.round must be {next}, but is {round}"))
    };
    if let Some(message) = untriggered {
        return Err(Refusal::new(Code::UntriggeredRevision, message).field("data.domain"));
    }
    Ok(Accepted::one(BootstrapAct::RevisionSubmitted {
        domain: name.to_owned(),
        round: next,
    }))
}

pub fn excluded(run: &Run, name: &str, reason: Option<&String>) -> Ruled {
    active(run, "domain_excluded", name)?;
    let is_last = run.active().nth(1).is_none();
    let Some(reason) = reason.cloned() else {
        let rule = "must say why the domain is excluded";
        return Err(broken(Code::ReasonRequired, "reason", rule));
    };
    let domain = name.to_owned();
    let excluded = Accepted::one(BootstrapAct::DomainExcluded { domain, reason });
    Ok(excluded.warned(is_last.then_some(NOBODY)))
}

fn nobody(code: Code) -> Refusal {
    Refusal::new(code, "no active domain is left").hint(NOBODY)
}

/// Completes round 1 if every active domain was reviewed and confirmed.
pub fn round_completed(run: &Run, by: &Participant, round: &Round1) -> Ruled {
    only(&OBSTRUCTION, run, "round1_complete", by)?;
    let incomplete = |message: String| Err(Refusal::new(Code::Round1Incomplete, message));
    if run.round1_complete {
        return Ok(Accepted::known("round 1 is already complete"));
    }
    if !round_is_complete(run) {
        let is_open = |domain: &&Domain| domain.reviewed == 0 || !domain.confirmed;
        let open = names(run.active().filter(is_open));
        let names = open.join(", ");
        return match open.is_empty() {
            true => Err(nobody(Code::Round1Incomplete)),
            false => incomplete(format!(
                "every active domain must be reviewed, and its result confirmed by both core members; missing: {names}"
            )),
        };
    }
    let active = BTreeSet::from_iter(names(run.active()));
    for (field, given) in [
        ("reviewed_domains", &round.reviewed),
        ("active_domains", &round.active),
    ] {
        let (agrees, given) = match given {
            None => continue,
            Some(Covered::Count(count)) => (*count == active.len() as u64, count.to_string()),
            Some(Covered::Names(given)) => {
                let named = BTreeSet::from_iter(given.iter().map(String::as_str));
                (named == active, given.join(", "))
            }
        };
        if !agrees {
            let wanted = Vec::from_iter(active.iter().copied()).join(", ");
            let count = active.len();
            return incomplete(format!(
                "data.coverage.{field} must be {wanted}, or {count}, but is {given}"
            ));
        }
    }
    if let Some(verdicts) = &round.verdicts {
        for domain in run.active() {
            let name = &domain.domain;
            let given = verdicts
                .get(name)
                .map(|value| verdict("verdicts", Some(value)));
            if given.transpose()? != domain.verdict {
                let was = domain.verdict.map_or("", Verdict::name);
                return incomplete(format!(
                    "data.verdicts.{name} must be {was}, as it was given"
                ));
            }
        }
    }
    Ok(Accepted::one(BootstrapAct::RoundCompleted {
        reviewed_domains: active.into_iter().map(str::to_owned).collect(),
    }))
}

/// Clears the gate before the final synthesis if no obstacle remains.
pub fn cleared(
    run: &Run,
    by: &Participant,
    summary: Option<&Map<String, Value>>,
    conditions: Option<&[Value]>,
) -> Ruled {
    only(&OBSTRUCTION, run, "gate_cleared", by)?;
    let refused = |message: &str| Err(Refusal::new(Code::GateRefused, message).field("event"));
    if !run.round1_complete {
        return refused("round 1 must be complete before the gate is cleared");
    }
    if run.active().next().is_none() {
        return Err(nobody(Code::GateRefused));
    }
    let against = names(run.active().filter(|domain| !domain.passes()));
    if !against.is_empty() {
        let against = against.join(", ");
        return refused(&format!(
            "every active domain must pass or be excluded; missing: {against}"
        ));
    }
    let open = names(run.active().filter(|domain| !domain.is_settled()));
    if !open.is_empty() {
        let open = open.join(", ");
        return refused(&format!(
            "both core members must confirm the last result of every active domain; missing: {open}"
        ));
    }
    let lacks = |field: &str, rule: &str| Err(broken(Code::GateRefused, field, rule));
    let Some(summary) = summary else {
        let rule = "is required: say why the gate is cleared";
        return lacks("clear_summary", rule);
    };
    for key in SUMMARY {
        let field = format!("clear_summary.{key}");
        let holds = match summary.get(key) {
            None => return lacks(&field, "is required"),
            Some(Value::Array(values)) => key == RISKS || values.iter().all(is_name),
            Some(_) => false,
        };
        if !holds {
            let of = if key == RISKS { "" } else { " of names" };
            return lacks(&field, &format!("must be an array{of}"));
        }
    }
    let accepted = Accepted::one(BootstrapAct::GateCleared {
        clear_summary: summary.clone(),
        conditions_for_final_synthesis: conditions.unwrap_or_default().to_vec(),
    });
    Ok(accepted.warned(disagreement(run, summary).as_deref()))
}

fn is_name(value: &Value) -> bool {
    value.as_str().is_some_and(|name| !name.trim().is_empty())
}

/// Returns a warning if the summary disagrees with the log. The log decides.
fn disagreement(run: &Run, summary: &Map<String, Value>) -> Option<String> {
    let said = |key: &str| -> BTreeSet<&str> {
        let values = summary.get(key).and_then(Value::as_array);
        let values = values.into_iter().flatten();
        values.filter_map(Value::as_str).collect()
    };
    let is_excluded = |domain: &&Domain| domain.excluded.is_some();
    let excluded = BTreeSet::from_iter(names(run.domains.iter().filter(is_excluded)));
    let passed = BTreeSet::from_iter(names(run.active()));
    let listed = &said("pass_domains") | &said("revised_domains");
    (listed != passed || said("excluded_domains") != excluded)
        .then(|| "clear_summary lists other domains than the log".to_owned())
}

/// Requests the final synthesis.
pub fn requested(run: &Run, by: &Participant) -> Ruled {
    only(&Participant::Lead, run, "final_synthesis_requested", by)?;
    if run.gate.is_none() {
        let message = "the gate must be cleared before the final synthesis is requested";
        return Err(Refusal::new(Code::GateNotCleared, message));
    }
    if run.active().next().is_none() {
        return Err(nobody(Code::GateNotCleared));
    }
    match run.final_requested {
        true => Ok(Accepted::known("the final synthesis is already requested")),
        false => Ok(Accepted::one(BootstrapAct::FinalSynthesisRequested {})),
    }
}

/// Records that the synthesizer accepts the request, or delivers the synthesis.
pub fn synthesized(run: &Run, event: &'static str, by: &Participant, done: bool) -> Ruled {
    only(&Participant::Core(Core::Synthesizer), run, event, by)?;
    if !run.final_requested {
        return Err(illegal(
            run,
            event,
            "the final synthesis is not requested yet",
        ));
    }
    let by = Core::Synthesizer;
    Ok(match done {
        true if run.synthesis_delivered => {
            Accepted::known("the final synthesis is already recorded")
        }
        true => Accepted::one(BootstrapAct::SynthesisDelivered { by }),
        false if run.final_acked => Accepted::known("the ack is already recorded"),
        false => Accepted::one(BootstrapAct::FinalSynthesisAcked { by }),
    })
}

pub fn joined(run: &Run, name: &str, how: Option<How>) -> Ruled {
    let event = "member_added";
    if how == Some(How::ByTask) {
        let why = "members are added at team level, not by tasks";
        return Err(illegal(run, event, why).field("data.method"));
    }
    if core_named(name).is_some() || run.active_domain(name).is_some() {
        let why = format!("{name:?} is already a member");
        return Err(illegal(run, event, &why).field("data.domain"));
    }
    if run.domains.len() >= DOMAINS_MAX {
        let message = format!("a run can have at most {DOMAINS_MAX} domains");
        return Err(Refusal::new(Code::TooLarge, message).field("data.domain"));
    }
    let again = run
        .round1_complete
        .then_some("round 1 is open again until every domain, including this one, is reviewed");
    Ok(Accepted::one(BootstrapAct::MemberAdded {
        domain: name.to_owned(),
    })
    .warned(again))
}
