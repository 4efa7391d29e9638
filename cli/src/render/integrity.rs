//! Renders checks, rebuilds, imports, and the problems that they found.

use crate::render::doctor;
use crate::render::prelude::*;
use crate::render::token;
use teamlog_team::import::report::{ImportAnswer, Reasons};
use teamlog_team::log::rehydrate::RehydrateAnswer;
use teamlog_team::log::verify::{Problem, Severity, VerifyAnswer};
use teamlog_team::receipt::head::HeadAnswer;

pub fn verified(answer: &VerifyAnswer, view: &View) -> Vec<String> {
    let (style, word) = match (answer.ok, answer.problems.is_empty()) {
        (true, true) => (Style::Good, "ok"),
        (true, false) => (Style::Warn, "ok, with warnings"),
        (false, _) => (Style::Bad, "damaged"),
    };
    let mut shown = vec![format!(
        "{}: {} in {}, {}, up to seq {}",
        view.paint.show(style, word),
        time::plural(answer.events, "event"),
        time::plural(answer.segments, "segment"),
        time::bytes(answer.bytes),
        answer.last_seq
    )];
    shown.extend(lines(answer.problems.iter().map(problem), 2, view));
    shown.extend(omitted(answer.problems_omitted));
    shown
}

pub fn omitted(problems: u64) -> Option<String> {
    (problems > 0).then(|| format!("  and {} more", time::count(problems)))
}

fn problem(problem: &Problem) -> Vec<Cell> {
    let (style, word) = match problem.severity {
        Severity::Warning => (Style::Warn, "warning"),
        Severity::Error => (Style::Bad, "error"),
    };
    let seq = problem.seq.map(|seq| format!("event {seq}"));
    vec![
        styled(style, word),
        plain(problem.kind.name()),
        plain(format!("{} at byte {}", problem.file, problem.offset)),
        plain(seq.unwrap_or_default()),
        plain(&problem.message),
    ]
}

/// Renders a receipt, and explains how to check the receipt without teamlog.
pub fn receipt(answer: &HeadAnswer, view: &View) -> Vec<String> {
    let receipt = &answer.receipt;
    let rows = [
        ("log", Some(receipt.log.clone())),
        ("seq", Some(receipt.seq.to_string())),
        ("segment", Some(receipt.segment.clone())),
        ("length", Some(receipt.length.to_string())),
        ("digest", Some(receipt.digest.clone())),
        ("signed by", answer.public_key.clone()),
        ("signature", answer.signature.clone()),
    ];
    let rows = rows
        .into_iter()
        .filter_map(|(name, value)| Some(vec![styled(Style::Dim, name), plain(value?)]));
    let mut shown = vec![heading(view, &answer.team, " up to now")];
    shown.extend(lines(rows, 2, view));
    shown.push(String::new());
    shown.push("to check it without teamlog, in the team's events directory:".to_owned());
    shown.push(format!(
        "  head -c {} {} | b3sum",
        receipt.length,
        visible(&receipt.segment)
    ));
    shown
}

pub fn rehydrated(answer: &RehydrateAnswer, view: &View) -> Vec<String> {
    let counts = [
        ("events", answer.event_count),
        ("messages", answer.message_count),
        ("acks", answer.ack_count),
        ("tasks", answer.task_count),
    ];
    let rows = counts
        .into_iter()
        .map(|(name, count)| vec![plain(name), number(time::count(count))]);
    // Show no rate if the time was too short to measure.
    let rate = match answer.elapsed_ms {
        0..100 => String::new(),
        _ => format!(" ({} events/s)", time::count(answer.events_per_second)),
    };
    let rest = format!(" rebuilt in {}{rate}", time::took(answer.elapsed_ms));
    let mut shown = Vec::new();
    if let Some(salvaged) = &answer.salvaged {
        shown.extend(doctor::salvaged(salvaged, view));
    }
    shown.push(heading(view, &answer.team, &rest));
    shown.extend(lines(rows, 2, view));
    shown.push(format!("  state digest {}", answer.state_digest));
    shown
}

/// Formats the counts of an import, and the number of messages whose changes were not applied to a task.
pub fn counted(counts: &[(&str, u64, Style)], not_applied: &Reasons, view: &View) -> Vec<String> {
    let counts = counts.iter();
    let counts = counts.map(|(name, count, style)| ((*name).to_owned(), *count, *style));
    let reasons = not_applied.iter();
    let reasons =
        reasons.map(|(reason, count)| (format!("not applied: {reason}"), *count, Style::Warn));
    let rows = counts.chain(reasons).map(|(name, count, style)| {
        let style = if count == 0 { Style::Plain } else { style };
        vec![plain(name), number_styled(style, time::count(count))]
    });
    lines(rows, 2, view)
}

/// Returns a note for standard error if an import ignored a part of a message.
pub fn left_aside(not_applied: &Reasons) -> Option<String> {
    let parts = not_applied.iter();
    let parts = parts.map(|(reason, count)| format!("{reason} {}", time::count(*count)));
    let parts = parts.collect::<Vec<String>>().join(", ");
    let told = || format!("some messages contain changes of tasks that were not applied: {parts}");
    (!parts.is_empty()).then(told)
}

pub fn imported(answer: &ImportAnswer, view: &View) -> Vec<String> {
    let elapsed = time::took(answer.elapsed_ms);
    let state = match (&*answer.status, answer.created) {
        ("rejected", _) => " is unchanged: nothing was imported".to_owned(),
        (_, true) => format!(" created and filled in {elapsed}"),
        (_, false) => format!(" filled in {elapsed}"),
    };
    let counts = [
        ("imported", answer.imported, Style::Good),
        ("duplicates", answer.duplicates, Style::Warn),
        ("malformed", answer.malformed, Style::Bad),
    ];
    let mut shown = vec![heading(view, &answer.team, &state)];
    shown.extend(counted(&counts, &answer.not_applied, view));
    let rows = answer.problems.iter().map(|problem| {
        let line = number(format!("line {}", problem.line));
        vec![line, plain(&problem.kind), plain(&problem.message)]
    });
    push_below(&mut shown, lines(rows, 2, view));
    shown.extend(omitted(answer.problems_omitted));
    shown.extend(token::unaccepted(&answer.team, &answer.unaccepted_tokens));
    shown
}
