//! Tests of the freshness of local data: answers report it, and path checks refuse if the data is too old.

use super::*;
use teamlog_team::resource::can_write::{CanWrite, WriteReason};

/// Returns a host, its connection to the journal, and its clock.
fn timed() -> (Line, Root, Arc<ManualClock>) {
    let (line, root) = on_a_line(false);
    let clock = Arc::new(ManualClock::new(
        Timestamp::parse("2026-11-21T10:00:00Z").unwrap(),
    ));
    let options = RootOptions {
        clock: clock.clone(),
        ..root.options().clone()
    };
    (line, root.with_options(options), clock)
}

#[test]
fn what_is_here_says_when_the_journal_was_read() {
    let (line, root, clock) = timed();
    let as_of = |root: &Root| team(root).as_of().unwrap().unwrap();
    create(&root, "two");
    let first = as_of(&root);
    assert_eq!(
        (first.seq, first.checked_at.as_deref()),
        (3, Some("2026-11-21T10:00:00.000000Z"))
    );
    clock.advance(90_000_000);
    assert_eq!(as_of(&root), first);
    line.cut.store(true, Ordering::SeqCst);
    let minute = Duration::from_secs(60);
    assert_eq!(code(team(&root).keep_up(minute)), "journal_unreachable");
    team(&root).keep_up(2 * minute).unwrap();
    line.cut.store(false, Ordering::SeqCst);
    team(&root).keep_up(minute).unwrap();
    assert_eq!(
        as_of(&root).checked_at.as_deref(),
        Some("2026-11-21T10:01:30.000000Z")
    );
    // After the clock was set back, the age of the data is unknown.
    clock.advance(-600_000_000);
    line.cut.store(true, Ordering::SeqCst);
    assert_eq!(code(team(&root).keep_up(2 * minute)), "journal_unreachable");
}

#[test]
fn a_team_on_one_host_is_as_new_as_can_be() {
    let (_, root) = host(1, Arc::new(MemoryJournal::default()));
    root.init(Init {
        journal: None,
        ..init()
    })
    .unwrap();
    assert_eq!(team(&root).as_of().unwrap(), None);
    team(&root).keep_up(Duration::ZERO).unwrap();
    assert!(!team(&root).is_stale().unwrap());
}

#[test]
fn nothing_may_be_written_where_leases_are_not_known() {
    let (line, root, clock) = timed();
    let task = given!(TaskCreate, subject: "docs", resources: Some(vec!["docs".into()]));
    let task = team(&root).task_create(task).unwrap().task.task.task_id;
    team(&root)
        .task_claim(TaskClaim {
            task_id: task,
            worker: "dev".into(),
            lease_ms: Some(600_000),
            ..TaskClaim::default()
        })
        .unwrap();
    let asked = || CanWrite {
        agent: "dev".into(),
        path: Some("docs/a.md".into()),
    };
    let verdict = |root: &Root| team(root).can_write(asked()).unwrap();
    line.cut.store(true, Ordering::SeqCst);
    clock.advance(4_900_000);
    assert!(verdict(&root).allow);
    clock.advance(200_000);
    let stale = verdict(&root);
    assert_eq!((stale.allow, stale.reason), (false, WriteReason::Stale));
    line.cut.store(false, Ordering::SeqCst);
    assert!(verdict(&root).allow, "the journal was asked, and answered");
    line.cut.store(true, Ordering::SeqCst);
    clock.advance(4_000_000);
    assert!(verdict(&root).allow, "which counts for 5 s");
}

/// Runs work that must end while the journal does not answer.
fn meanwhile<A: std::marker::Send + 'static>(
    work: impl FnOnce() -> A + std::marker::Send + 'static,
) -> A {
    let (give, done) = std::sync::mpsc::channel();
    std::thread::spawn(move || give.send(work()));
    done.recv_timeout(Duration::from_secs(60))
        .expect("there is an answer although the journal hangs")
}

#[test]
fn a_journal_that_hangs_makes_leases_unknown_and_keeps_nobody_waiting() {
    for resident in [false, true] {
        let (line, root) = on_a_line(resident);
        let asked = CanWrite {
            agent: "dev".into(),
            path: Some("docs/a.md".into()),
        };
        assert_eq!(
            team(&root).can_write(asked.clone()).unwrap().reason,
            WriteReason::NoActiveLeaseForPath
        );
        let silence = line.silence.lock().unwrap();
        // A command holds the team's lock while it waits for the journal.
        let waiting = {
            let root = root.clone();
            std::thread::spawn(move || team(&root).catch_up())
        };
        let clock = Arc::new(ManualClock::new(
            Timestamp::parse("2026-11-21T10:01:00Z").unwrap(),
        ));
        let options = RootOptions {
            clock,
            ..root.options().clone()
        };
        let later = root.with_options(options);
        let (first, second) = (later.clone(), later.clone());
        let verdict = meanwhile(move || team(&first).can_write(asked).unwrap());
        assert_eq!(verdict.reason, WriteReason::Stale);
        assert!(meanwhile(move || team(&second).is_stale().unwrap()));
        drop(silence);
        let _ = waiting.join().unwrap();
        let end = std::time::Instant::now() + Duration::from_secs(60);
        while team(&later).is_stale().unwrap() {
            assert!(std::time::Instant::now() < end, "it stays stale");
        }
    }
}
