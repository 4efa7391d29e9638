//! Measures whole processes, from start to exit, compared with a program that locks a file, appends 600 bytes to another file and
//! syncs that file.

use crate::contestant::Contestant;
use crate::draft::{Lie, some_story};
use crate::figures::{head, number, row};
use crate::history::Kept;
use crate::options::Options;
use std::path::Path;
use std::process::{Command, Stdio};
use teamlog_benches::past::TEAM;
use teamlog_benches::release::{build_floor, run_quietly};
use teamlog_benches::rounds::{Contestant as Run, median, run, timed};
use teamlog_engine::Format;

pub const ALL: &str = "Whole processes";
const PAYLOAD: &str = r#"{"subject":"the second half of the parser","body":"it has no test for an empty line yet; please look again before the merge"}"#;
/// Number of processes in a round.
const PROCESSES: u32 = 10;

/// Prints the section.
pub fn section(kept: &Kept, options: &Options) {
    if !options.begins(ALL) {
        return;
    }
    let (teamlog, floor) = (options.teamlog(), build_floor(&options.profile));
    let mut named: Vec<(String, Command)> = Vec::new();
    let mut bare = Command::new(floor);
    bare.arg(options.fresh());
    named.push(("bare: lock, append, sync".into(), bare));
    named.push(("/bin/true".into(), Command::new("/bin/true")));
    let mut version = Command::new(&teamlog);
    version.arg("--version");
    named.push(("teamlog --version".into(), version));
    for format in [Format::Jsonl, Format::Binary] {
        let root = options.fresh();
        let mut init = on(&teamlog, &root);
        run_quietly(
            init.args(["init", TEAM, "--members", "alice,bob"])
                .args(["--format", format.name()]),
        );
        let mut send = on(&teamlog, &root);
        send.args(["send", TEAM, "--from", "alice", "--to", "bob"])
            .args(["--type", "handoff", "--task-id", "bd-7", "--json"])
            .args(["--payload-json", PAYLOAD]);
        named.push((format!("teamlog send, {}", format.name()), send));
    }
    for format in [Format::Jsonl, Format::Binary] {
        let Some(root) = kept.dir(Contestant::Team(format)) else {
            continue;
        };
        let behind = format!("behind {} events, {}", options.history(), format.name());
        let mut append = on(&teamlog, root);
        append.args(["append", TEAM, "--kind", "note_taken", "--actor", "alice"]);
        named.push((format!("teamlog append {behind}"), append));
        let mut trace = on(&teamlog, root);
        trace
            .args(["trace", TEAM, "--limit", "20", "--json", "--trace-id"])
            .arg(some_story(7, options.history(), Lie::Spread));
        named.push((format!("teamlog trace {behind}"), trace));
    }
    named.extend(sqlite(&options.fresh()));
    table(&mut named, options);
}

fn on(teamlog: &Path, root: &Path) -> Command {
    let mut command = Command::new(teamlog);
    command.arg("--data-root").arg(root);
    command
}

/// Returns the command for SQLite's command line to insert a row, if SQLite is installed.
fn sqlite(dir: &Path) -> Option<(String, Command)> {
    let database = dir.join("sqlite");
    let create = Command::new("sqlite3")
        .arg(&database)
        .arg("PRAGMA journal_mode=WAL; CREATE TABLE events (seq INTEGER PRIMARY KEY, trace TEXT, line TEXT); CREATE INDEX traces ON events (trace);")
        .stdout(Stdio::null())
        .status();
    if !create.is_ok_and(|status| status.success()) {
        println!("sqlite3 is left out: it is not installed.\n");
        return None;
    }
    let mut insert = Command::new("sqlite3");
    insert.arg(database).arg(format!(
        "PRAGMA synchronous=FULL; INSERT INTO events (trace, line) VALUES ('tr_bd-7', '{PAYLOAD}');"
    ));
    Some(("sqlite3 insert".into(), insert))
}

fn table(named: &mut [(String, Command)], options: &Options) {
    let mut calls = vec![Vec::new(); named.len()];
    let (commands, kept): (Vec<_>, Vec<_>) = named
        .iter_mut()
        .zip(&mut calls)
        .map(|((_, command), calls)| (command, calls))
        .unzip();
    let contestants = commands.into_iter().zip(kept).map(|(command, calls)| {
        let contestant: Run<'_> = Box::new(move || {
            timed(|| {
                for _ in 0..PROCESSES {
                    calls.push(timed(|| run_quietly(command)).as_secs_f64());
                }
            })
        });
        contestant
    });
    let times = run(options.rounds() * 3, contestants.collect());
    head(&["process", "p50 ms", "p99 ms", "x as long as bare"]);
    for (at, (name, _)) in named.iter().enumerate() {
        let mut sorted = calls[at].clone();
        sorted.sort_unstable_by(f64::total_cmp);
        row([
            name.clone(),
            number(median(sorted.clone()) * 1e3),
            number(sorted[sorted.len() * 99 / 100] * 1e3),
            format!("{:.2} x", times.ratio(at, 0)),
        ]);
    }
}
