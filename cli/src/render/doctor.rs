//! What `doctor` found and did.

use crate::render::prelude::*;
use teamlog_team::doctor::repair::RepairAnswer;
use teamlog_team::doctor::{DoctorAnswer, Health};
use teamlog_team::engine::repair::{Lost, Salvaged};
use teamlog_team::handle::staging::CleanAnswer;

/// What `doctor check` found; `deep` is the command that looks at everything.
pub fn checked(answer: &DoctorAnswer, deep: &str, view: &View) -> Vec<String> {
    let (style, word) = shown(answer.overall_status);
    let mut shown_lines = vec![format!(
        "{}: {}",
        view.paint.show(Style::Bold, visible(&answer.team)),
        view.paint.show(style, word)
    )];
    let rows = answer.checks.iter().map(|check| {
        let (style, word) = shown(check.status);
        vec![
            styled(style, word),
            plain(check.name),
            plain(check.summary.as_str()),
        ]
    });
    shown_lines.extend(lines(rows, 2, view));
    if !answer.stats.deep {
        shown_lines.push("a sample was looked at; to look at everything:".to_owned());
        shown_lines.push(format!("  {}", visible(deep)));
    }
    if !answer.recommendations.is_empty() {
        shown_lines.push("to mend it:".to_owned());
        for command in &answer.recommendations {
            shown_lines.push(format!("  {}", visible(command)));
        }
    }
    shown_lines
}

/// What `doctor repair` took away, or would; `again` is the command that does.
pub fn repaired(answer: &RepairAnswer, again: &str, view: &View) -> Vec<String> {
    let cut = &answer.cut;
    let rest = match answer.status {
        "unchanged" => format!(": nothing lies behind event {}", cut.to),
        "planned" => format!(": a cut after event {} would take away", cut.to),
        _ => format!(
            ": cut after event {}; what went is kept in {}",
            cut.to,
            answer.archive.as_deref().unwrap_or("-")
        ),
    };
    let mut shown_lines = vec![heading(view, &answer.team, &rest)];
    if answer.status == "unchanged" {
        return shown_lines;
    }
    let rows = vec![
        vec![plain("events"), number(time::count(cut.events))],
        vec![plain("bytes"), number(time::count(cut.bytes))],
        vec![
            plain("segments"),
            number(time::count(cut.segments.len() as u64)),
        ],
    ];
    shown_lines.extend(lines(rows, 2, view));
    let rows: Vec<_> = cut.lost.iter().map(lost).collect();
    if !rows.is_empty() {
        shown_lines.push("and what cannot be read:".to_owned());
        shown_lines.extend(lines(rows, 2, view));
    }
    if answer.status == "planned" {
        shown_lines.push("nothing is changed; to do it:".to_owned());
        shown_lines.push(format!("  {}", visible(again)));
    }
    shown_lines
}

/// What `doctor clean` removed, or would; `again` is the command that does.
pub fn cleaned(answer: &CleanAnswer, again: &str, view: &View) -> Vec<String> {
    let mut shown_lines = vec![
        match answer.status {
            "unchanged" => "nothing is left of killed commands",
            "planned" => "left by killed commands:",
            _ => "removed what killed commands left:",
        }
        .to_owned(),
    ];
    let rows = answer.leftovers.iter().map(|leftover| {
        let state = match (&leftover.holder, leftover.removed) {
            (Some(holder), _) => format!("stays: {holder} works in it"),
            (None, true) => "removed".to_owned(),
            (None, false) if leftover.readable => "its events can still be read".to_owned(),
            (None, false) => "holds no events".to_owned(),
        };
        vec![plain(leftover.path.as_str()), plain(state)]
    });
    shown_lines.extend(lines(rows, 2, view));
    if answer.status == "planned" {
        shown_lines.push("nothing is changed; to remove it:".to_owned());
        shown_lines.push(format!("  {}", visible(again)));
    }
    shown_lines
}

/// What a salvage took and could not.
pub fn salvaged(salvaged: &Salvaged, view: &View) -> Vec<String> {
    let mut shown_lines = vec![format!(
        "salvaged {} in {}; the damaged log is kept in {}",
        time::plural(salvaged.events, "event"),
        time::plural(salvaged.groups, "group"),
        visible(&salvaged.archive)
    )];
    if salvaged.lost.is_empty() {
        shown_lines.push("  nothing is lost".to_owned());
    } else {
        shown_lines.push(format!(
            "  {} lost:",
            time::plural(salvaged.lost_events, "event")
        ));
    }
    shown_lines.extend(lines(salvaged.lost.iter().map(lost), 4, view));
    if salvaged.lost_omitted > 0 {
        shown_lines.push(format!(
            "    and {} more places",
            time::count(salvaged.lost_omitted)
        ));
    }
    for split in &salvaged.split {
        shown_lines.push(format!(
            "  of events {} to {}, which were one group, {} were taken one by one",
            split.from_seq,
            split.to_seq,
            time::count(split.events)
        ));
    }
    shown_lines
}

fn lost(lost: &Lost) -> Vec<Cell> {
    let events = match (lost.from_seq, lost.to_seq) {
        (Some(from), Some(to)) if from == to => format!("event {from}"),
        (Some(from), Some(to)) => format!("events {from} to {to}"),
        _ => "no event".to_owned(),
    };
    vec![
        plain(events),
        plain(format!(
            "{} at byte {}, {}",
            lost.file,
            lost.offset,
            time::bytes(lost.length)
        )),
        plain(lost.why.as_str()),
    ]
}

fn shown(health: Health) -> (Style, &'static str) {
    match health {
        Health::Healthy => (Style::Good, "healthy"),
        Health::Warn => (Style::Warn, "warn"),
        Health::Unhealthy => (Style::Bad, "unhealthy"),
    }
}
