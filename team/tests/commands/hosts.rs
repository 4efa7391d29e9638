//! Tests of a team on several hosts: the first host creates the team, and other hosts join it and record events. The journal can
//! fail.

mod adoption;
mod artifacts;
mod freshness;

use crate::prelude::*;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use teamlog_engine::LogId;
use teamlog_engine::internals::journal::MemoryJournal;
use teamlog_engine::journal::{
    Append as Group, Journal, Journals, LogState, Outcome, Page, Position, ReadError,
};
use teamlog_engine::{Error, Identity, JournalIdentity, ManualClock, SeededIds};
use teamlog_team::lifecycle::join::Join;
use teamlog_team::lifecycle::status::Status;

fn identity() -> JournalIdentity {
    JournalIdentity {
        kind: "memory".into(),
        id: "00000000-0000-4000-8000-000000000000".into(),
        segment_bytes_max: 8_000,
    }
}

/// Creates a host with its own data root.
fn host(number: u64, journals: Arc<dyn Journals>) -> (Memory, Root) {
    let memory = Memory::new();
    let options = RootOptions {
        clock: Arc::new(ManualClock::new(
            Timestamp::parse("2026-11-21T10:00:00Z").unwrap(),
        )),
        ids: Arc::new(SeededIds(number.into())),
        lock_deadline: Duration::from_secs(20),
        journals: Some(journals),
        ..RootOptions::default()
    };
    (memory.clone(), Root::on(Arc::new(memory), options))
}

fn init() -> Init {
    Init {
        members: vec!["lead".into(), "dev".into(), "qa".into()],
        journal: Some(identity()),
        ..Init::for_team("demo")
    }
}

/// Creates hosts of one team. The first host creates the team, the others join it.
fn hosts(count: u64) -> (MemoryJournal, Vec<(Memory, Root)>) {
    let journal = MemoryJournal::default();
    let hosts: Vec<_> = (0..count)
        .map(|number| host(number, Arc::new(journal.clone())))
        .collect();
    hosts[0].1.init(init()).unwrap();
    for (_, root) in &hosts[1..] {
        join(root, &journal);
    }
    (journal, hosts)
}

fn join(root: &Root, journal: &MemoryJournal) -> u64 {
    let join = Join {
        identity: journal.find("demo").unwrap(),
        allow_network_fs: false,
        keep_tokens: false,
    };
    root.join(join, None, &mut |_, _| {}).unwrap().last_seq
}

fn team(root: &Root) -> Team {
    root.team("demo").unwrap()
}

fn create(root: &Root, subject: &str) -> String {
    let input = given!(TaskCreate, subject);
    team(root).task_create(input).unwrap().task.task.task_id
}

fn code<T>(outcome: Result<T, Failure>) -> &'static str {
    outcome.map(drop).unwrap_err().code()
}

/// Fetches all events on each host, then compares segments and states of all hosts.
fn check_equal(hosts: &[(Memory, Root)]) {
    let state = |(memory, root): &(Memory, Root)| {
        let mut team = team(root);
        team.catch_up().unwrap();
        let status = team.status(given!(Status, digest: true)).unwrap();
        let events = Path::new("teams/demo/events");
        let mut names = memory.list(events).unwrap();
        names.sort();
        let read = |name: &String| {
            let bytes = memory.read(&events.join(name), 1 << 24).unwrap();
            (name.clone(), bytes)
        };
        let segments: Vec<_> = names.iter().map(read).collect();
        drop(team.verify(None).unwrap());
        (status.state_digest, status.last_seq, segments)
    };
    let first = state(&hosts[0]);
    for host in &hosts[1..] {
        assert!(state(host) == first, "the hosts differ");
    }
}

#[test]
fn a_team_that_was_begun_on_one_host_is_joined_and_written_on_others() {
    let (journal, hosts) = hosts(3);
    let [(_, first), (_, second), (_, third)] = &hosts[..] else {
        unreachable!()
    };
    assert_eq!(create(first, "one"), "1");
    // Each host decides on the events of the others.
    assert_eq!(create(second, "two"), "2");
    assert_eq!(create(third, "three"), "3");
    assert_eq!(create(first, "four"), "4");
    let late = host(9, Arc::new(journal.clone()));
    assert_eq!(join(&late.1, &journal), 5);
    // A repeated join only fetches new events.
    create(&late.1, "five");
    assert_eq!(join(second, &journal), 6);
    check_equal(&[&hosts[..], &[late]].concat());
}

#[test]
fn a_lease_holds_as_long_as_its_holder_thinks_though_clocks_differ() {
    let (_, hosts) = hosts(2);
    let task = create(&hosts[0].1, "work");
    let claim = |root: &Root, worker: &str| {
        team(root).task_claim(TaskClaim {
            task_id: task.clone(),
            worker: worker.into(),
            lease_ms: Some(60_000),
            ..TaskClaim::default()
        })
    };
    claim(&hosts[0].1, "dev").unwrap();
    let later = |micros: i64| {
        let noon = Timestamp::parse("2026-11-21T10:00:00Z").unwrap();
        let clock = Arc::new(ManualClock::new(noon.plus_micros(micros)));
        let options = RootOptions {
            clock,
            ..hosts[1].1.options().clone()
        };
        hosts[1].1.clone().with_options(options)
    };
    for early in [60_000_000, 63_999_000] {
        assert_eq!(code(claim(&later(early), "qa")), "claim_conflict");
        let ticked = team(&later(early)).tick(Tick::default()).unwrap();
        assert_eq!(ticked.leases.expired, 0);
        assert!(ticked.next_due_at.unwrap().as_str() > "2026-11-21T10:01:04");
    }
    claim(&later(64_001_000), "qa").unwrap();
}

#[test]
fn of_all_who_claim_at_once_on_all_hosts_one_gets_each_task() {
    for resident in [false, true] {
        let (_, mut hosts) = hosts(3);
        if resident {
            for (_, root) in &mut hosts {
                *root = root.clone().resident();
            }
        }
        let tasks: Vec<String> = (0..8)
            .map(|number| create(&hosts[number % 3].1, "work"))
            .collect();
        let claim = |root: &Root, task: &str, worker: &str| {
            let claim = TaskClaim {
                task_id: task.into(),
                worker: worker.into(),
                ..TaskClaim::default()
            };
            match team(root).task_claim(claim) {
                Ok(_) => 1,
                Err(failure) => {
                    assert_eq!(failure.code(), "claim_conflict", "{failure}");
                    0
                }
            }
        };
        for task in &tasks {
            let won: usize = thread::scope(|scope| {
                let claims: Vec<_> = hosts
                    .iter()
                    .zip(["lead", "dev", "qa"])
                    .map(|((_, root), worker)| scope.spawn(move || claim(root, task, worker)))
                    .collect();
                claims.into_iter().map(|one| one.join().unwrap()).sum()
            });
            assert_eq!(won, 1, "{task}");
        }
        for (_, root) in &hosts {
            root.close().unwrap();
        }
        check_equal(&hosts);
    }
}

#[test]
fn a_command_under_a_key_is_carried_out_once_whichever_host_is_asked() {
    let (_, hosts) = hosts(2);
    let ask = |root: &Root| {
        let mut team = team(root);
        team.under(Control {
            operation: "create-task".into(),
            request: b"one".to_vec(),
            key: Some("k-1".into()),
            ..Control::default()
        });
        let answer = team
            .task_create(given!(TaskCreate, subject: "one"))
            .unwrap();
        serde_json::to_string(&answer).unwrap()
    };
    assert_eq!(ask(&hosts[0].1), ask(&hosts[1].1));
    check_equal(&hosts);
}

#[test]
fn what_a_power_loss_takes_of_a_host_it_has_again_from_the_journal() {
    let mut lost = 0;
    for seed in 0..24 {
        let (_, mut hosts) = hosts(2);
        for number in 0..6 {
            create(&hosts[0].1, &format!("task {number}"));
        }
        let choices = SeededIds(seed.into());
        let memory = hosts[0]
            .0
            .crash(&mut |n| (choices.random() % n as u64) as usize);
        let root = Root::on(Arc::new(memory.clone()), hosts[0].1.options().clone());
        // After the crash, queries read the local log, although it is shorter now. A stored state
        // with more events than the log is not used.
        let here = team(&root).status(given!(Status, digest: true)).unwrap();
        lost += 7 - here.last_seq;
        let listed = team(&root).tasks(Default::default()).unwrap();
        assert_eq!(listed.tasks.len() as u64, here.last_seq - 1);
        create(&root, "behind it");
        let listed = team(&root).tasks(Default::default()).unwrap();
        assert_eq!(listed.tasks.len(), 7);
        hosts[0] = (memory, root);
        check_equal(&hosts);
    }
    assert!(lost > 10, "{lost}");
}

#[test]
fn one_name_is_one_log_of_the_journal() {
    let (journal, _) = hosts(1);
    let (memory, root) = host(5, Arc::new(journal));
    assert_eq!(code(root.init(init())), "journal_refused");
    let left = memory.list(Path::new("teams")).unwrap();
    assert!(left.iter().all(|name| name == ".gitignore"), "{left:?}");
}

#[test]
fn a_log_that_its_host_left_without_an_event_is_joined_and_begun() {
    let journal = MemoryJournal::default();
    // The host dies after this act.
    let identity = Identity {
        log: LogId([3; 16]),
        name: "demo".into(),
        format: Format::Jsonl,
        version: 1,
        created_at: Timestamp::parse("2026-11-21T10:00:00Z").unwrap(),
        origin: "init".into(),
        journal: Some(identity()),
        refs: Default::default(),
    };
    Journals::enroll(&journal, &identity, LogState::Open).unwrap();
    let hosts: Vec<_> = (0..2)
        .map(|number| host(number, Arc::new(journal.clone())))
        .collect();
    assert_eq!(code(hosts[0].1.init(init())), "journal_refused");
    assert_eq!(join(&hosts[0].1, &journal), 0);
    assert!(hosts[0].1.init(init()).unwrap().created);
    assert!(!hosts[0].1.init(init()).unwrap().created);
    assert_eq!(join(&hosts[1].1, &journal), 1);
    create(&hosts[1].1, "one");
    check_equal(&hosts);
}

#[test]
fn another_log_of_that_name_is_not_taken_for_the_journals() {
    let (journal, _) = hosts(1);
    let (_, root) = host(5, Arc::new(journal.clone()));
    root.init(Init::for_team("demo")).unwrap();
    let identity = journal.find("demo").unwrap();
    let join = Join {
        identity,
        allow_network_fs: false,
        keep_tokens: false,
    };
    assert_eq!(code(root.join(join, None, &mut |_, _| {})), "team_exists");
    assert_eq!(code(root.init(init())), "team_exists");
}

#[test]
fn what_changes_a_log_as_a_whole_is_refused() {
    let (_, hosts) = hosts(2);
    let converted = team(&hosts[0].1).convert(Format::Binary);
    assert_eq!(code(converted), "journal_team");
    check_equal(&hosts);
}

/// A connection to the journal. A test can cut the connection, or let another host record first.
#[derive(Debug, Clone)]
struct Line {
    journal: MemoryJournal,
    cut: Arc<AtomicBool>,
    overtaken: Arc<AtomicBool>,
    /// Held by a test to make reads block.
    silence: Arc<Mutex<()>>,
}

impl Journals for Line {
    fn open(&self, _: &JournalIdentity) -> Result<Box<dyn Journal>, Error> {
        Ok(Box::new(self.clone()))
    }
    fn enroll(&self, identity: &Identity, state: LogState) -> Result<(), Error> {
        self.journal.enroll(identity, state)
    }
}

impl Journal for Line {
    fn append(&mut self, groups: &[Group<'_>], state: LogState) -> Vec<Outcome> {
        match (
            self.cut.load(Ordering::SeqCst),
            self.overtaken.load(Ordering::SeqCst),
        ) {
            (true, _) => vec![Outcome::Unreachable("no route".into())],
            (_, true) => vec![Outcome::Conflict],
            _ => self.journal.append(groups, state),
        }
    }
    fn turn(&mut self, group: &Group<'_>, to: LogState) -> Outcome {
        match self.cut.load(Ordering::SeqCst) {
            true => Outcome::Unreachable("no route".into()),
            false => self.journal.turn(group, to),
        }
    }
    fn put_blob(&mut self, log: LogId, digest: &str, bytes: &[u8]) -> Result<(), ReadError> {
        match self.cut.load(Ordering::SeqCst) {
            true => Err(ReadError::Unreachable("no route".into())),
            false => self.journal.put_blob(log, digest, bytes),
        }
    }
    fn blob(&mut self, log: LogId, digest: &str) -> Result<Option<Vec<u8>>, ReadError> {
        match self.cut.load(Ordering::SeqCst) {
            true => Err(ReadError::Unreachable("no route".into())),
            false => self.journal.blob(log, digest),
        }
    }
    fn read(&mut self, log: LogId, after: Position, max: usize) -> Result<Page, ReadError> {
        drop(self.silence.lock().unwrap());
        match self.cut.load(Ordering::SeqCst) {
            true => Err(ReadError::Unreachable("no route".into())),
            false => self.journal.read(log, after, max),
        }
    }
}

fn on_a_line(resident: bool) -> (Line, Root) {
    let line = Line {
        journal: MemoryJournal::default(),
        cut: Arc::default(),
        overtaken: Arc::default(),
        silence: Arc::default(),
    };
    let (_, root) = host(1, Arc::new(line.clone()));
    let options = RootOptions {
        lock_deadline: Duration::from_millis(50),
        ..root.options().clone()
    };
    let root = root.with_options(options);
    root.init(init()).unwrap();
    let root = if resident { root.resident() } else { root };
    create(&root, "one");
    (line, root)
}

#[test]
fn without_the_journal_nothing_is_recorded_and_reads_go_on() {
    for resident in [false, true] {
        let (line, root) = on_a_line(resident);
        line.cut.store(true, Ordering::SeqCst);
        let input = || given!(TaskCreate, subject: "two");
        assert_eq!(
            code(team(&root).task_create(input())),
            "journal_unreachable"
        );
        assert_eq!(team(&root).status(Status::default()).unwrap().last_seq, 2);
        line.cut.store(false, Ordering::SeqCst);
        assert_eq!(create(&root, "two"), "2");
    }
}

#[test]
fn whoever_never_comes_first_is_told_so_at_the_deadline() {
    for resident in [false, true] {
        let (line, root) = on_a_line(resident);
        line.overtaken.store(true, Ordering::SeqCst);
        let input = || given!(TaskCreate, subject: "two");
        assert_eq!(code(team(&root).task_create(input())), "journal_busy");
        line.overtaken.store(false, Ordering::SeqCst);
        assert_eq!(create(&root, "two"), "2");
    }
}

#[test]
fn without_journals_such_a_team_is_read_and_not_written() {
    let (_, hosts) = hosts(1);
    let options = RootOptions {
        journals: None,
        ..hosts[0].1.options().clone()
    };
    let root = hosts[0].1.with_options(options);
    assert_eq!(team(&root).status(Status::default()).unwrap().last_seq, 1);
    let input = given!(TaskCreate, subject: "one");
    assert_eq!(
        code(team(&root).task_create(input)),
        "journal_not_configured"
    );
    assert_eq!(
        code(root.init(Init {
            team: "new".into(),
            ..init()
        })),
        "journal_not_configured"
    );
}

#[test]
fn a_condition_holds_over_all_hosts() {
    use teamlog_team::log::filter::EventFilter;
    let (_, hosts) = hosts(3);
    let take = |root: &Root, name: &str| {
        let (kind, tags) = ("taken", vec![format!("name={name}")]);
        let if_none = vec![EventFilter {
            kinds: vec![kind.to_owned()],
            tags: tags.clone(),
            ..EventFilter::default()
        }];
        team(root).append(given!(Append, kind, tags, if_none))
    };
    let first = take(&hosts[0].1, "anna").unwrap();
    let refusal = refused(take(&hosts[1].1, "anna"), Code::AppendConflict);
    assert_eq!(refusal.details["id"], first.id.to_string());
    // If several hosts decide at once, the journal refuses all but one, and the others decide again.
    for name in ["a", "b", "c", "d"] {
        let took = thread::scope(|scope| {
            let hosts = hosts
                .iter()
                .map(|(_, root)| scope.spawn(move || take(root, name)));
            let answers: Vec<_> = hosts.collect();
            let answers = answers.into_iter().map(|answer| answer.join().unwrap());
            answers.filter(Result::is_ok).count()
        });
        assert_eq!(took, 1, "{name}");
    }
    check_equal(&hosts);
}
