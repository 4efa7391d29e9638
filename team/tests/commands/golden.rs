//! Golden teams: logs with every kind of event that a command writes, in both formats. Every later version must open the teams with an
//! equal state. `fixtures/README.md` describes how the teams were made. The tests open a copy in memory.
//!
//! `cargo test -p teamlog-team --test commands golden::make -- --ignored` writes the golden set of
//! the present version.

use crate::golden_set::made;
use crate::prelude::*;
use teamlog_engine::Point;
use teamlog_team::projections::vocabulary;

/// Directory of this version's golden set.
const SET: &str = "teams-v1";
const FORMATS: [Format; 2] = [Format::Jsonl, Format::Binary];

/// Reserved kinds that no command wrote in the version that made the set.
const NEVER_WRITTEN: [(&str, &str); 15] = [
    (
        "agent_retired",
        "no agent was retired when the set was made",
    ),
    (
        "agent_token_added",
        "no agent was let in from another machine when the set was made",
    ),
    (
        "agent_token_revoked",
        "no agent was let in from another machine when the set was made",
    ),
    (
        "log_journal_adopted",
        "the set lives on one host, and no journal orders it",
    ),
    (
        "log_journal_left",
        "the set lives on one host, and no journal orders it",
    ),
    (
        "log_rolled_back",
        "no older state of a log was put back when the set was made",
    ),
    (
        "manifest_written",
        "the manifest follows from the team and its settings",
    ),
    ("members_removed", "nobody ceases to be a member"),
    (
        "projection_declared",
        "there were no scripted projections when the set was made",
    ),
    (
        "projection_removed",
        "there were no scripted projections when the set was made",
    ),
    (
        "resource_policy_set",
        "the policy is a setting: config_changed",
    ),
    (
        "task_assigned",
        "no task was assigned by a command of its own when the set was made",
    ),
    ("team_settings_changed", "they are settings: config_changed"),
    (
        "thread_participants_added",
        "whoever takes part is in thread_started and thread_message_posted",
    ),
    (
        "write_refused",
        "the guard did not record it when the set was made",
    ),
];

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures")
}

/// Reads the expected contents of the set, per format and team: `{events, messages, tasks, state_digest}`.
fn contents() -> BTreeMap<String, BTreeMap<String, Value>> {
    let text = std::fs::read_to_string(fixtures().join(SET).join("contents.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Returns a data root in memory with a copy of the teams in one format.
fn opened(format: Format) -> World {
    let world = World::new();
    let from = fixtures().join(SET).join(format.name());
    load(&world.memory, &from, Path::new("teams"));
    world
}

fn load(memory: &Memory, from: &Path, to: &Path) {
    memory.create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => load(memory, &entry.path(), &to),
            false => {
                let bytes = std::fs::read(entry.path()).unwrap();
                memory.replace(&to, &bytes, true).unwrap();
            }
        }
    }
}

/// Returns the counts and the digest of a team.
fn found(team: &mut Team) -> Value {
    let digest = settled_digest(team);
    let status = status(team);
    json!({
        "events": status.events,
        "messages": status.message_count,
        "tasks": status.task_count,
        "state_digest": digest,
    })
}

#[test]
fn golden_teams_have_the_state_that_they_always_had() {
    let contents = contents();
    for format in FORMATS {
        let world = opened(format);
        let teams = &contents[format.name()];
        assert_eq!(
            world.root.teams().unwrap(),
            teams.keys().cloned().collect::<Vec<_>>()
        );
        for (name, expected) in teams {
            let mut team = world.root.team(name).unwrap();
            let report = team.verify(None).unwrap();
            assert!(report.ok, "{name} {report:?}");
            assert_eq!(&found(&mut team), expected, "{} {name}", format.name());
        }
    }
}

#[test]
fn golden_teams_answer_queries() {
    for format in FORMATS {
        let world = opened(format);
        let mut team = world.root.team("golden").unwrap();
        let shown = json(&team.tasks(Default::default()).unwrap());
        let statuses: BTreeSet<_> = shown["tasks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|task| task["status"].as_str().unwrap().to_owned())
            .collect();
        for status in ["completed", "failed", "canceled", "pending"] {
            assert!(statuses.contains(status), "{statuses:?}");
        }
        let trace = given!(Trace, trace_id: "tr-golden");
        assert!(team.trace(trace).unwrap().count > 1);
        let mut past = world
            .root
            .team("golden")
            .unwrap()
            .at(Point::Seq(10))
            .unwrap();
        assert_eq!(status(&mut past).last_seq, 10);
        refused(team.send(message("lead", "dev")), Code::TeamClosed);
        let mut told = world.root.team("told").unwrap();
        assert!(told.send(message("lead", "dev")).is_ok(), "it goes on");
    }
}

/// Returns the kinds of all events in the teams, except foreign kinds.
fn kinds_in(world: &World) -> BTreeSet<String> {
    let mut kinds = BTreeSet::new();
    for name in world.root.teams().unwrap() {
        let mut team = world.root.team(&name).unwrap();
        let own = events(&mut team);
        let own = own.iter().filter(|event| event["foreign"] != true);
        kinds.extend(own.map(|event| event["kind"].as_str().unwrap().to_owned()));
    }
    kinds
}

/// Checks that every kind which a command writes occurs in the set.
fn assert_complete(kinds: &BTreeSet<String>, format: Format) {
    let never = |name: &str| NEVER_WRITTEN.iter().any(|(kind, _)| *kind == name);
    let names = || vocabulary::kinds().map(|kind| kind.name);
    let missing: Vec<_> = names()
        .filter(|name| !kinds.contains(*name) && !never(name))
        .collect();
    let after_all: Vec<_> = names()
        .filter(|name| kinds.contains(*name) && never(name))
        .collect();
    let nothing = Vec::<&str>::new();
    assert_eq!(
        (missing, after_all),
        (nothing.clone(), nothing),
        "{format:?}"
    );
}

#[test]
fn every_kind_that_a_command_writes_is_in_the_golden_teams() {
    for format in FORMATS {
        assert_complete(&kinds_in(&opened(format)), format);
    }
    assert!(
        NEVER_WRITTEN
            .iter()
            .all(|(kind, why)| vocabulary::find(kind).is_some() && why.len() > 20)
    );
}

#[test]
fn what_makes_the_set_writes_every_kind() {
    for format in FORMATS {
        assert_complete(&kinds_in(&made(format)), format);
    }
}

/// Writes the expected contents of the golden set. Run this test by hand after a projection changed its rows, because
/// the digests change with the rows.
#[test]
#[ignore = "writes into fixtures/"]
fn measure() {
    let of = |format: Format| (format.name(), measured(&opened(format)));
    let contents: BTreeMap<_, _> = FORMATS.into_iter().map(of).collect();
    let text = serde_json::to_string_pretty(&contents).unwrap() + "\n";
    std::fs::write(fixtures().join(SET).join("contents.json"), text).unwrap();
}

fn measured(world: &World) -> BTreeMap<String, Value> {
    let names = world.root.teams().unwrap().into_iter();
    let measured = names.map(|name| {
        let found = found(&mut world.root.team(&name).unwrap());
        (name, found)
    });
    measured.collect()
}

/// Writes the golden set into `fixtures/`. Run this test by hand, once per version, after all event
/// kinds of the version exist.
#[test]
#[ignore = "writes into fixtures/"]
fn make() {
    let set = fixtures().join(SET);
    let _ = std::fs::remove_dir_all(&set);
    for format in FORMATS {
        let world = made(format);
        for name in world.root.teams().unwrap() {
            let dir = Path::new("teams").join(&name);
            let to = set.join(format.name()).join(&name);
            for part in ["log.json", "head", "events", "quarantine"] {
                store(&world.memory, &dir.join(part), &to.join(part));
            }
        }
    }
    measure();
}

fn store(memory: &Memory, from: &Path, to: &Path) {
    match memory.stat(from).unwrap() {
        None => {}
        Some(stat) if stat.is_dir => {
            for name in memory.list(from).unwrap() {
                store(memory, &from.join(&name), &to.join(&name));
            }
        }
        Some(_) => {
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            std::fs::write(to, memory.read(from, 1 << 24).unwrap()).unwrap();
        }
    }
}
