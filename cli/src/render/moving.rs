//! Renders conversions, backups and restores.

use crate::render::integrity;
use crate::render::prelude::*;
use crate::render::token;
use teamlog_team::backup::restore::RestoreAnswer;
use teamlog_team::backup::take::{BackupAllAnswer, BackupAnswer};
use teamlog_team::import::team_chat::ChatAnswer;
use teamlog_team::log::convert::ConvertAnswer;

pub fn converted(answer: &ConvertAnswer, view: &View) -> Vec<String> {
    let (Some(from), Some(to)) = (&answer.from, &answer.to) else {
        let rest = format!(" is {} already", answer.format);
        return vec![heading(view, &answer.team, &rest)];
    };
    let rest = format!(
        " is {} now, converted in {}",
        answer.format,
        time::took(answer.elapsed_ms)
    );
    let mut shown = vec![heading(view, &answer.team, &rest)];
    let row = |name: &str, size: &teamlog_team::engine::Size| -> Vec<Cell> {
        vec![
            styled(Style::Dim, name),
            plain(size.format),
            number(time::bytes(size.bytes)),
            number(time::plural(size.segments, "segment")),
            plain(&size.log),
        ]
    };
    shown.extend(lines([row("from", from), row("to", to)], 2, view));
    shown.push(format!(
        "  {} in {} copied, read back and compared",
        time::plural(answer.events, "event"),
        time::plural(answer.groups, "group")
    ));
    if let Some(archive) = &answer.archive {
        shown.push(format!(
            "  the original is in {} of the team's directory",
            visible(archive)
        ));
    }
    shown
}

pub fn backed_up(answer: &BackupAnswer, view: &View) -> Vec<String> {
    let rest = format!(
        " backed up to event {} in {}",
        answer.seq,
        time::took(answer.elapsed_ms)
    );
    let mut shown = vec![heading(view, &answer.team, &rest)];
    let since = match answer.previous_seq {
        Some(seq) => format!("new since event {seq}"),
        None => "all of it".to_owned(),
    };
    let rows = [
        vec![
            styled(Style::Dim, "copied"),
            number(time::bytes(answer.bytes_copied)),
            number(time::plural(answer.segments_copied, "segment")),
            number(time::plural(answer.files_copied, "file")),
            plain(since),
        ],
        vec![
            styled(Style::Dim, "holds"),
            number(time::bytes(answer.bytes)),
            number(time::plural(answer.segments, "segment")),
            number(time::plural(answer.files, "file")),
            plain(answer.format),
        ],
    ];
    shown.extend(lines(rows, 2, view));
    shown
}

pub fn all_backed_up(answer: &BackupAllAnswer, view: &View) -> Vec<String> {
    let backups = answer.backups.iter();
    let mut shown: Vec<String> = backups.flat_map(|backup| backed_up(backup, view)).collect();
    for failed in &answer.failed {
        let word = view.paint.show(Style::Bad, "not backed up");
        let (team, why) = (visible(&failed.team), visible(&failed.message));
        shown.push(format!("{team}: {word}: {why}"));
    }
    shown.push(format!(
        "{}, {} copied in {}",
        time::plural(answer.backups.len() as u64, "team"),
        time::bytes(answer.bytes_copied),
        time::took(answer.elapsed_ms)
    ));
    shown
}

pub fn restored(answer: &RestoreAnswer, view: &View) -> Vec<String> {
    let rest = format!(
        " restored in {} from a backup of {}",
        time::took(answer.elapsed_ms),
        view.ago(answer.backed_up_at)
    );
    let mut shown = vec![heading(view, &answer.team, &rest)];
    let whose = match answer.same_log {
        true => "the id of the original",
        false => "a log of its own",
    };
    let rows = [vec![
        styled(Style::Dim, "holds"),
        number(time::plural(answer.events, "event")),
        number(time::bytes(answer.bytes)),
        number(time::plural(answer.files, "file")),
        plain(answer.format),
    ]];
    shown.extend(lines(rows, 2, view));
    shown.push(format!("  log {}, {whose}", answer.log));
    shown.push(format!("  state digest {}", answer.state_digest));
    shown.extend(token::unaccepted(&answer.team, &answer.unaccepted_tokens));
    shown
}

pub fn team_chat(answer: &ChatAnswer, view: &View) -> Vec<String> {
    let counts = &answer.counts;
    let state = match answer.status {
        "rejected" => " is not created: nothing was imported".to_owned(),
        _ => format!(" created and filled in {}", time::took(answer.elapsed_ms)),
    };
    let rows = [
        ("files", counts.files, Style::Plain),
        ("messages", counts.messages, Style::Good),
        ("acks", counts.acks, Style::Good),
        ("dead letters", counts.dead_letters, Style::Good),
        ("tasks from snapshots", counts.tasks, Style::Good),
        (
            "tasks from messages",
            counts.tasks_from_messages,
            Style::Plain,
        ),
        ("events kept", counts.events_kept, Style::Good),
        ("events ignored", counts.events_passed_by, Style::Plain),
        ("settings", counts.settings, Style::Good),
        ("duplicates", counts.duplicates, Style::Warn),
        ("orphans", counts.orphans, Style::Warn),
        ("malformed", counts.malformed, Style::Bad),
    ];
    let mut shown = vec![heading(view, &answer.team, &state)];
    shown.extend(integrity::counted(&rows, &counts.not_applied, view));
    let rows = answer.problems.iter().map(|problem| {
        let place = match problem.line {
            0 => problem.file.clone(),
            line => format!("{} line {line}", problem.file),
        };
        vec![plain(place), plain(problem.kind), plain(&problem.message)]
    });
    push_below(&mut shown, lines(rows, 2, view));
    shown.extend(integrity::omitted(answer.problems_omitted));
    shown
}
