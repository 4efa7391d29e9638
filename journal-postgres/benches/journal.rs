//! Measures the cost of a commit through PostgreSQL, compared with a bare `write` and `fdatasync` of the same bytes in the same
//! run. A primary and a synchronous standby run on this machine and share its one disk.
//!
//! `TEAMLOG_POSTGRES=/usr/lib/postgresql/15/bin cargo bench -p teamlog-journal-postgres`
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark prints, and may panic"
)]
#![allow(dead_code, reason = "a part of the cluster is for the tests")]

#[path = "../tests/journal/cluster.rs"]
mod cluster;
#[path = "../../engine/tests/support/ports.rs"]
mod ports;

use cluster::Cluster;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use teamlog_engine::LogId;
use teamlog_engine::journal::{Append, Journal, Journals, LogState, Outcome, Position};
use teamlog_engine::storage::Files;
use teamlog_engine::{
    Durability, EventId, Format, Identity, JournalIdentity, Json, Log, LogOptions, NewEvent,
    Timestamp, Writer,
};
use teamlog_journal_postgres::PostgresJournals;

/// Time for which each row is measured in each round.
const SPAN: Duration = Duration::from_millis(1_500);
const ROUNDS: usize = 5;

fn event() -> NewEvent {
    let payload = Json::from_value(&serde_json::json!({"text": "x".repeat(200)})).unwrap();
    NewEvent::new("note_said", "lead", payload)
}

/// Returns the number of calls per second.
fn rate(mut turn: impl FnMut()) -> f64 {
    let (started, mut turns) = (Instant::now(), 0.0);
    while started.elapsed() < SPAN {
        turn();
        turns += 1.0;
    }
    turns / started.elapsed().as_secs_f64()
}

fn commit(writer: &Writer<()>, events: usize) {
    writer
        .append(vec![event(); events], Durability::Synced)
        .unwrap();
}

/// A log to which one thread appends groups.
struct Alone {
    journal: Box<dyn Journal>,
    log: LogId,
    end: Position,
}

/// Returns the groups per second of all threads together. Each thread appends one group to each of its logs in turn.
fn together(threads: &mut [Vec<Alone>], bytes: &[u8]) -> f64 {
    thread::scope(|scope| {
        let one = |logs: &mut Vec<Alone>| {
            let mut at = 0;
            rate(|| {
                let count = logs.len();
                logs[at % count].append(bytes);
                at += 1;
            })
        };
        let running: Vec<_> = threads
            .iter_mut()
            .map(|logs| scope.spawn(move || one(logs)))
            .collect();
        running.into_iter().map(|one| one.join().unwrap()).sum()
    })
}

impl Alone {
    fn new(journals: &PostgresJournals, log: LogId) -> Alone {
        let identity = Identity {
            log,
            ..identity(&format!("alone-{log}"), None, 0)
        };
        journals.enroll(&identity, LogState::Open).unwrap();
        Alone {
            journal: journals.journal(),
            log,
            end: Position::default(),
        }
    }

    fn append(&mut self, bytes: &[u8]) {
        let position = Position {
            last_seq: self.end.last_seq + 1,
            digest: self.end.digest.then(bytes),
        };
        let group = Append {
            log: self.log,
            after: self.end,
            position,
            last_id: EventId::from_text(b"019ab000-0000-7000-8000-000000000001").unwrap(),
            bytes,
            begins: &[],
        };
        assert_eq!(
            self.journal.append(&[group], LogState::Open),
            [Outcome::Appended]
        );
        self.end = position;
    }
}

fn identity(name: &str, journal: Option<JournalIdentity>, byte: u8) -> Identity {
    Identity {
        log: LogId([byte; 16]),
        name: name.into(),
        format: Format::Jsonl,
        version: 1,
        created_at: Timestamp::parse("2026-11-21T10:00:00Z").unwrap(),
        origin: "init".into(),
        journal,
        refs: Default::default(),
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let Some(mut cluster) = Cluster::start() else {
        return;
    };
    // Kill the second standby, because that standby would only load the disk.
    cluster.kill(2);
    let id = cluster.journal();
    let dir = tempfile::tempdir().unwrap();
    let journals = Arc::new(PostgresJournals::new(cluster.config("bench"), id.clone()));
    let log = |name: &str, journal: Option<JournalIdentity>, byte: u8| {
        let options = LogOptions {
            journals: Some(journals.clone()),
            ..LogOptions::default()
        };
        let identity = identity(name, journal, byte);
        if identity.journal.is_some() {
            journals.enroll(&identity, LogState::Open).unwrap();
        }
        let files = Arc::new(Files::create(&dir.path().join(name)).unwrap());
        let log = Log::create_from(identity, files, Path::new("demo"), options).unwrap();
        log.lock().unwrap().into_writer(())
    };
    let shared = JournalIdentity {
        kind: "postgres".into(),
        id,
        segment_bytes_max: 64 << 20,
    };
    let (local, through) = (log("local", None, 1), log("through", Some(shared), 2));
    let mut alone = Alone::new(&journals, LogId([3; 16]));
    let teams = |threads: u8, each: u8, of: u8| -> Vec<Vec<Alone>> {
        let log =
            |thread, number| LogId([of, thread, number, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        let thread = |thread| {
            let logs = (0..each).map(|number| Alone::new(&journals, log(thread, number)));
            logs.collect()
        };
        (0..threads).map(thread).collect()
    };
    // With one connection per thread there are no common commits: each team has its own commit.
    let (mut apart, mut many_teams) = (teams(4, 16, 4), teams(64, 16, 5));
    let mut bare = std::fs::File::create(dir.path().join("bare")).unwrap();
    let bytes = [b'x'; 420];
    let mut rows: [Vec<f64>; 7] = Default::default();
    for _ in 0..ROUNDS {
        rows[0].push(rate(|| {
            bare.write_all(&bytes).unwrap();
            bare.sync_data().unwrap();
        }));
        rows[1].push(rate(|| commit(&local, 1)));
        rows[2].push(rate(|| alone.append(&bytes)));
        rows[3].push(rate(|| commit(&through, 1)));
        rows[4].push(rate(|| commit(&through, 32)) * 32.0);
        rows[5].push(together(&mut apart, &bytes));
        rows[6].push(together(&mut many_teams, &bytes));
    }
    let [bare, local, append, single, many, apart, gathered] = rows.map(median);
    println!("medians of {ROUNDS} rounds of {} ms", SPAN.as_millis());
    println!("bare write and fdatasync      {bare:9.0}/s");
    println!(
        "teamlog, no journal, single   {local:9.0}/s  {:.2} x",
        local / bare
    );
    println!(
        "the append alone              {append:9.0}/s  {:.2} x",
        append / bare
    );
    println!(
        "through PostgreSQL, single    {single:9.0}/s  {:.2} x",
        single / bare
    );
    println!("through PostgreSQL, 32 a group {many:8.0} events/s");
    println!("four commits at once          {apart:9.0} groups/s");
    println!(
        "1,024 teams, 64 at once       {gathered:9.0} groups/s  {:.1} times as many",
        gathered / apart
    );
}
