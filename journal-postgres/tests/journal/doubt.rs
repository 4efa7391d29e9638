//! Tests of unknown outcomes: a lost answer, missing copies, and an operator who ends the wait.

use crate::cluster::{Cluster, config};
use crate::conformance::{group, identity, one};
use crate::proxy::{Back, Proxy};
use std::thread;
use std::time::{Duration, Instant};
use teamlog_engine::LogId;
use teamlog_engine::journal::{
    Connector, Journal, Journals, LogState, Outcome, Position, ReadError,
};
use teamlog_journal_postgres::PostgresJournals;

fn is_unknown(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Unknown(_))
}

fn count(journal: &mut dyn Journal) -> usize {
    let page = journal.read(LogId([1; 16]), Position::default(), 1 << 20);
    page.unwrap().groups.len()
}

#[test]
fn what_is_in_doubt_is_said_and_settled_by_appending_it_again() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let id = cluster.journal();
    let direct = PostgresJournals::new(cluster.config("ada"), id.clone());
    direct.enroll(&identity(1, &id), LogState::Open).unwrap();
    let end = the_answer_is_lost(&cluster, &id, Position::default());
    let end = the_copies_are_not_there(&cluster, &id, end);
    let end = an_operator_ends_the_wait(&cluster, &id, end);
    fewer_copies_than_promised(&cluster, &id, end);
}

/// Cuts the connection between a commit and its answer.
fn the_answer_is_lost(cluster: &Cluster, id: &str, end: Position) -> Position {
    let proxy = Proxy::to(cluster.servers[0].port);
    let journals = PostgresJournals::new(config(&[proxy.port], "ada"), id.to_owned());
    let mut journal = journals.journal();
    let first = group(1, end, b"first");
    assert_eq!(one(journal.as_mut(), first), Outcome::Appended);
    let mut end = first.position;
    for (back, bytes) in [(Back::Cut, &b"cut"[..]), (Back::Stops, b"stopped")] {
        proxy.back(back);
        let append = group(1, end, bytes);
        let outcome = one(journal.as_mut(), append);
        assert!(is_unknown(&outcome), "{back:?}: {outcome:?}");
        // After the reset nothing can be sent, so the outcome is known.
        proxy.reset();
        let read = journal.read(LogId([1; 16]), end, 100);
        assert!(matches!(read, Err(ReadError::Unreachable(_))), "{read:?}");
        proxy.back(Back::Passes);
        proxy.reset();
        assert_eq!(one(journal.as_mut(), append), Outcome::Appended);
        end = append.position;
    }
    proxy.delay(Duration::from_millis(50));
    assert_eq!(
        one(journal.as_mut(), group(1, end, b"slow")),
        Outcome::Appended
    );
    assert_eq!(count(journal.as_mut()), 4);
    group(1, end, b"slow").position
}

/// Runs `work` while the standbys are paused.
fn without_copies<A>(cluster: &Cluster, work: impl FnOnce() -> A) -> A {
    cluster.pause(1);
    cluster.pause(2);
    let done = work();
    cluster.go_on(1);
    cluster.go_on(2);
    cluster.wait_for_standbys(0, 2);
    done
}

/// Pauses the standbys. The commit waits, the client gives up, and the group appears after the standbys continue.
fn the_copies_are_not_there(cluster: &Cluster, id: &str, end: Position) -> Position {
    let journals = PostgresJournals::new(cluster.config("ada"), id.to_owned());
    let mut journal = journals.journal();
    let before = count(journal.as_mut());
    let append = group(1, end, b"late");
    without_copies(cluster, || {
        let outcome = one(journal.as_mut(), append);
        assert!(is_unknown(&outcome), "{outcome:?}");
        // A new connection passes no barrier, so its reads are not trusted.
        let read = journal.read(LogId([1; 16]), end, 100);
        assert!(matches!(read, Err(ReadError::Unreachable(_))), "{read:?}");
    });
    assert_eq!(one(journal.as_mut(), append), Outcome::Appended);
    assert_eq!(count(journal.as_mut()), before + 1);
    append.position
}

/// An operator cancels the waiting backend. The server then answers with success, and a warning.
fn an_operator_ends_the_wait(cluster: &Cluster, id: &str, end: Position) -> Position {
    let journals = PostgresJournals::new(cluster.config("ada"), id.to_owned());
    let mut journal = journals.journal();
    let before = count(journal.as_mut());
    let append = group(1, end, b"canceled");
    let cancel = || {
        thread::scope(|scope| {
            let asked = scope.spawn(|| one(journal.as_mut(), append));
            let waiting = "select pid from pg_stat_activity where wait_event = 'SyncRep'";
            let give_up = Instant::now() + Duration::from_secs(3);
            while cluster.sql(0, waiting).is_empty() && Instant::now() < give_up {
                thread::sleep(Duration::from_millis(20));
            }
            cluster.sql(
                0,
                &format!("select pg_cancel_backend(pid) from ({waiting}) one"),
            );
            asked.join().unwrap()
        })
    };
    let outcome = without_copies(cluster, cancel);
    let Outcome::Unknown(why) = &outcome else {
        panic!("{outcome:?}");
    };
    assert!(why.contains("did not wait for its copies"), "{why}");
    assert_eq!(one(journal.as_mut(), append), Outcome::Appended);
    assert_eq!(count(journal.as_mut()), before + 1);
    append.position
}

/// Failover managers reduce the number of copies by default, so that the primary continues alone.
fn fewer_copies_than_promised(cluster: &Cluster, id: &str, end: Position) {
    let alone = |names: &str| {
        cluster.sql(
            0,
            &format!("alter system set synchronous_standby_names = '{names}'"),
        );
        cluster.sql(0, "select pg_reload_conf()");
        thread::sleep(Duration::from_millis(300));
    };
    alone("");
    let journals = PostgresJournals::new(cluster.config("ada"), id.to_owned());
    let mut journal = journals.journal();
    let outcome = one(journal.as_mut(), group(1, end, b"alone"));
    let Outcome::NotDurable(why) = &outcome else {
        panic!("{outcome:?}");
    };
    assert!(
        why.contains("synchronous_standby_names must name standbys"),
        "{why}"
    );
    let copies = cluster.config("ada").inspect().unwrap();
    assert!(!copies.wrong.is_empty());
    // Both standbys are candidates, but a commit waits for only one of them.
    alone("ANY 1 (one, two)");
    cluster.wait_for_standbys(0, 2);
    let promise = |copies: u32| {
        let text = format!("update teamlog_meta set min_copies = {copies}");
        cluster.sql_in(0, "journal", &text);
    };
    promise(3);
    let copies = cluster.config("ada").inspect().unwrap();
    assert_eq!(copies.copies, 2);
    assert!(
        copies.wrong[0].contains("wait for 2 standbys, but"),
        "{copies:?}"
    );
    let journals = PostgresJournals::new(cluster.config("ada"), id.to_owned());
    let outcome = one(journals.journal().as_mut(), group(1, end, b"alone"));
    assert!(matches!(outcome, Outcome::NotDurable(_)), "{outcome:?}");
    alone("ANY 2 (one, two)");
    let copies = cluster.config("ada").inspect().unwrap();
    assert_eq!((copies.copies, copies.wrong), (3, Vec::new()));
    promise(2);
    let journals = PostgresJournals::new(cluster.config("ada"), id.to_owned());
    let outcome = one(journals.journal().as_mut(), group(1, end, b"alone"));
    assert_eq!(outcome, Outcome::Appended);
}
