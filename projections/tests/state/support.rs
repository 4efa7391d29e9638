//! A team in memory storage, with a clock controlled by the test.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use teamlog_engine::storage::{Memory, Storage};
use teamlog_engine::{
    Durability, Json, Log, LogOptions, ManualClock, NewLog, SeededIds, Timestamp, Writer,
};
pub use teamlog_engine::{Format, NewEvent};
use teamlog_projections::message::event::MessageAcked;
use teamlog_projections::mode::event::{
    Change, Fields, InputLock, ModeChanged, ModeCleared, ModeFact, ModeStarted, SkillsSynced,
};
use teamlog_projections::mode::{Mode, ModeEntry, Scope};
pub use teamlog_projections::rebuild::rehydrate;
pub use teamlog_projections::task::event::{
    ClaimRef, Lease, Resources, TaskAct, TaskClaimed, TaskCompleted, TaskCreated, TaskFact,
};
use teamlog_projections::team::event::{TeamClosed, TeamCreated, TeamFact};
pub use teamlog_projections::views::{ViewUpdate, ViewsSource};
use teamlog_projections::worker::event::{
    AckStatus, Heartbeat, Identity, Instructions, ShutdownAck, ShutdownRequest, StatusChange,
    WorkerAct, WorkerState,
};
use teamlog_projections::worker::supervision::{
    Approval, ApprovalStatus, Baseline, Baselines, PhaseChanged, snapshot_written,
};
pub use teamlog_projections::{Live, Message, MessageType, Priority};
use teamlog_projections::{RefKind, Task};

pub const MINUTE: i64 = 60_000_000;

pub struct Team {
    pub storage: Arc<dyn Storage>,
    pub clock: Arc<ManualClock>,
    pub log: Log,
}

/// Returns the time `minute` minutes after the start of the tests' day.
pub fn at(minute: i64) -> Timestamp {
    Timestamp::parse("2026-11-21T10:00:00Z")
        .unwrap()
        .plus_micros(minute * MINUTE)
}

pub fn created(members: &[&str], views: bool) -> NewEvent {
    given!(TeamCreated; members, open: false, views, leader: None::<&str>).event("lead", None)
}

pub fn message(id: &str, kind: MessageType, to: &str, minute: i64, payload: &str) -> Message {
    given!(Message; id, kind, from: "lead", to, task_id: None::<String>, trace_id: None::<String>,
        priority: Priority::Normal, created_at: at(minute), payload: Json::parse(payload).unwrap(),
        extra: Vec::new(), actor: None::<String>)
}

/// Returns plain mail that was created `minute` minutes after the start of the tests' day.
pub fn plain(id: &str, to: &str, minute: i64) -> Message {
    message(id, MessageType::Message, to, minute, "{}")
}

pub fn assign(id: &str, task: &str, to: &str, minute: i64, payload: &str) -> Message {
    let task_id = Some(task.to_owned());
    given!(
        Message,
        task_id,
        ..message(id, MessageType::TaskAssign, to, minute, payload)
    )
}

pub fn update(id: &str, task: &str, from: &str, minute: i64, payload: &str) -> Message {
    let task_id = Some(task.to_owned());
    let from = from.to_owned();
    given!(
        Message,
        task_id,
        from,
        ..message(id, MessageType::TaskUpdate, "lead", minute, payload)
    )
}

pub fn ack(id: &str, agent: &str) -> NewEvent {
    given!(MessageAcked; message_id: id, agent).event(None, None)
}

pub fn foreign(kind: &'static str) -> NewEvent {
    let mut event = NewEvent::new(kind, "ci", Json::parse("{\"x\":1}").unwrap());
    event.refs.set(RefKind::Trace, "tr_1");
    event.foreign = true;
    event
}

impl Team {
    pub fn empty(format: Format) -> Team {
        Team::on(Arc::new(Memory::new()), format)
    }
    pub fn on(storage: Arc<dyn Storage>, format: Format) -> Team {
        let clock = Arc::new(ManualClock::new(at(0)));
        let options = LogOptions {
            clock: clock.clone(),
            ids: Arc::new(SeededIds(42.into())),
            lock_deadline: Duration::from_millis(500),
            ..LogOptions::default()
        };
        let new = given!(NewLog; name: "demo", format, origin: "init");
        let log = Log::create(storage.clone(), Path::new("teams/demo"), new, options).unwrap();
        given!(Team; storage, clock, log)
    }
    /// Opens the team of an existing log.
    pub fn of(log: Log) -> Team {
        let (storage, clock) = (log.storage().clone(), Arc::new(ManualClock::new(at(0))));
        given!(Team; storage, clock, log)
    }
    /// Creates a team with the members lead, dev and qa, and with views.
    pub fn new() -> Team {
        let team = Team::empty(Format::Jsonl);
        team.append(vec![created(&["lead", "dev", "qa"], true)]);
        team
    }
    pub fn writer(&self) -> Writer<Live> {
        let exclusive = self.log.lock().unwrap();
        let reader = exclusive.reader();
        let mut live = Live::load(&self.log, &reader).unwrap();
        live.keep_views(&reader).unwrap();
        exclusive.into_writer(live)
    }
    /// Appends one group, like a command.
    pub fn append(&self, events: Vec<NewEvent>) {
        let writer = self.writer();
        commit(&writer, events);
        let mut live = writer.close().unwrap();
        assert!(live.views_error().is_none(), "{:?}", live.views_error());
        live.flush_if_due().unwrap();
    }
    pub fn send(&self, messages: &[Message]) {
        let sent = messages.iter().map(|message| message.sent().unwrap());
        self.append(sent.collect());
    }
    /// Appends events without folding them.
    pub fn force(&self, events: Vec<NewEvent>) {
        let writer = self.log.lock().unwrap().into_writer(());
        let job = move |(): &(), _| Ok::<_, std::convert::Infallible>(((), events.clone()));
        writer.commit(Durability::Synced, job).unwrap();
        writer.close().unwrap();
    }
    /// Returns the error with which loading the state fails.
    pub fn load_error(&self) -> teamlog_projections::Error {
        let loaded = Live::load(&self.log, &self.log.reader().unwrap());
        loaded.err().unwrap()
    }
    pub fn task(&self, id: &str) -> Task {
        self.live().task(id).unwrap().unwrap()
    }
    /// Returns the faults of the view files.
    pub fn faults(&self) -> Vec<(String, &'static str)> {
        let source = ViewsSource::new(&self.log);
        let found = source.against(&self.live(), &self.log.reader().unwrap());
        let faults = found.unwrap().faults.into_iter();
        faults.map(|fault| (fault.file, fault.what)).collect()
    }
    /// Rebuilds the view files, and returns the changes and the state digest.
    pub fn rebuilt(&self) -> (ViewUpdate, String) {
        let exclusive = self.log.lock().unwrap();
        let (found, _) = rehydrate(&self.log, &exclusive.reader(), 2, &mut |_| {}).unwrap();
        (found.views, found.digest)
    }
    pub fn live(&self) -> Live {
        Live::load(&self.log, &self.log.reader().unwrap()).unwrap()
    }
    pub fn path(&self, name: &str) -> PathBuf {
        Path::new("teams/demo").join(name)
    }
    pub fn view(&self, name: &str) -> String {
        String::from_utf8(self.storage.read(&self.path(name), 1 << 30).unwrap()).unwrap()
    }
    pub fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_str(&self.view(name)).unwrap()
    }
    /// Returns every view file with its content.
    pub fn views(&self) -> Vec<(String, String)> {
        let mut views = Vec::new();
        for dir in [
            "tasks",
            "inboxes",
            "dead-letter",
            "modes",
            "threads",
            "workers",
        ] {
            self.below(dir, &mut views);
        }
        let team = self.storage.stat(&self.path("team.json"));
        if team.unwrap().is_some() {
            views.push(("team.json".into(), self.view("team.json")));
        }
        views
    }
    /// Collects the files below a directory, recursively.
    fn below(&self, dir: &str, views: &mut Vec<(String, String)>) {
        if self.storage.stat(&self.path(dir)).unwrap().is_none() {
            return;
        }
        for name in self.storage.list(&self.path(dir)).unwrap() {
            let name = format!("{dir}/{name}");
            match self.storage.stat(&self.path(&name)).unwrap() {
                Some(stat) if stat.is_dir => self.below(&name, views),
                _ => views.push((name.clone(), self.view(&name))),
            }
        }
    }
}

pub fn commit(writer: &Writer<Live>, events: Vec<NewEvent>) {
    let job = move |_: &Live, _: Timestamp| Ok::<_, std::convert::Infallible>(((), events.clone()));
    writer.commit(Durability::Synced, job).unwrap();
}

/// Returns one of the events about a worker; `what` selects the kind.
pub fn staffed(what: u8, worker: &str, value: u8) -> NewEvent {
    let name = |text: &str| format!("{text} {value}");
    let state = WorkerState::ALL[usize::from(value) % 7];
    match what {
        0 => WorkerAct::Identity(given!(Identity, role: name("role"),
            assigned_tasks: vec![value.to_string()], pane_id: name("pane"),
            worktree_detached: value > 1, model: (value > 2).then(|| name("model")),
            ..Identity::unregistered(u32::from(value), "")))
        .event(worker, worker),
        1 | 2 => WorkerAct::Heartbeat(given!(Heartbeat; pid: 7, turn_count: u32::from(value),
            alive: value > 0))
        .event(worker, worker),
        3 | 4 => given!(StatusChange; state, prev_state: None,
            current_task_id: (value > 2).then(|| value.to_string()), reason: name("reason"))
        .event(worker, None),
        5 => WorkerAct::Inbox(given!(Instructions; content: name("# do"))).event("lead", worker),
        6 => WorkerAct::ShutdownRequested(given!(ShutdownRequest; requested_by: "lead"))
            .event("lead", worker),
        7 => WorkerAct::ShutdownAcked(
            given!(ShutdownAck; status: AckStatus::ALL[usize::from(value) % 2],
                reason: None::<String>),
        )
        .event(worker, worker),
        8 => given!(Approval; task_id: value.to_string(), required: true,
            status: ApprovalStatus::ALL[usize::from(value) % 3], reviewer: worker,
            decision_reason: name("because"))
        .event(None),
        9 => snapshot_written("lead", &format!(r#"{{"n":{value}}}"#)).unwrap(),
        10 => {
            let counted = given!(Baseline; turn_count: u32::from(value), task_id: None::<String>);
            given!(Baselines; workers: BTreeMap::from([(worker.to_owned(), counted)])).event("lead")
        }
        11 => given!(PhaseChanged; from: name("a"), to: name("b")).event("lead"),
        _ => {
            let kind = ["worker_idle", "all_workers_idle", "worker_stopped"];
            let kind = kind[usize::from(value) % 3];
            reported(&format!(r#"{{"type":"{kind}","worker":"{worker}"}}"#))
        }
    }
}

/// Builds the event of a worker's report.
pub fn reported(payload: &str) -> NewEvent {
    let payload = Json::parse(payload).unwrap();
    NewEvent::new("worker_event_reported", "dev", payload)
}

pub fn closed() -> NewEvent {
    TeamFact::Closed(given!(TeamClosed; reason: "shutdown")).event("lead")
}

/// Parses the fields of an object.
pub fn fields(text: &str) -> Fields {
    serde_json::from_str(text).unwrap()
}

pub fn scope(session: Option<&str>) -> Scope {
    Scope::for_session(session)
}

pub fn mode_started(mode: Mode, session: Option<&str>, state: &str) -> NewEvent {
    ModeFact::Started(
        given!(ModeStarted; mode, scope: scope(session), state: fields(state), seen_at: None),
    )
    .event("dev", None)
    .unwrap()
}

pub fn mode_changed(
    change: Change,
    mode: Mode,
    session: Option<&str>,
    set: &str,
    unset: &[&str],
) -> NewEvent {
    let changed = given!(ModeChanged; mode, scope: scope(session), set: fields(set), unset,
        seen_at: None);
    change.into_fact(changed).event("dev", None).unwrap()
}

pub fn mode_cleared(mode: Mode, session: Option<&str>, tombstone: bool) -> NewEvent {
    ModeFact::Cleared(given!(ModeCleared; mode, scope: scope(session), tombstone))
        .event("dev", None)
        .unwrap()
}

pub fn mode_locked(locked: bool, mode: Mode, session: Option<&str>, lock: &str) -> NewEvent {
    let lock = given!(InputLock; mode, scope: scope(session), input_lock: fields(lock));
    let fact = match locked {
        true => ModeFact::InputLocked(lock),
        false => ModeFact::InputUnlocked(lock),
    };
    fact.event("dev", None).unwrap()
}

pub fn skills_synced(session: Option<&str>, skills: &[Mode], metadata: &str) -> NewEvent {
    ModeFact::SkillsSynced(
        given!(SkillsSynced; scope: scope(session), skills: skills.to_vec(),
            metadata: fields(metadata)),
    )
    .event("dev", None)
    .unwrap()
}

/// Returns one of the events of a mode, valid or not.
pub fn moded(what: u8, mode: u8, session: u8, value: u8) -> NewEvent {
    let mode = Mode::ALL[usize::from(mode) % 8];
    let session = [None, Some("s1"), Some("s2"), Some("S-3")][usize::from(session) % 4];
    let change = Change::ALL[usize::from(value) % 5];
    let mut event = match what {
        0..=2 => {
            let state =
                format!(r#"{{"active":true,"current_phase":"p{value}","thread_id":"t{value}"}}"#);
            mode_started(mode, session, &state)
        }
        3 => mode_started(
            mode,
            session,
            r#"{"active":false,"current_phase":"failed"}"#,
        ),
        4 => mode_changed(
            Change::Updated,
            mode,
            session,
            r#"{"active":true}"#,
            &["thread_id"],
        ),
        5 | 6 => {
            let state = format!(r#"{{"active":false,"run_outcome":"o{value}"}}"#);
            mode_changed(change, mode, session, &state, &[])
        }
        7 => mode_changed(
            change,
            mode,
            session,
            r#"{"current_phase":7,"active":"yes"}"#,
            &[],
        ),
        8 => mode_cleared(mode, session, value.is_multiple_of(2)),
        9 => mode_cleared(mode, session, false),
        10 => mode_locked(
            value > 1,
            mode,
            session,
            &format!(r#"{{"active":{}}}"#, value > 1),
        ),
        11 => {
            let metadata = format!(r#"{{"keyword":"k{value}","source":null,"skill":"{mode}"}}"#);
            skills_synced(session, &[mode], &metadata)
        }
        _ => skills_synced(session, &[], r#"{"keyword":null}"#),
    };
    if value.is_multiple_of(3) {
        event.refs.set(RefKind::Trace, format!("tr_{value}"));
    }
    event
}

/// Compares the summaries of scopes with the states.
pub fn check_modes(live: &Live) {
    let sessions = live.mode_sessions(None, usize::MAX).unwrap();
    let mut paged = Vec::new();
    while let Some(next) = live
        .mode_sessions(paged.last().map(String::as_str), 1)
        .unwrap()
        .pop()
    {
        paged.push(next);
    }
    assert_eq!(paged, sessions);
    let (mut active, mut holders) = (Vec::new(), vec![Vec::new(); 8]);
    let mut scopes = vec![Scope::Root];
    scopes.extend(sessions.iter().cloned().map(Scope::Session));
    for scope in scopes {
        let known = live.mode_scope(&scope).unwrap();
        let entries = known.map(|known| known.entries).unwrap_or_default();
        for (at, mode) in Mode::ALL.into_iter().enumerate() {
            let state = live.mode_state(&scope, mode).unwrap();
            let entry = entries.iter().find(|entry| entry.mode == mode);
            assert_eq!(state.is_some(), entry.is_some(), "{scope:?} {mode}");
            if let (Some(state), Some(entry)) = (state, entry) {
                check_entry(&state, entry);
                if let Scope::Session(session) = &scope {
                    holders[at].push(session.clone());
                }
            }
        }
        if let Scope::Session(session) = &scope
            && entries.iter().any(|entry| entry.active)
        {
            active.push(session.clone());
        }
    }
    assert_eq!(live.active_sessions().unwrap(), active);
    for (mode, holders) in Mode::ALL.into_iter().zip(holders) {
        assert_eq!(live.sessions_with(mode).unwrap(), holders);
    }
}

fn check_entry(state: &teamlog_projections::mode::ModeState, entry: &ModeEntry) {
    assert_eq!(state.is_active(), entry.active);
    assert_eq!(state.phase(), entry.phase.as_deref());
    assert_eq!((state.seq, state.activated), (entry.seq, entry.activated));
    assert!(!entry.active || entry.activated > 0);
    assert_eq!(state.fields["mode"], state.mode.name());
    assert_eq!(state.fields["updated_at"], entry.at.to_string());
}
