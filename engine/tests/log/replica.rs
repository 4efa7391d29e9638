//! Tests of a host and its journal: groups in the journal that do not continue the host's log, and the files that the host keeps
//! about the journal.

mod deferred;

use crate::support::*;
use std::sync::atomic::Ordering;
use teamlog_engine::LogId;
use teamlog_engine::internals::journal::{Compares, MemoryJournal};
use teamlog_engine::internals::layout::{EVENTS_DIR, JOURNAL_FILE, LOG_FILE};
use teamlog_engine::journal::{
    Append, Journal, LogState, Outcome, Page, Position, ReadError, Term,
};
use teamlog_engine::{CommitError, JournalFault, LockedLog, ManualClock, Writer};

/// Two hosts of one log.
struct Hosts {
    journal: MemoryJournal,
    hosts: [Memory; 2],
}

impl Hosts {
    fn new(format: Format, compares: Compares) -> Hosts {
        let memory = Memory::new();
        create_shared(&arc(&memory), format, &options().1);
        Hosts {
            journal: MemoryJournal::new(compares),
            hosts: [memory.snapshot(), memory],
        }
    }

    fn log(&self, host: usize) -> Log {
        self.through(host, self.journal.clone())
    }

    fn through(&self, host: usize, journal: impl Journal + Clone + Sync + 'static) -> Log {
        let options = through(journal, &small(host as u64));
        open(&arc(&self.hosts[host]), &options)
    }

    fn lock(&self, host: usize) -> Result<LockedLog, Error> {
        self.log(host).lock()
    }

    fn writer(&self, host: usize) -> Writer<()> {
        self.lock(host).unwrap().into_writer(())
    }

    fn says(&self, host: usize, words: &[&str]) {
        let writer = self.writer(host);
        for text in words {
            say(&writer, text);
        }
        writer.close().unwrap();
    }

    /// Puts the journal back to a state with only its first group.
    fn put_back(&self) {
        self.journal.put_back(self.log(0).identity().log, 1);
    }

    fn segments(&self, host: usize) -> std::collections::BTreeMap<PathBuf, Vec<u8>> {
        tree(&self.hosts[host], &dir().join(EVENTS_DIR))
    }
}

fn fault<T>(result: Result<T, Error>) -> Option<JournalFault> {
    match result {
        Err(Error::Journal { fault, .. }) => Some(fault),
        Err(error) => panic!("{error}"),
        Ok(_) => None,
    }
}

#[test]
fn a_host_that_is_ahead_of_an_old_journal_is_told_so_and_writes_nothing() {
    for format in FORMATS {
        let hosts = Hosts::new(format, Compares::Position);
        hosts.says(0, &["a", "b", "c"]);
        let before = hosts.segments(0);
        hosts.put_back();
        assert_eq!(fault(hosts.lock(0)), Some(JournalFault::Behind));
        assert_eq!(hosts.segments(0), before);
        assert_eq!(
            texts(&hosts.log(0)),
            ["a", "b", "c"],
            "what it has is read as before"
        );
    }
}

/// Lets the journal get another history of the same length, and returns the error of a host that continues to write.
fn after_another_history(compares: Compares, format: Format) -> Option<JournalFault> {
    let hosts = Hosts::new(format, compares);
    let first = hosts.writer(0);
    say(&first, "a");
    hosts.says(1, &[]);
    say(&first, "b");
    say(&first, "c");
    hosts.put_back();
    hosts.says(1, &["other b", "other c"]);
    fault(first.append(vec![said("d")], Durability::Synced))
}

#[test]
fn another_history_of_the_same_length_is_refused_where_positions_are_compared() {
    for format in FORMATS {
        assert_eq!(
            after_another_history(Compares::Position, format),
            Some(JournalFault::Forked)
        );
        // A journal that compares only seqs accepts a group that continues neither history.
        assert_eq!(after_another_history(Compares::FirstSeq, format), None);
    }
}

#[test]
fn another_history_is_found_by_a_host_that_opens() {
    for (compares, format) in [Compares::Position, Compares::FirstSeq]
        .into_iter()
        .zip(FORMATS)
    {
        let hosts = Hosts::new(format, compares);
        hosts.says(0, &["a"]);
        hosts.says(1, &[]);
        hosts.says(0, &["b"]);
        hosts.put_back();
        hosts.says(1, &["other b", "other c"]);
        assert_eq!(
            fault(hosts.lock(0)),
            Some(JournalFault::Forked),
            "{compares:?}"
        );
    }
}

#[test]
fn the_cursor_may_be_gone_damaged_or_of_another_log() {
    for format in FORMATS {
        let hosts = Hosts::new(format, Compares::Position);
        hosts.says(0, &["a", "b"]);
        let path = dir().join(JOURNAL_FILE);
        let cursor = forge::read(&hosts.hosts[0], &path);
        let stranger = Hosts::new(format, Compares::Position);
        let other = Memory::new();
        let options = through(stranger.journal.clone(), &small(7));
        let writer = writer(&create_shared(&arc(&other), format, &options));
        say(&writer, "another");
        say(&writer, "log");
        writer.close().unwrap();
        let foreign = forge::read(&other, &path);
        assert_ne!(foreign, cursor);
        let damaged = |at: usize| {
            let mut bytes = cursor.clone();
            bytes[at] ^= 1;
            bytes
        };
        let mut all: Vec<Vec<u8>> = (0..cursor.len()).map(damaged).collect();
        all.extend([
            foreign,
            Vec::new(),
            vec![b' '; 4096],
            cursor[..cursor.len() / 2].to_vec(),
        ]);
        for bytes in all {
            forge::write(&hosts.hosts[0], &path, &bytes);
            hosts.says(0, &[]);
            assert_eq!(
                forge::read(&hosts.hosts[0], &path),
                cursor,
                "it is written anew"
            );
        }
        hosts.says(1, &["c"]);
        hosts.says(0, &["d"]);
        assert_eq!(texts(&hosts.log(0)), ["a", "b", "c", "d"]);
    }
}

#[test]
fn without_its_journal_a_replica_is_read_and_not_written() {
    for format in FORMATS {
        let hosts = Hosts::new(format, Compares::Position);
        hosts.says(0, &["a"]);
        let log = open(&arc(&hosts.hosts[0]), &small(0));
        assert_eq!(fault(log.lock()), Some(JournalFault::Unconfigured));
        assert_eq!(texts(&log), ["a"]);
    }
}

#[test]
fn a_log_that_other_hosts_have_is_not_changed_as_a_whole() {
    for format in FORMATS {
        let hosts = Hosts::new(format, Compares::Position);
        hosts.says(0, &["a", "b"]);
        let log = hosts.log(0);
        let before = hosts.hosts[0].snapshot();
        assert_eq!(
            fault(log.convert(other(format))),
            Some(JournalFault::Shared)
        );
        assert_eq!(fault(log.cut(1, "lead")), Some(JournalFault::Shared));
        let storage = arc(&hosts.hosts[0]);
        let salvaged = salvage(&storage, &dir(), &small(0), "lead", &mut |_| Ok(vec![]));
        assert_eq!(fault(salvaged), Some(JournalFault::Shared));
        assert_eq!(texts(&log), ["a", "b"]);
        assert_eq!(
            forge::read(&before, &dir().join(LOG_FILE)),
            forge::read(&hosts.hosts[0], &dir().join(LOG_FILE))
        );
    }
}

#[test]
fn a_refusal_on_what_another_host_changed_is_a_conflict() {
    for format in FORMATS {
        let hosts = Hosts::new(format, Compares::Position);
        let first = hosts.writer(0);
        say(&first, "a");
        hosts.says(1, &["b"]);
        let refuse = || first.commit(Durability::Synced, |(), _| Err::<((), _), _>("no"));
        assert!(matches!(refuse(), Err(CommitError::Conflict(_))));
        assert!(matches!(refuse(), Err(CommitError::Refused("no"))));
    }
}

#[test]
fn the_time_of_decisions_never_runs_backward() {
    let hosts = Hosts::new(Format::Jsonl, Compares::Position);
    let log = |host: usize, behind: i64| {
        let clock = teamlog_engine::ManualClock::new(start());
        clock.advance(-behind);
        let options = given!(LogOptions, clock: Arc::new(clock), ..small(host as u64));
        let options = through(hosts.journal.clone(), &options);
        open(&arc(&hosts.hosts[host]), &options)
    };
    let asked = |host, behind| {
        let exclusive = log(host, behind).lock();
        let writer = exclusive.unwrap().into_writer(());
        let done = writer.commit(Durability::Synced, |(), now| {
            Ok::<_, ()>((now, vec![said("now")]))
        });
        done.ok().unwrap().answer
    };
    assert_eq!(asked(0, 0), start());
    assert!(
        asked(1, 1_000_000) >= start(),
        "the clock of the second host is a second behind"
    );
}

#[test]
fn a_host_whose_clock_is_too_far_from_the_journals_records_nothing() {
    for format in FORMATS {
        let hosts = Hosts::new(format, Compares::Position);
        let journal = hosts.journal.clone();
        let journal = journal.with_clock(Arc::new(ManualClock::new(start())));
        let said_by = |off: i64, text: &str| {
            let clock = ManualClock::new(start());
            clock.advance(off);
            let options = given!(LogOptions, clock: Arc::new(clock), ..small(1));
            let log = open(&arc(&hosts.hosts[0]), &through(journal.clone(), &options));
            // The writer still takes in the groups of other hosts.
            let writer = writer(&log);
            fault(writer.append(vec![said(text)], Durability::Synced))
        };
        let (second, most) = (1_000_000, 2_000_000);
        for off in [30 * second, -30 * second, most + 1, -most - 1] {
            assert_eq!(
                said_by(off, "wrong"),
                Some(JournalFault::ClockSkew),
                "{off}"
            );
        }
        for off in [1_500_000, -1_500_000, most, -most] {
            assert_eq!(said_by(off, "right"), None, "{off}");
        }
        assert_eq!(texts(&hosts.log(0)), ["right"; 4]);
    }
}

/// A journal in which another host makes the next append first.
#[derive(Clone)]
struct Overtaken {
    journal: MemoryJournal,
    next: Arc<std::sync::atomic::AtomicBool>,
}

impl Journal for Overtaken {
    fn append(&mut self, groups: &[Append<'_>], _: LogState) -> Vec<Outcome> {
        match self.next.swap(false, Ordering::SeqCst) {
            true => vec![Outcome::Conflict],
            false => self.journal.append(groups, LogState::Open),
        }
    }

    fn turn(&mut self, group: &Append<'_>, to: LogState) -> Outcome {
        self.journal.turn(group, to)
    }

    fn read(&mut self, log: LogId, after: Position, bytes_max: usize) -> Result<Page, ReadError> {
        self.journal.read(log, after, bytes_max)
    }
}

#[test]
fn a_round_ends_with_the_first_group_that_the_journal_does_not_take() {
    for format in FORMATS {
        let hosts = Hosts::new(format, Compares::Position);
        let journal = Overtaken {
            journal: hosts.journal.clone(),
            next: Arc::new(true.into()),
        };
        let writer = writer(&hosts.through(0, journal));
        let large = || vec![said(&"x".repeat(700_000)); 4];
        let (first_runs, follow) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            let first = scope.spawn(|| {
                writer.commit(Durability::Synced, move |(), _| {
                    first_runs.send(()).unwrap();
                    // The other jobs queue meanwhile, for the same round.
                    std::thread::sleep(Duration::from_millis(300));
                    Ok::<_, ()>(((), large()))
                })
            });
            follow.recv().unwrap();
            let others = [large(), vec![said("small")]].map(|events| {
                let writer = &writer;
                let other = move || {
                    writer.commit(Durability::Synced, move |(), _| Ok::<_, ()>(((), events)))
                };
                let other = scope.spawn(other);
                std::thread::sleep(Duration::from_millis(50));
                other
            });
            assert!(matches!(
                first.join().unwrap(),
                Err(CommitError::Conflict(_))
            ));
            for job in others {
                assert!(matches!(job.join().unwrap(), Err(CommitError::Conflict(_))));
            }
        });
        assert!(hosts.journal.groups(hosts.log(0).identity().log).is_empty());
        say(&writer, "again");
        writer.close().unwrap();
        assert_eq!(texts(&hosts.log(0)), ["again"]);
    }
}

/// A journal whose reads always fail with this error.
#[derive(Clone)]
struct Silent(ReadError);

impl Journal for Silent {
    fn append(&mut self, groups: &[Append<'_>], _: LogState) -> Vec<Outcome> {
        panic!(
            "{} groups were appended behind what could not be read",
            groups.len()
        )
    }

    fn turn(&mut self, group: &Append<'_>, _: LogState) -> Outcome {
        self.append(&[*group], LogState::Open).remove(0)
    }

    fn read(&mut self, _: LogId, _: Position, _: usize) -> Result<Page, ReadError> {
        Err(self.0.clone())
    }
}

#[test]
fn a_journal_says_why_it_tells_nothing() {
    let hosts = Hosts::new(Format::Jsonl, Compares::Position);
    let why = || "because".to_owned();
    for (error, expected) in [
        (ReadError::Unreachable(why()), JournalFault::Unreachable),
        (ReadError::NotDurable(why()), JournalFault::NotDurable),
        (ReadError::OtherJournal(why()), JournalFault::OtherJournal),
        (ReadError::Behind(0), JournalFault::Behind),
        (ReadError::Forked, JournalFault::Forked),
    ] {
        let locked = hosts.through(0, Silent(error)).lock();
        assert_eq!(fault(locked), Some(expected));
    }
}

/// A journal that answers after a delay, in the given term.
#[derive(Clone)]
struct Answering {
    journal: MemoryJournal,
    term: Term,
    takes: Duration,
}

impl Journal for Answering {
    fn term(&mut self) -> Result<Term, ReadError> {
        Ok(self.term)
    }
    fn append(&mut self, groups: &[Append<'_>], state: LogState) -> Vec<Outcome> {
        self.journal.append(groups, state)
    }

    fn turn(&mut self, group: &Append<'_>, to: LogState) -> Outcome {
        self.journal.turn(group, to)
    }

    fn read(&mut self, log: LogId, after: Position, bytes_max: usize) -> Result<Page, ReadError> {
        std::thread::sleep(self.takes);
        let page = self.journal.read(log, after, bytes_max)?;
        Ok(Page {
            term: self.term,
            ..page
        })
    }
}

#[test]
fn a_server_that_decided_once_is_known_by_every_later_process() {
    for format in FORMATS {
        let hosts = Hosts::new(format, Compares::Position);
        let in_term = |system, number| Answering {
            journal: hosts.journal.clone(),
            term: Term { system, number },
            takes: Duration::ZERO,
        };
        for (number, text) in [(1, "a"), (3, "b")] {
            let writer = writer(&hosts.through(0, in_term(7, number)));
            say(&writer, text);
            writer.release().unwrap();
        }
        let locked = hosts.through(0, in_term(7, 2)).lock();
        assert_eq!(fault(locked), Some(JournalFault::Unreachable));
        let writer = writer(&hosts.through(0, in_term(7, 3)));
        say(&writer, "c");
        drop(writer);
        assert_eq!(texts(&hosts.log(0)), ["a", "b", "c"]);
        // Another system of servers can have a copy of the journal. The operator accepts that system.
        let other = hosts.through(0, in_term(8, 1));
        assert_eq!(fault(other.lock()), Some(JournalFault::Moved));
        assert_eq!(other.accept_system().unwrap(), Some((7, 8)));
        assert_eq!(other.accept_system().unwrap(), Some((8, 8)));
        say(&crate::support::writer(&other), "d");
        assert_eq!(
            fault(hosts.through(0, in_term(7, 9)).lock()),
            Some(JournalFault::Moved)
        );
    }
}

#[test]
fn where_newer_hosts_record_older_ones_only_read() {
    for format in FORMATS {
        let hosts = Hosts::new(format, Compares::Position);
        let says = |host: usize, version: u32, text: &str| {
            let options = given!(LogOptions, fold_version: version, ..small(host as u64));
            let log = open(
                &arc(&hosts.hosts[host]),
                &through(hosts.journal.clone(), &options),
            );
            let writer = writer(&log);
            fault(writer.append(vec![said(text)], Durability::Synced))
        };
        assert_eq!(says(0, 4, "a"), None);
        assert_eq!(says(1, 4, "b"), None);
        assert_eq!(says(1, 3, "too old"), Some(JournalFault::NewerHost));
        assert_eq!(says(0, 5, "c"), None);
        assert_eq!(says(1, 4, "too old by now"), Some(JournalFault::NewerHost));
        assert_eq!(
            texts(&hosts.log(1)),
            ["a", "b", "c"],
            "what others recorded is taken in"
        );
        assert_eq!(says(1, 6, "d"), None);
        assert_eq!(says(0, 5, "too old"), Some(JournalFault::NewerHost));
    }
}
