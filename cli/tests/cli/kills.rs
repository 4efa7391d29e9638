//! Kills processes with SIGKILL during their work. The log has each acknowledged event once, and every other write either
//! completely or not at all.

use crate::answers::{Event, Rehydrate, Status, Verify};
use crate::prelude::*;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::SystemTime;

const WRITERS: usize = 4;
/// Number of lines in a batch, and in each of its groups.
const LINES: usize = 6;
const GROUP: usize = 3;
/// Minimum number of kills and of acknowledged commands per storm.
const ENOUGH: usize = 20;
/// Additional time after the deadline in which a storm can reach `ENOUGH`.
const LONGEST_WAIT: Duration = Duration::from_secs(90);

#[test]
fn a_storm_of_kills_loses_nothing_that_was_acknowledged() {
    for format in ["jsonl", "binary"] {
        let cli = Cli::with_team_of(format);
        let seed = seed();
        let storm = Storm::new(&cli, seed, 76, Duration::from_secs(9));
        let (kills, acked) = storm.rage();
        let shown = acked.values().map(BTreeSet::len).sum::<usize>();
        println!("{format}: {kills} kills, {shown} acknowledged (seed {seed})");
        assert!(kills >= ENOUGH, "{format}: only {kills} kills");
        assert!(shown >= ENOUGH, "{format}: only {shown} acknowledged");
        survey(&cli, &acked);
    }
}

/// Keys of acknowledged writes by kind of event.
type Acked = BTreeMap<&'static str, BTreeSet<String>>;

/// Checks the team after a storm: the lock is free, the log is sound, events are consecutive, and no acknowledged write is
/// missing.
fn survey(cli: &Cli, acked: &Acked) {
    let ran = cli.run("send demo --from lead --to qa --type handoff --lock-timeout 2");
    assert_eq!(ran.code, Some(0), "the lock went with its holder: {ran:?}");
    let verify: Verify = cli.json("verify demo");
    assert!(verify.ok && verify.problems.is_empty(), "{verify:?}");

    let events: Vec<Event> = parse_lines(&cli.ok("replay demo --json"));
    let seqs: Vec<u64> = events.iter().map(|event| event.seq).collect();
    assert_eq!(seqs, (1..=events.len() as u64).collect::<Vec<_>>());
    assert!(events.is_sorted_by(|a, b| a.id < b.id));
    let found = |kind: &str, name: fn(&Event) -> Option<String>| {
        let named = events.iter().filter(|event| event.kind == kind);
        let named: Vec<String> = named.filter_map(name).collect();
        let once: BTreeSet<String> = named.iter().cloned().collect();
        assert_eq!(once.len(), named.len(), "{kind}: twice");
        once
    };
    let sent = found("message_sent", |event| event.message_id.clone());
    let noted = found("note_taken", |event| event.key.clone());
    let steps = found("step_done", |event| event.key.clone());
    for (kind, found) in [
        ("message_sent", &sent),
        ("note_taken", &noted),
        ("step_done", &steps),
    ] {
        let lost: Vec<_> = acked[kind].difference(found).collect();
        assert!(lost.is_empty(), "{kind}: acknowledged and lost: {lost:?}");
    }
    assert_whole_groups(&events);
    assert_quarantine_named(cli, &events);

    let inbox = std::fs::read_to_string(cli.dir().join("teams/demo/inboxes/dev.jsonl")).unwrap();
    let to_dev = events
        .iter()
        .filter(|event| event.kind == "message_sent" && event.agent.as_deref() == Some("dev"));
    assert_eq!(inbox.lines().count(), to_dev.count(), "the inbox file");
    let live: Status = cli.json("status demo --digest");
    let rebuilt: Rehydrate = cli.json("rehydrate demo");
    assert_eq!(live.state_digest, Some(rebuilt.state_digest));
}

/// Checks that each group is complete and that its lines are consecutive.
fn assert_whole_groups(events: &[Event]) {
    let steps: Vec<(u64, &str)> = events
        .iter()
        .filter(|event| event.kind == "step_done")
        .map(|event| (event.seq, event.key.as_deref().unwrap()))
        .collect();
    for group in steps.chunks(GROUP) {
        let (seq, key) = group[0];
        let (run, first) = key.rsplit_once('/').unwrap();
        let first: usize = first.parse().unwrap();
        assert!(first.is_multiple_of(GROUP), "{group:?}");
        for (i, step) in group.iter().enumerate() {
            let expected = format!("{run}/{}", first + i);
            assert_eq!(*step, (seq + i as u64, &*expected), "{group:?}");
        }
        assert_eq!(group.len(), GROUP, "{group:?}");
    }
}

/// Checks that each file in `quarantine` is named by an event.
fn assert_quarantine_named(cli: &Cli, events: &[Event]) {
    let named: BTreeSet<&str> = events
        .iter()
        .filter(|event| event.kind == "log_tail_quarantined")
        .map(|event| event.payload["file"].as_str().unwrap())
        .collect();
    let Ok(kept) = std::fs::read_dir(cli.dir().join("teams/demo/quarantine")) else {
        assert!(named.is_empty(), "{named:?}");
        return;
    };
    for file in kept {
        let name = file.unwrap().file_name().into_string().unwrap();
        let is_it = |named: &&str| Path::new(named).file_name().unwrap() == &*name;
        assert!(named.iter().any(is_it), "{name} is named by no event");
    }
}

/// Writers that write all the time, and a killer that kills all of them together.
struct Storm<'a> {
    cli: &'a Cli,
    seed: u64,
    kills: usize,
    deadline: Instant,
    /// Maximum time between two kills in microseconds. This time allows a few commands.
    pace: u64,
    acknowledged: AtomicUsize,
    over: AtomicBool,
    at_work: [Mutex<Option<Child>>; WRITERS],
}

/// End of a process.
enum End {
    Acknowledged,
    Killed,
}

impl Storm<'_> {
    fn new(cli: &Cli, seed: u64, kills: usize, longest: Duration) -> Storm<'_> {
        let began = Instant::now();
        cli.ok("send demo --from lead --to qa --type handoff");
        let pace = (began.elapsed() * 4).max(Duration::from_millis(120));
        Storm {
            cli,
            seed,
            kills,
            deadline: Instant::now() + longest,
            pace: pace.as_micros() as u64,
            acknowledged: AtomicUsize::new(0),
            over: AtomicBool::new(false),
            at_work: Default::default(),
        }
    }

    /// Runs the writers and the killer. Returns the number of killed processes and the acknowledged writes.
    fn rage(&self) -> (usize, Acked) {
        std::thread::scope(|scope| {
            let writers: Vec<_> = (0..WRITERS)
                .map(|writer| scope.spawn(move || self.write(writer)))
                .collect();
            let killer = scope.spawn(|| self.kill());
            let killed = killer.join();
            // Stop the writers even if the killer failed.
            self.over.store(true, Ordering::Relaxed);
            killed.unwrap();
            let (mut kills, mut all) = (0, Acked::new());
            for writer in writers {
                let (killed, kind, acked) = writer.join().unwrap();
                kills += killed;
                all.entry(kind).or_default().extend(acked);
            }
            (kills, all)
        })
    }

    fn write(&self, writer: usize) -> (usize, &'static str, BTreeSet<String>) {
        let (mut killed, mut acked, mut n) = (0, BTreeSet::new(), 0);
        let kind = ["message_sent", "message_sent", "note_taken", "step_done"][writer];
        while !self.over.load(Ordering::Relaxed) {
            let name = format!("{writer}-{n}");
            let line = match kind {
                "message_sent" => {
                    format!("send demo --from lead --to dev --type handoff --message-id {name}")
                }
                "note_taken" => format!("append demo --kind note_taken --key {name}"),
                _ => self.batch(&name),
            };
            let end = self.run(writer, &line);
            if let End::Acknowledged = end {
                self.acknowledged.fetch_add(1, Ordering::Relaxed);
            }
            match end {
                End::Acknowledged if kind == "step_done" => {
                    acked.extend((0..LINES).map(|line| format!("{name}/{line}")));
                }
                End::Acknowledged => drop(acked.insert(name)),
                End::Killed => {
                    killed += 1;
                    // A killed message is repeated with its id. The other writers use a new name
                    // for each attempt.
                    if kind == "message_sent" {
                        continue;
                    }
                }
            }
            n += 1;
        }
        (killed, kind, acked)
    }

    fn batch(&self, name: &str) -> String {
        let line = |n| format!("{{\"kind\":\"step_done\",\"key\":\"{name}/{n}\"}}\n");
        let file = format!("{name}.jsonl");
        self.cli
            .file(&file, &(0..LINES).map(line).collect::<String>());
        format!("append demo --batch {file} --batch-size {GROUP}")
    }

    /// Runs a process until it succeeds or is killed. Any other end fails the test.
    fn run(&self, writer: usize, line: &str) -> End {
        let child = self
            .cli
            .command(line)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        *self.at_work[writer].lock().unwrap() = Some(child);
        loop {
            let mut slot = self.at_work[writer].lock().unwrap();
            if slot.as_mut().unwrap().try_wait().unwrap().is_some() {
                let ran = slot.take().unwrap().wait_with_output().unwrap();
                let ran = Ran::from_output(ran);
                match ran.code {
                    Some(0) => return End::Acknowledged,
                    None => return End::Killed,
                    Some(_) => {
                        self.over.store(true, Ordering::Relaxed);
                        panic!("{line}: {ran:?}");
                    }
                }
            }
            drop(slot);
            std::thread::sleep(Duration::from_micros(300));
        }
    }

    /// Kills all processes repeatedly: at a random time, directly after the log grew, or directly after its head changed.
    fn kill(&self) {
        let mut random = self.seed;
        let mut kills = 0;
        let mut moment = 0;
        // On a busy machine, the storm continues after its deadline until there are enough kills and writes.
        let enough = |kills: usize| {
            let few = kills < ENOUGH || self.acknowledged.load(Ordering::Relaxed) < ENOUGH;
            !few || Instant::now() >= self.deadline + LONGEST_WAIT
        };
        while kills < self.kills && Instant::now() < self.deadline || !enough(kills) {
            if self.over.load(Ordering::Relaxed) {
                return;
            }
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            // The pause lets some commands end before the kill.
            std::thread::sleep(Duration::from_micros(random % self.pace));
            match moment % 3 {
                0 => {}
                1 => self.until_changed(|| self.cli.segment("demo").metadata().unwrap().len()),
                _ => self.until_changed(|| {
                    let head = self.cli.dir().join("teams/demo/head");
                    std::fs::read(head).unwrap()
                }),
            }
            moment += 1;
            for slot in &self.at_work {
                if let Some(child) = slot.lock().unwrap().as_mut()
                    && child.try_wait().unwrap().is_none()
                {
                    child.kill().unwrap();
                    kills += 1;
                }
            }
        }
    }

    fn until_changed<T: PartialEq>(&self, look: impl Fn() -> T) {
        let before = look();
        let deadline = Instant::now() + Duration::from_millis(500);
        while look() == before && Instant::now() < deadline {
            std::hint::spin_loop();
        }
    }
}

fn seed() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    now.unwrap().as_nanos() as u64 | 1
}
