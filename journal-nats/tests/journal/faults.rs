//! Servers that stop while hosts append: what was acknowledged is there, once, and nothing else is told.

use crate::cluster::Cluster;
use crate::conformance::{group, identity, one, texts};
use crate::nats::journal;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use teamlog_engine::identity::LogId;
use teamlog_engine::journal::{Journal, Journals, LogState, Outcome, Position};
use teamlog_journal_nats::NatsJournals;

const WRITERS: usize = 3;

/// What writers were told, and whether they are to end.
#[derive(Default)]
struct Course {
    acked: Mutex<Vec<(String, u64)>>,
    unknown: Mutex<usize>,
    stop: AtomicBool,
}

impl Course {
    fn wait_for(&self, more: usize) {
        let count = || self.acked.lock().unwrap().len();
        let (from, end) = (count(), Instant::now() + Duration::from_secs(60));
        while count() < from + more {
            assert!(Instant::now() < end, "nothing is acknowledged any more");
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// The end of the log, however long that takes.
fn read_on(journal: &mut dyn Journal, mut after: Position) -> Position {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        match journal.read(LogId([1; 16]), after, 1 << 20) {
            Ok(page) => {
                after = page.groups.last().map_or(after, |group| group.position);
                if !page.more {
                    return after;
                }
            }
            Err(error) => {
                assert!(Instant::now() < end, "{error:?}");
                thread::sleep(Duration::from_millis(50));
            }
        }
    }
}

/// Appends one group after the other. What is unknown is settled by the same bytes.
fn write(journals: &NatsJournals, number: usize, course: &Course) {
    let (mut journal, mut end) = (journals.journal(), Position::default());
    let mut count = 0;
    while !course.stop.load(Ordering::SeqCst) {
        count += 1;
        let text = format!("{number}-{count}");
        let next = group(1, end, text.as_bytes());
        loop {
            match one(journal.as_mut(), next) {
                Outcome::Appended => {
                    end = next.position;
                    course.acked.lock().unwrap().push((text, end.last_seq));
                    break;
                }
                Outcome::Conflict => {
                    end = read_on(journal.as_mut(), end);
                    break;
                }
                Outcome::Unknown(_) => *course.unknown.lock().unwrap() += 1,
                Outcome::Unreachable(_) | Outcome::NotDurable(_) => {
                    thread::sleep(Duration::from_millis(20))
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

#[test]
fn what_was_acknowledged_is_there_once_whatever_server_stops() {
    let Some(mut cluster) = Cluster::start() else {
        return;
    };
    let (journals, id) = journal(&cluster);
    journals.enroll(&identity(1, &id), LogState::Open).unwrap();
    let hosts: Vec<NatsJournals> = (0..WRITERS)
        .map(|_| NatsJournals::new(cluster.config(), id.clone()))
        .collect();
    let course = Course::default();
    thread::scope(|scope| {
        for (number, journals) in hosts.iter().enumerate() {
            let course = &course;
            scope.spawn(move || write(journals, number, course));
        }
        course.wait_for(60);
        for _ in 0..2 {
            let leader = cluster.leader("teamlog_log_team-1");
            cluster.kill(leader);
            course.wait_for(40);
            cluster.restart(leader);
            course.wait_for(20);
        }
        let leader = cluster.leader("teamlog_log_team-1");
        cluster.signal(leader, "-STOP");
        course.wait_for(20);
        cluster.signal(leader, "-CONT");
        course.wait_for(40);
        course.stop.store(true, Ordering::SeqCst);
    });
    let there = texts(journals.journal().as_mut(), 1, Position::default(), 1 << 20);
    let mut seqs = BTreeMap::new();
    for (at, text) in there.iter().enumerate() {
        assert_eq!(
            seqs.insert(text, at as u64 + 1),
            None,
            "{text} stands twice"
        );
    }
    let acked = course.acked.into_inner().unwrap();
    for (text, seq) in &acked {
        assert_eq!(seqs.get(text), Some(seq), "{text} was acknowledged");
    }
    assert_eq!(
        acked.len(),
        there.len(),
        "every group was settled by whoever sent it"
    );
    eprintln!(
        "{} groups, {} unknown",
        acked.len(),
        course.unknown.into_inner().unwrap()
    );
    two_of_three_stop(&cluster, &journals);
}

/// Without a quorum nothing is acknowledged; then what was sent stands there, or the same bytes are taken.
fn two_of_three_stop(cluster: &Cluster, journals: &NatsJournals) {
    let mut journal = journals.journal();
    let end = read_on(journal.as_mut(), Position::default());
    for number in [0, 1] {
        cluster.signal(number, "-STOP");
    }
    let next = group(1, end, b"without a quorum");
    for _ in 0..2 {
        let outcome = one(journal.as_mut(), next);
        assert!(
            matches!(
                outcome,
                Outcome::Unknown(_) | Outcome::Unreachable(_) | Outcome::NotDurable(_)
            ),
            "{outcome:?}"
        );
        let read = journal.read(LogId([1; 16]), end, 100);
        assert!(read.is_err(), "{read:?}");
    }
    for number in [0, 1] {
        cluster.signal(number, "-CONT");
    }
    cluster.wait_for_quorum();
    let until = Instant::now() + Duration::from_secs(30);
    while one(journal.as_mut(), next) != Outcome::Appended {
        assert!(Instant::now() < until, "it does not go on");
        thread::sleep(Duration::from_millis(50));
    }
    let there = texts(journal.as_mut(), 1, end, 100);
    assert_eq!(there, ["without a quorum"]);
}
