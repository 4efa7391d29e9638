//! A data root in memory, with its own clock and its own random source.

use serde_json::Value;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use teamlog_engine::storage::{Memory, Storage};
use teamlog_engine::{Format, ManualClock, SeededIds, Timestamp};
use teamlog_team::doctor::{DoctorAnswer, DoctorCheck, SAMPLE};
use teamlog_team::lifecycle::init::Init;
use teamlog_team::lifecycle::status::{Status, StatusAnswer};
use teamlog_team::log::rehydrate::{Rehydrate, RehydrateAnswer};
use teamlog_team::message::send::Send;
use teamlog_team::message::task_assign::TaskAssign;
use teamlog_team::message::task_update::TaskUpdate;
use teamlog_team::{Code, Failure, Refusal, Root, RootOptions, Team};

pub const NOON: &str = "2026-11-21T12:00:00.000000Z";
pub const SECOND: i64 = 1_000_000;
pub const MINUTE: i64 = 60 * SECOND;

pub struct World {
    pub root: Root,
    pub memory: Arc<Memory>,
    pub clock: Arc<ManualClock>,
}

impl World {
    /// Returns the entries of `teams/`, without `.gitignore`.
    pub fn names_in_teams(&self) -> Vec<String> {
        let mut names = self.memory.list(Path::new("teams")).unwrap();
        names.retain(|name| name != ".gitignore");
        names
    }

    pub fn new() -> World {
        World::of(Memory::new(), time(NOON), 7)
    }

    /// Returns an independent copy with the same contents.
    pub fn copy(&self) -> World {
        // The copy has another seed, so that its new ids differ from the original's.
        World::of(
            self.memory.keep_unsynced(),
            self.root.options().clock.now(),
            8,
        )
    }

    fn of(memory: Memory, now: Timestamp, seed: u64) -> World {
        let memory = Arc::new(memory);
        let clock = Arc::new(ManualClock::new(now));
        let options = RootOptions {
            clock: clock.clone(),
            ids: Arc::new(SeededIds(seed.into())),
            lock_deadline: Duration::from_secs(1),
            ..RootOptions::default()
        };
        World {
            root: Root::on(memory.clone(), options),
            memory,
            clock,
        }
    }

    /// Creates a closed team `demo` of `lead`, `dev` and `qa`.
    pub fn demo(&self) -> Team {
        self.team(Some(&["lead", "dev", "qa"]), Format::Jsonl)
    }

    /// Creates the team `demo`: a closed team of `members`, or an open team if there are none.
    pub fn team(&self, members: Option<&[&str]>, format: Format) -> Team {
        let members = members.unwrap_or_default();
        self.root
            .init(Init {
                members: members.iter().map(|name| name.to_string()).collect(),
                format: Some(format),
                ..Init::for_team("demo")
            })
            .unwrap();
        self.root.team("demo").unwrap()
    }

    /// Returns the text of a file in the directory of the team `demo`.
    pub fn text(&self, path: &str) -> String {
        let path = Path::new("teams/demo").join(path);
        String::from_utf8(self.memory.read(&path, 1 << 20).unwrap()).unwrap()
    }

    /// Returns the entries of a directory of the team `demo`; none if the directory does not exist.
    pub fn names(&self, dir: &str) -> Vec<String> {
        let dir = Path::new("teams/demo").join(dir);
        self.memory.list(&dir).unwrap_or_default()
    }

    /// Returns the clock's time in microseconds.
    pub fn clock_at(&self) -> i64 {
        self.root.options().clock.now().micros()
    }

    pub fn later(&self, micros: i64) {
        self.clock.advance(micros);
    }
}

/// Returns a new world with the closed team `demo` of `lead`, `dev` and `qa`.
pub fn demo() -> (World, Team) {
    team_of(Some(&["lead", "dev", "qa"]), Format::Jsonl)
}

/// Returns a new world with the team `demo`: a closed team of `members`, or an open team if there are none.
pub fn team_of(members: Option<&[&str]>, format: Format) -> (World, Team) {
    let world = World::new();
    let team = world.team(members, format);
    (world, team)
}

pub fn time(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

pub fn message(from: &str, to: &str) -> Send {
    given!(Send, from, to, kind: "handoff")
}

pub fn assign(task: &str, to: &str) -> TaskAssign {
    given!(TaskAssign, from: "lead", to, task_id: task, subject: format!("do {task}"))
}

pub fn update(task: &str, status: &str) -> TaskUpdate {
    given!(TaskUpdate, from: "dev", to: "lead", task_id: task, status)
}

/// Runs `doctor check` on all data of the team.
pub fn doctor(root: &Root, team: &str) -> DoctorAnswer {
    doctor_of(root, team, true)
}

/// Runs `doctor check` on all data of the team, or on a sample if `deep` is false.
pub fn doctor_of(root: &Root, team: &str, deep: bool) -> DoctorAnswer {
    let check = DoctorCheck {
        sample_size: if deep { 0 } else { SAMPLE },
        deep,
        ..DoctorCheck::for_team(team)
    };
    root.doctor_check(check, &mut |_, _| {}).unwrap()
}

/// Returns every event of the team, as `export` shows it.
pub fn events(team: &mut Team) -> Vec<Value> {
    let mut events = Vec::new();
    team.export(&mut |line| {
        events.push(serde_json::from_slice(line).unwrap());
        ControlFlow::Continue(())
    })
    .unwrap();
    events
}

/// Returns the kinds of all events, in order.
pub fn kinds(team: &mut Team) -> Vec<String> {
    let kind = |event: &Value| event["kind"].as_str().unwrap().to_string();
    events(team).iter().map(kind).collect()
}

pub fn refused<T: std::fmt::Debug>(outcome: Result<T, Failure>, code: Code) -> Refusal {
    match outcome {
        Err(Failure::Refused(refusal)) => {
            assert_eq!(refusal.code, code, "{refusal}");
            refusal
        }
        other => panic!("expected {code}, got {other:?}"),
    }
}

pub fn json(answer: &impl serde::Serialize) -> Value {
    serde_json::to_value(answer).unwrap()
}

/// Returns the given fields of each problem in an answer.
pub fn problems(answer: &impl serde::Serialize, fields: &[&str]) -> Value {
    let answer = json(answer);
    let problems = answer["problems"].as_array().unwrap().iter();
    let of =
        |problem: &Value| -> Value { fields.iter().map(|field| problem[*field].clone()).collect() };
    problems.map(of).collect()
}

pub fn status(team: &mut Team) -> StatusAnswer {
    team.status(given!(Status, digest: true)).unwrap()
}

/// Rebuilds all derived data of a team.
pub fn rehydrate(team: &mut Team) -> RehydrateAnswer {
    team.rehydrate(Rehydrate::default(), &mut |_, _| {})
        .unwrap()
}

/// Returns the digest of the live state. Checks that the rebuilt state has the same digest.
pub fn settled_digest(team: &mut Team) -> String {
    let live = status(team).state_digest.unwrap();
    let rebuilt = rehydrate(team);
    assert_eq!(live, rebuilt.state_digest, "live and rebuilt state differ");
    assert_eq!(status(team).state_digest, Some(live.clone()));
    live
}
