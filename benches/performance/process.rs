//! Measures whole commands: a process from start to exit, a send into a long inbox, the rebuild of a real team.

use crate::options::Options;
use serde_json::json;
use std::fs::File;
use std::io::{BufReader, Cursor};
use std::path::{Path, PathBuf};
use std::process::Command;
use teamlog_benches::past::{self, TEAM};
use teamlog_benches::release::{build, run_quietly};
use teamlog_benches::rounds::{Contestant, human, run, timed};
use teamlog_benches::table::{Target, row};
use teamlog_engine::Format;
use teamlog_team::lifecycle::init::Init;
use teamlog_team::log::rehydrate::Rehydrate;
use teamlog_team::message::send::Send;
use teamlog_team::{Root, RootOptions};

/// Prints the rows about whole commands.
pub fn rows(options: &Options) {
    let mut built = None;
    options.both("T16 one CLI send, start to exit", |name, format| {
        let teamlog = built.get_or_insert_with(|| build("dist"));
        one_send(name, teamlog, format, options);
    });
    let inbox = "send into an inbox of 30,000 against a new one";
    options.both(inbox, |name, format| long_inbox(name, format, options));
    let real = "rehydrate 35,440 real messages, all views right";
    options.both(real, |name, format| rehydrate(name, format, options));
}

fn root(path: &Path) -> Root {
    Root::create(path, RootOptions::default()).unwrap()
}

/// Creates a team of two members without history.
fn init(path: &Path, format: Format) {
    let init = Init {
        format: Some(format),
        members: vec!["alice".into(), "bob".into()],
        ..Init::for_team(TEAM)
    };
    root(path).init(init).unwrap();
}

const PAYLOAD: &str = r#"{"subject":"the second half of the parser","body":"it has no test for an empty line yet; please look again before the merge"}"#;

fn one_send(name: &str, teamlog: &Path, format: Format, options: &Options) {
    const PROCESSES: u32 = 5;
    let dir = options.fresh();
    init(&dir, format);
    let floor: Contestant<'_> = Box::new(|| {
        timed(|| {
            for _ in 0..PROCESSES {
                run_quietly(Command::new(env!("CARGO_BIN_EXE_append-floor")).arg(&dir));
            }
        })
    });
    let ours: Contestant<'_> = Box::new(|| {
        timed(|| {
            for _ in 0..PROCESSES {
                run_quietly(
                    Command::new(teamlog)
                        .arg("--data-root")
                        .arg(&dir)
                        .args(["send", TEAM, "--from", "alice", "--to", "bob"])
                        .args(["--type", "handoff", "--task-id", "bd-7", "--json"])
                        .args(["--payload-json", PAYLOAD]),
                );
            }
        })
    });
    // There are enough rounds to measure both a short and a long tail of the derived store.
    let times = run(options.rounds(131), vec![floor, ours]);
    times.row(name, Target::AtMost(1.5), PROCESSES, "");
}

/// Sends once with a new handle.
fn send(path: &Path, to: &str) {
    let mut team = root(path).team(TEAM).unwrap();
    let send = Send {
        from: "alice".into(),
        to: to.into(),
        kind: "handoff".into(),
        payload: Some(PAYLOAD.into()),
        ..Send::default()
    };
    team.send(send).unwrap();
    team.finish().unwrap();
}

fn long_inbox(name: &str, format: Format, options: &Options) {
    const MESSAGES: u64 = 30_000;
    const SENDS: u32 = 5;
    let dir = options.fresh();
    let mut envelopes = Vec::new();
    for seq in 0..MESSAGES {
        let message = json!({
            "id": format!("msg_{seq:012x}"), "type": "handoff", "from": "alice", "to": "bob",
            "priority": "normal", "schema_version": 1,
            "created_at": format!("2026-01-01T{:02}:{:02}:{:02}.000000Z", seq / 3600, seq / 60 % 60, seq % 60),
            "payload": serde_json::from_str::<serde_json::Value>(PAYLOAD).unwrap(),
        });
        serde_json::to_writer(&mut envelopes, &message).unwrap();
        envelopes.push(b'\n');
    }
    past::import(&dir, format, &mut Cursor::new(envelopes));
    let members = Init {
        members: vec!["carol".into()],
        ..Init::for_team(TEAM)
    };
    root(&dir).init(members).unwrap();
    let contestants = ["carol", "bob"].map(|to| -> Contestant<'_> {
        Box::new(|| timed(|| (0..SENDS).for_each(|_| send(&dir, to))))
    });
    let times = run(options.rounds(61), contestants.into());
    times.row(name, Target::AtMost(1.2), SENDS, "");
}

/// Returns the file of real messages, if it exists.
fn real_messages() -> Option<PathBuf> {
    let beside =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/agent-messages.jsonl");
    let named = std::env::var_os("TEAMLOG_REAL_MESSAGES").map(PathBuf::from);
    named.or_else(|| beside.exists().then_some(beside))
}

fn rehydrate(name: &str, format: Format, options: &Options) {
    let Some(messages) = real_messages() else {
        println!("| {name} | – | – | skipped | TEAMLOG_REAL_MESSAGES names no file |");
        return;
    };
    let dir = options.fresh();
    let mut source = BufReader::with_capacity(1 << 20, File::open(messages).unwrap());
    past::import(&dir, format, &mut source);
    let rebuild = |workers: usize| -> Contestant<'_> {
        let path = &dir;
        Box::new(move || {
            let mut team = root(path).team(TEAM).unwrap();
            let options = Rehydrate {
                workers: Some(workers),
            };
            timed(|| drop(team.rehydrate(options, &mut |_, _| {}).unwrap()))
        })
    };
    let times = run(options.rounds(9), vec![rebuild(1), rebuild(2)]);
    let detail = format!("two workers; {} with one", human(times.median(0)));
    let millis = times.median(1).as_secs_f64() * 1e3;
    row(name, Target::Report, millis, " ms", &detail);
}
