//! Three hosts write one log through PostgreSQL while connections break, servers stop and the primary dies. Then the answers
//! that each host got are compared with the host's log.
//!
//! `TEAMLOG_JOURNAL_ROUNDS` is the number of rounds; default 1.

use crate::cluster::{Cluster, config};
use crate::conformance::identity;
use crate::proxy::{Back, Proxy};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};
use teamlog_engine::journal::{Journals, LogState};
use teamlog_engine::storage::{Memory, Storage};
use teamlog_engine::{
    CommitError, Durability, Error, Identity, JournalFault, Json, LockedLog, Log, LogOptions,
    NewEvent, Writer,
};
use teamlog_journal_postgres::PostgresJournals;

const HOSTS: usize = 3;

pub struct Host {
    memory: Memory,
    pub journals: Arc<PostgresJournals>,
}

fn dir() -> PathBuf {
    PathBuf::from("teams/demo")
}

impl Host {
    pub fn new(number: usize, ports: &[u16], id: &str, identity: &Identity) -> Host {
        let host = format!("host-{number}");
        let journals = PostgresJournals::new(config(ports, &host), id.to_owned());
        let host = Host {
            memory: Memory::new(),
            journals: Arc::new(journals),
        };
        let storage = Arc::new(host.memory.clone());
        Log::create_from(identity.clone(), storage, &dir(), host.options()).unwrap();
        host
    }

    fn options(&self) -> LogOptions {
        LogOptions {
            lock_deadline: Duration::from_secs(4),
            journals: Some(self.journals.clone()),
            ..LogOptions::default()
        }
    }

    pub fn lock(&self) -> Result<LockedLog, Error> {
        let storage = Arc::new(self.memory.clone());
        Log::open(storage, &dir(), self.options())?.lock()
    }

    /// Takes the lock. Repeats the attempt until the journal answers.
    fn lock_at_last(&self) -> LockedLog {
        let end = Instant::now() + Duration::from_secs(60);
        loop {
            match self.lock() {
                Ok(exclusive) => return exclusive,
                Err(error) if Instant::now() > end => panic!("{error}"),
                Err(_) => thread::sleep(Duration::from_millis(100)),
            }
        }
    }

    fn texts(&self) -> Vec<String> {
        let exclusive = self.lock_at_last();
        let events = exclusive.reader().events(None);
        let text = |one: Result<(_, _, teamlog_engine::Event<'_>), Error>| {
            let (_, _, event) = one.unwrap();
            let text = event.payload.strip_prefix("{\"text\":\"").unwrap();
            text.strip_suffix("\"}").unwrap().to_owned()
        };
        events.map(text).collect()
    }

    fn segments(&self) -> Vec<(String, Vec<u8>)> {
        let events = dir().join("events");
        let mut names = self.memory.list(&events).unwrap();
        names.sort();
        let read = |name: String| {
            let path: &Path = &events.join(&name);
            let bytes = self.memory.read(path, 1 << 24).unwrap();
            (name, bytes)
        };
        names.into_iter().map(read).collect()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CameTo {
    Acked(u64),
    /// The round recorded nothing, and the log ended at this seq.
    Read(u64),
    Nothing,
    Unknown,
}

#[derive(Debug, Clone)]
struct Done {
    asked: u64,
    answered: u64,
    text: String,
    came_to: CameTo,
}

/// State that all hosts share while they work.
#[derive(Default)]
struct Course {
    time: AtomicU64,
    stop: AtomicBool,
    done: Mutex<Vec<Done>>,
}

impl Course {
    fn tick(&self) -> u64 {
        self.time.fetch_add(1, Ordering::SeqCst)
    }

    fn note(&self, asked: u64, text: String, came_to: CameTo) {
        let answered = self.tick();
        self.done.lock().unwrap().push(Done {
            asked,
            answered,
            text,
            came_to,
        });
    }

    fn acked(&self) -> usize {
        let done = self.done.lock().unwrap();
        let acked = done
            .iter()
            .filter(|one| matches!(one.came_to, CameTo::Acked(_)));
        acked.count()
    }

    /// Waits until `more` further events were acknowledged.
    fn wait_for(&self, more: usize) {
        let (from, end) = (self.acked(), Instant::now() + Duration::from_secs(90));
        while self.acked() < from + more {
            assert!(Instant::now() < end, "nothing is acknowledged any more");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Records events, one after another, despite faults.
fn work(host: &Host, number: usize, course: &Course) {
    let mut writer: Option<Writer<()>> = None;
    let mut count = 0;
    while !course.stop.load(Ordering::SeqCst) {
        let Some(open) = &writer else {
            writer = host.lock().ok().map(|exclusive| exclusive.into_writer(()));
            thread::sleep(Duration::from_millis(if writer.is_some() { 0 } else { 50 }));
            continue;
        };
        count += 1;
        let (text, asked) = (format!("{number}-{count}"), course.tick());
        if count % 5 == 0 {
            let read = open.commit(Durability::Synced, |(), _| Ok::<_, ()>(((), Vec::new())));
            let seq = open.with_reader(|(), reader| reader.head().last_seq);
            if read.is_ok() {
                let came_to = CameTo::Read(seq);
                course.note(asked, text, came_to);
            }
            continue;
        }
        let payload = Json::from_value(&BTreeMap::from([("text", text.clone())])).unwrap();
        let event = NewEvent::new("note_said", "lead", payload);
        let done = open.commit(Durability::Synced, move |(), _| {
            Ok::<_, ()>(((), vec![event]))
        });
        let came_to = match done {
            Ok(done) => CameTo::Acked(done.events[0].seq),
            Err(CommitError::Conflict(_)) => CameTo::Nothing,
            Err(CommitError::Failed(Error::Journal { fault, why })) => match fault {
                JournalFault::Unknown => CameTo::Unknown,
                JournalFault::Unreachable | JournalFault::NotDurable => {
                    thread::sleep(Duration::from_millis(20));
                    CameTo::Nothing
                }
                other => panic!("{other:?}: {why}"),
            },
            Err(CommitError::Failed(error)) => panic!("{error}"),
            Err(CommitError::Refused(())) => unreachable!(),
        };
        course.note(asked, text, came_to);
        // A process ends sometimes, cleanly or not.
        if count % 40 == 0 {
            let ended = writer.take().unwrap();
            if count % 80 == 0 {
                ended.close().unwrap();
            }
        }
    }
}

/// State of the former primary while another server is promoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Former {
    /// The former primary is paused, and continues later.
    Stands,
    /// The former primary continues all the time.
    GoesOn,
}

/// Causes one fault after another. Hosts reach the servers through the connections `lines`.
fn disturb(cluster: &mut Cluster, lines: &[Proxy], course: &Course, former: Former) -> Duration {
    course.wait_for(60);
    for back in [Back::Cut, Back::Stops] {
        lines[0].back(back);
        thread::sleep(Duration::from_millis(200));
        lines[0].back(Back::Passes);
        lines[0].reset();
        course.wait_for(40);
    }
    lines[0].delay(Duration::from_millis(20));
    course.wait_for(20);
    lines[0].delay(Duration::ZERO);
    cluster.pause(1);
    course.wait_for(20);
    cluster.go_on(1);
    cluster.pause(0);
    thread::sleep(Duration::from_millis(500));
    cluster.go_on(0);
    course.wait_for(40);
    let from = Instant::now();
    match former {
        // A paused server neither answers nor ends. A client waits, then asks the next server.
        Former::Stands => cluster.pause(0),
        // Detach the standbys first. Otherwise the former primary could still acknowledge events, and the promotion would lose
        // them.
        Former::GoesOn => cluster.detach(&[1, 2]),
    }
    // The standby with more WAL is promoted, because it has all acknowledged events.
    let (better, other) = match cluster.received(1) >= cluster.received(2) {
        true => (1, 2),
        false => (2, 1),
    };
    cluster.promote(better, other);
    course.wait_for(1);
    let stall = from.elapsed();
    course.wait_for(60);
    // The former primary accepts connections again, but no host trusts it.
    cluster.go_on(0);
    course.wait_for(40);
    cluster.kill(0);
    course.wait_for(20);
    stall
}

/// Checks the rules that hold for every history.
fn check(done: &[Done], texts: &[String]) {
    let mut seqs: BTreeMap<&str, u64> = BTreeMap::new();
    for (at, text) in texts.iter().enumerate() {
        let before = seqs.insert(text, at as u64 + 1);
        assert_eq!(before, None, "{text} stands twice");
    }
    for one in done {
        let stands = seqs.get(one.text.as_str()).copied();
        match one.came_to {
            CameTo::Acked(seq) => assert_eq!(stands, Some(seq), "{one:?}"),
            CameTo::Nothing => assert_eq!(stands, None, "{one:?}"),
            CameTo::Unknown | CameTo::Read(_) => {}
        }
    }
    for text in seqs.keys() {
        assert!(
            done.iter().any(|one| one.text == *text),
            "nobody sent {text}"
        );
    }
    for read in done {
        let CameTo::Read(seq) = read.came_to else {
            continue;
        };
        for one in done.iter().filter(|one| one.answered < read.asked) {
            let CameTo::Acked(acked) = one.came_to else {
                continue;
            };
            assert!(acked <= seq, "{read:?} lacks {one:?}");
        }
    }
    let mut by_seq: Vec<(u64, &Done)> = done
        .iter()
        .filter_map(|one| Some((*seqs.get(one.text.as_str())?, one)))
        .collect();
    by_seq.sort_by_key(|(seq, _)| *seq);
    let mut latest = 0;
    for (seq, one) in by_seq {
        // If an event was acknowledged before this job started, that event comes before this job's event.
        assert!(one.answered > latest, "event {seq}: {one:?}");
        latest = latest.max(one.asked);
    }
}

fn round(number: u64, former: Former) {
    let Some(mut cluster) = Cluster::start() else {
        return;
    };
    let id = cluster.journal();
    let identity = identity(1, &id);
    let lines: Vec<Proxy> = cluster
        .servers
        .iter()
        .map(|server| Proxy::to(server.port))
        .collect();
    let ports: Vec<u16> = lines.iter().map(|line| line.port).collect();
    let hosts: Vec<Host> = (0..HOSTS)
        .map(|number| Host::new(number, &ports, &id, &identity))
        .collect();
    hosts[0].journals.enroll(&identity, LogState::Open).unwrap();
    let course = Course::default();
    let stall = thread::scope(|scope| {
        for (number, host) in hosts.iter().enumerate() {
            let course = &course;
            scope.spawn(move || work(host, number, course));
        }
        let disturbed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            disturb(&mut cluster, &lines, &course, former)
        }));
        course.stop.store(true, Ordering::SeqCst);
        disturbed.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    let done = course.done.into_inner().unwrap();
    let texts: Vec<Vec<String>> = hosts.iter().map(Host::texts).collect();
    check(&done, &texts[0]);
    let segments = hosts[0].segments();
    assert!(segments.len() > 3, "{} segments", segments.len());
    for (host, own) in hosts.iter().zip(&texts).skip(1) {
        assert!(*own == texts[0], "the hosts have different events");
        assert!(
            host.segments() == segments,
            "the hosts have different segments"
        );
    }
    let count = |wanted: fn(CameTo) -> bool| done.iter().filter(|one| wanted(one.came_to)).count();
    let acked = count(|came| matches!(came, CameTo::Acked(_)));
    let unknown = count(|came| came == CameTo::Unknown);
    eprintln!(
        "round {number}, former primary {former:?}: {} asked, {acked} acknowledged, {unknown} unknown; failover {:.1} s",
        done.len(),
        stall.as_secs_f64()
    );
    if number == 1 && former == Former::Stands {
        the_wrong_standby(cluster, &hosts);
    }
}

/// Promotes a lagging standby by mistake. The hosts have events that this standby lacks, so they detect the loss and write nothing.
fn the_wrong_standby(mut cluster: Cluster, hosts: &[Host]) {
    let primary = if cluster.sql(1, "select pg_is_in_recovery()") == "f" {
        1
    } else {
        2
    };
    let standby = 3 - primary;
    cluster.sql_in(primary, "journal", "update teamlog_meta set min_copies = 1");
    // From here on, the primary acknowledges events that no standby has.
    cluster.sql(primary, "alter system set synchronous_standby_names = ''");
    cluster.sql(primary, "select pg_reload_conf()");
    thread::sleep(Duration::from_millis(300));
    // The standby is killed, because a paused standby would still read its socket.
    cluster.kill(standby);
    let before = hosts[0].segments();
    let writer = hosts[0].lock_at_last().into_writer(());
    let payload = Json::from_value(&BTreeMap::from([("text", "lost")])).unwrap();
    writer
        .append(
            vec![NewEvent::new("note_said", "lead", payload)],
            Durability::Synced,
        )
        .unwrap();
    writer.close().unwrap();
    assert!(hosts[0].segments() != before);
    cluster.kill(primary);
    cluster.begin(standby);
    cluster.sql(standby, "alter system set synchronous_standby_names = ''");
    cluster.sql(standby, "select pg_reload_conf()");
    cluster.promote_alone(standby);
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        match hosts[0].lock() {
            Err(Error::Journal {
                fault: JournalFault::Behind | JournalFault::Forked,
                ..
            }) => break,
            Err(Error::Journal { .. }) if Instant::now() < end => {
                thread::sleep(Duration::from_millis(100));
            }
            Err(error) => panic!("{error}"),
            Ok(_) => panic!("a journal that lacks what this host has was taken for sound"),
        }
    }
}

#[test]
fn three_hosts_have_one_history_whatever_breaks_between_them() {
    let rounds = std::env::var("TEAMLOG_JOURNAL_ROUNDS");
    let rounds = rounds.map_or(1, |count| count.parse().unwrap());
    for number in 1..=rounds {
        for former in [Former::Stands, Former::GoesOn] {
            round(number, former);
        }
    }
}
