//! Tests of a primary that continues after another server was promoted. No host trusts the former primary, although connections
//! to it still work.

use crate::cluster::{Cluster, config};
use crate::conformance::identity;
use crate::history::Host;
use crate::proxy::Proxy;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use teamlog_engine::journal::{Journals, LogState};
use teamlog_engine::{CommitError, Durability, Error, Json, NewEvent, Writer};
use teamlog_journal_postgres::PostgresJournals;

fn note(text: &str) -> Vec<NewEvent> {
    let payload = Json::from_value(&BTreeMap::from([("text", text)])).unwrap();
    vec![NewEvent::new("note_said", "lead", payload)]
}

/// Appends until the journal accepts the group, for at most a minute.
fn record(writer: &Writer<()>, text: &str) -> u64 {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        match writer.append(note(text), Durability::Synced) {
            Ok(appended) => return appended.unwrap().last_seq,
            Err(error) => assert!(Instant::now() < end, "{text}: {error}"),
        }
    }
}

/// Runs a round without events, like `head --fresh`. Returns the seq of the last event, or the error.
fn fresh(writer: &Writer<()>) -> Result<u64, Error> {
    loop {
        match writer.commit(Durability::Synced, |(), _| Ok::<_, ()>(((), Vec::new()))) {
            Ok(_) => return Ok(writer.with_reader(|(), reader| reader.head().last_seq)),
            // Another host recorded meanwhile, so the round is decided again.
            Err(CommitError::Conflict(_)) => {}
            Err(CommitError::Failed(error)) => return Err(error),
            Err(CommitError::Refused(())) => unreachable!(),
        }
    }
}

#[test]
fn a_command_of_its_own_process_makes_four_round_trips() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let id = cluster.journal();
    let identity = identity(1, &id);
    let line = Proxy::to(cluster.servers[0].port);
    let journals = PostgresJournals::new(config(&[line.port], "maker"), id.clone());
    journals.enroll(&identity, LogState::Open).unwrap();
    for number in 0..3 {
        let before = line.turns();
        // Each round uses a new connection, like a process that records once.
        let host = Host::new(number, &[line.port], &id, &identity);
        let writer = host.lock().unwrap().into_writer(());
        record(&writer, "once");
        writer.close().unwrap();
        // The four round trips: the handshake, the setup with its fence, the read, the append.
        assert_eq!(line.turns() - before, 4, "{number}");
    }
}

#[test]
fn a_former_primary_that_goes_on_is_left() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let id = cluster.journal();
    let identity = identity(1, &id);
    let ports: Vec<u16> = cluster.servers.iter().map(|server| server.port).collect();
    let hosts: Vec<Host> = (0..4)
        .map(|number| Host::new(number, &ports, &id, &identity))
        .collect();
    hosts[0].journals.enroll(&identity, LogState::Open).unwrap();
    let open = |number: usize| hosts[number].lock().unwrap().into_writer(());
    // Each of these hosts has a connection to the first server.
    let [reader, recorder, ahead] = [open(0), open(1), open(2)];
    record(&reader, "before");
    record(&recorder, "from both");
    assert_eq!(fresh(&ahead).unwrap(), 2);
    let better = match cluster.received(1) >= cluster.received(2) {
        true => 1,
        false => 2,
    };
    cluster.promote(better, 3 - better);
    cluster.wait_for_standbys(better, 1);
    // This host connects only now.
    let late = open(3);
    let seq = record(&late, "on the new primary");
    let seen = fresh(&reader).unwrap();
    assert!(seen >= seq, "fresh, but event {seq} is not there: {seen}");
    // This host has made no request since the promotion. Its append must still reach the new primary, within one call.
    let appended = recorder.append(note("by a host that had heard nothing"), Durability::Synced);
    match appended {
        Ok(appended) => assert!(appended.unwrap().last_seq > seq),
        Err(error) => assert!(error.is_conflict(), "{error}"),
    }
    record(&recorder, "again");
    let last = record(&late, "last");
    // This host only reads, and has more events than the former primary. The host must not conclude that the journal lost
    // events.
    assert!(fresh(&ahead).unwrap() >= last);
    assert!(fresh(&reader).unwrap() >= last);
}
