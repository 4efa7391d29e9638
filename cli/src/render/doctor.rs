//! Answers of `doctor`.

use crate::render::prelude::*;
use teamlog_team::doctor::repair::RepairAnswer;
use teamlog_team::doctor::{DoctorAnswer, Health};
use teamlog_team::engine::AcceptedRollback;
use teamlog_team::engine::repair::{Lost, SalvageReport};
use teamlog_team::handle::staging::CleanAnswer;

/// Renders the findings of `doctor check`. `deep` is the command for the complete check.
pub fn checked(answer: &DoctorAnswer, deep: &str, view: &View) -> Vec<String> {
    let (style, word) = shown(answer.overall_status);
    let team = view.paint.show(Style::Bold, visible(&answer.team));
    let mut told = vec![format!("{team}: {}", view.paint.show(style, word))];
    let rows = answer.checks.iter().map(|check| {
        let (style, word) = shown(check.status);
        let (name, summary) = (plain(check.name), plain(&check.summary));
        vec![styled(style, word), name, summary]
    });
    told.extend(lines(rows, 2, view));
    if !answer.stats.deep {
        told.push("only a sample was checked; to check everything:".to_owned());
        told.push(format!("  {}", visible(deep)));
    }
    if !answer.recommendations.is_empty() {
        told.push("to repair it:".to_owned());
        let commands = answer.recommendations.iter();
        told.extend(commands.map(|command| format!("  {}", visible(command))));
    }
    told
}

/// Renders the result or the plan of `doctor repair`. `again` is the command that carries out the plan.
pub fn repaired(answer: &RepairAnswer, again: &str, view: &View) -> Vec<String> {
    let cut = &answer.cut;
    if let Some(rollback) = &answer.rollback {
        return accepted(answer, rollback, view);
    }
    let rest = match answer.status {
        "unchanged" if cut.to == 0 => ": no event is missing".to_owned(),
        "unchanged" => format!(": nothing comes after event {}", cut.to),
        "planned" => format!(": a cut after event {} would remove", cut.to),
        _ => format!(
            ": cut after event {}; the removed part is in {}",
            cut.to,
            answer.archive.as_deref().unwrap_or("-")
        ),
    };
    let mut told = vec![heading(view, &answer.team, &rest)];
    if answer.status == "unchanged" {
        return told;
    }
    let counts = [
        ("events", cut.events),
        ("bytes", cut.bytes),
        ("segments", cut.segments.len() as u64),
    ];
    let rows = counts.map(|(name, count)| vec![plain(name), number(time::count(count))]);
    told.extend(lines(rows, 2, view));
    if !cut.lost.is_empty() {
        told.push("and unreadable parts:".to_owned());
        told.extend(lines(cut.lost.iter().map(lost), 2, view));
    }
    if answer.status == "planned" {
        told.push("nothing is changed; to do it:".to_owned());
        told.push(format!("  {}", visible(again)));
    }
    told
}

/// Renders the events that a rollback removed.
fn accepted(answer: &RepairAnswer, rollback: &AcceptedRollback, view: &View) -> Vec<String> {
    let lost = rollback.known_seq.saturating_sub(rollback.last_seq);
    let rest = format!(
        ": continues after event {} without {}, as event {} records",
        rollback.last_seq,
        time::plural(lost.max(1), "lost event"),
        answer.seq.unwrap_or_default()
    );
    let mut told = vec![heading(view, &answer.team, &rest)];
    let rows = rollback.lost.iter().map(|event| {
        let text = |text: &Option<String>| plain(text.as_deref().unwrap_or("-"));
        vec![
            plain(format!("event {}", event.seq)),
            text(&event.kind),
            text(&event.id),
        ]
    });
    told.extend(lines(rows, 2, view));
    told
}

/// Renders the result or the plan of `doctor clean`. `again` is the command that carries out the plan.
pub fn cleaned(answer: &CleanAnswer, again: &str, view: &View) -> Vec<String> {
    let head = match answer.status {
        "unchanged" => "killed commands left nothing",
        "planned" => "left by killed commands:",
        _ => "removed what killed commands left:",
    };
    let mut told = vec![head.to_owned()];
    let rows = answer.leftovers.iter().map(|leftover| {
        let state = match (&leftover.holder, leftover.removed) {
            (Some(holder), _) => format!("kept: {holder} uses it"),
            (None, true) => "removed".to_owned(),
            (None, false) if leftover.readable => "kept: its events can still be read".to_owned(),
            (None, false) => "holds no events".to_owned(),
        };
        vec![plain(leftover.path.as_str()), plain(state)]
    });
    told.extend(lines(rows, 2, view));
    if answer.status == "planned" {
        told.push("nothing is changed; to remove it:".to_owned());
        told.push(format!("  {}", visible(again)));
    }
    told
}

/// Renders the number of events that a salvage copied, and the losses.
pub fn salvaged(salvaged: &SalvageReport, view: &View) -> Vec<String> {
    let mut told = vec![format!(
        "salvaged {} in {}; the damaged log is kept in {}",
        time::plural(salvaged.events, "event"),
        time::plural(salvaged.groups, "group"),
        visible(&salvaged.archive)
    )];
    told.push(match salvaged.lost.is_empty() {
        true => "  no event is lost".to_owned(),
        false => format!("  {} lost:", time::plural(salvaged.lost_events, "event")),
    });
    told.extend(lines(salvaged.lost.iter().map(lost), 4, view));
    if salvaged.lost_omitted > 0 {
        let more = time::count(salvaged.lost_omitted);
        told.push(format!("    and {more} more places"));
    }
    for split in &salvaged.split {
        told.push(format!(
            "  of events {} to {}, one group, {} were copied one by one",
            split.from_seq,
            split.to_seq,
            time::count(split.events)
        ));
    }
    told
}

fn lost(lost: &Lost) -> Vec<Cell> {
    let events = match (lost.from_seq, lost.to_seq) {
        (Some(from), Some(to)) if from == to => format!("event {from}"),
        (Some(from), Some(to)) => format!("events {from} to {to}"),
        _ => "no event".to_owned(),
    };
    let (file, offset, length) = (&lost.file, lost.offset, time::bytes(lost.length));
    let place = format!("{file} at byte {offset}, {length}");
    vec![plain(events), plain(place), plain(&lost.why)]
}

/// Returns style, sign and word for a health. The page shows the same signs
/// (`dashboard/src/panels/integrity/health.ts`).
fn shown(health: Health) -> (Style, &'static str) {
    match health {
        Health::Healthy => (Style::Good, "✓ healthy"),
        Health::Warn => (Style::Warn, "! warn"),
        Health::Unhealthy => (Style::Bad, "✕ unhealthy"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_shows_the_same_signs_in_the_same_colours() {
        let page = include_str!("../../../dashboard/src/panels/integrity/health.ts");
        for health in [Health::Healthy, Health::Warn, Health::Unhealthy] {
            let (style, shown) = shown(health);
            let (sign, word) = shown.split_once(' ').unwrap();
            let tone = match style {
                Style::Good => "good",
                Style::Warn => "warn",
                _ => "bad",
            };
            let row = format!("{word}: {{ tone: \"{tone}\", sign: \"{sign}\" }},");
            assert!(page.contains(&row), "{row}");
        }
    }
}
