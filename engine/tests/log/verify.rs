//! Tests of every kind of problem that `verify` reports, in both formats. A test damages a real log, and `verify` must report exactly the
//! expected problems.

use crate::support::forge::{self, Segment, chain_again, change_an_event};
use crate::support::*;
use teamlog_engine::backup::{self, Backup};
use teamlog_engine::internals::journal::MemoryJournal;
use teamlog_engine::verify::{ProblemKind, Report};
use teamlog_engine::{Event, Receipt};

fn opts() -> LogOptions {
    given!(LogOptions, segment_bytes_max: 2_000, ..options().1)
}

/// A log with four segments: three segments of one day, and one segment of the next day.
struct World {
    format: Format,
    memory: Memory,
    /// The head when the first segment was active.
    first_head: Vec<u8>,
    /// The log when the first segment was active.
    before: Memory,
    receipt: Receipt,
}

impl World {
    fn new(format: Format) -> World {
        let memory = Memory::new();
        let storage: Arc<dyn Storage> = Arc::new(memory.clone());
        let (clock, options) = options();
        let options = given!(LogOptions, segment_bytes_max: 2_000, ..options);
        let log = create(&storage, format, &options);
        let (mut first_head, mut before) = (Vec::new(), memory.snapshot());
        for round in 0.. {
            if forge::names(&memory).len() == 3 {
                break;
            }
            say(&log, round);
            if round == 0 {
                first_head = forge::read(&memory, &dir().join("head"));
                before = memory.snapshot();
            }
        }
        clock.advance(86_400_000_000);
        (100..102).for_each(|round| say(&log, round));
        let receipt = log.reader().unwrap().receipt().unwrap().unwrap();
        assert_eq!(forge::names(&memory).len(), 4);
        given!(World; format, memory, first_head, before, receipt)
    }

    fn names(&self) -> Vec<String> {
        forge::names(&self.memory)
    }
    fn last(&self) -> String {
        self.names()[3].clone()
    }
    fn head(&self) -> Head {
        let storage: Arc<dyn Storage> = Arc::new(self.memory.clone());
        open(&storage, &opts()).reader().unwrap().head().clone()
    }
    /// Damages a copy of the log by `damage`, and returns the report.
    fn after(&self, damage: impl FnOnce(&Memory)) -> Report {
        self.against(None, damage)
    }
    fn against(&self, receipt: Option<&Receipt>, damage: impl FnOnce(&Memory)) -> Report {
        let memory = self.memory.snapshot();
        damage(&memory);
        report(&memory, receipt)
    }
    fn with_head(&self, head: &Head) -> Report {
        let storage: Arc<dyn Storage> = Arc::new(self.memory.clone());
        let file = head.file(open(&storage, &opts()).identity().log);
        self.after(|memory| forge::write(memory, &dir().join("head"), &file))
    }
    /// Changes the last segment of a copy by `change`, and returns the report.
    fn with_last(&self, change: impl FnOnce(&mut Segment)) -> Report {
        self.after(|memory| {
            let mut segment = Segment::read(memory, self.format, &self.last());
            change(&mut segment);
            segment.write(memory, self.format, &self.last());
        })
    }
    fn receipt(&self, change: impl FnOnce(&mut Receipt)) -> Report {
        let mut receipt = self.receipt.clone();
        change(&mut receipt);
        self.against(Some(&receipt), |_| {})
    }
}

fn say(log: &teamlog_engine::Log, round: usize) {
    let events = (0..1 + round % 2).map(|n| said(&format!("{round}.{n} {}", "x".repeat(150))));
    let writer = writer(log);
    writer
        .append(events.collect(), Durability::Synced)
        .unwrap()
        .unwrap();
    writer.close().unwrap();
}

fn report(memory: &Memory, receipt: Option<&Receipt>) -> Report {
    let storage: Arc<dyn Storage> = Arc::new(memory.clone());
    open(&storage, &opts()).verify(receipt).unwrap()
}

/// Returns ways to cause a kind of problem: a description, the report, and every expected kind, in order.
fn cases(world: &World, kind: ProblemKind) -> Vec<(&'static str, Report, Vec<ProblemKind>)> {
    let (format, names) = (world.format, world.names());
    let last = forge::path(&world.last());
    let (sealed, head) = (forge::path(&names[1]), dir().join("head"));
    // Damage a byte of the first event.
    let first = |path: &Path| {
        let bytes = forge::read(&world.memory, path);
        let (_, header) = SegmentHeader::decode(format, &bytes).unwrap();
        header as u64 + 60
    };
    let one = |what, report| vec![(what, report, vec![kind])];
    // There is no catch-all arm, so that a new kind does not compile without a case.
    match kind {
        ProblemKind::DamagedEvent => vec![
            (
                "a bit of the last segment",
                world.after(|memory| memory.corrupt(&last, first(&last), 1).unwrap()),
                vec![kind],
            ),
            (
                "a bit of a sealed segment",
                world.after(|memory| memory.corrupt(&sealed, first(&sealed), 1).unwrap()),
                vec![kind, ProblemKind::BrokenChain],
            ),
        ],
        ProblemKind::DamagedHeader => one(
            "a bit of a header",
            world.after(|memory| memory.corrupt(&last, 60, 1).unwrap()),
        ),
        ProblemKind::DamagedHead => vec![
            (
                "one slot of the head",
                world.after(|memory| memory.corrupt(&head, 40, 1).unwrap()),
                vec![kind],
            ),
            (
                "both slots of the head",
                world.after(|memory| {
                    memory.corrupt(&head, 40, 1).unwrap();
                    memory.corrupt(&head, 552, 1).unwrap();
                }),
                vec![kind],
            ),
        ],
        ProblemKind::MissingHead => one(
            "the head removed",
            world.after(|memory| memory.remove_file(&head).unwrap()),
        ),
        ProblemKind::StaleHead => one(
            "an older head put back",
            world.after(|memory| forge::write(memory, &head, &world.first_head)),
        ),
        ProblemKind::LostEvents => one(
            "the last group removed",
            world.with_last(|segment| drop(segment.groups.pop())),
        ),
        ProblemKind::RolledBack => one(
            "an older state put back beside the lock file",
            world.after(|memory| {
                for name in names.iter().map(|name| forge::path(name)) {
                    memory.remove_file(&name).unwrap();
                }
                for name in forge::names(&world.before) {
                    let path = forge::path(&name);
                    forge::write(memory, &path, &forge::read(&world.before, &path));
                }
                forge::write(memory, &head, &forge::read(&world.before, &head));
            }),
        ),
        ProblemKind::MissingSegment => vec![
            (
                "a sealed segment removed",
                world.after(|memory| memory.remove_file(&forge::path(&names[2])).unwrap()),
                vec![kind, ProblemKind::MissingEvents],
            ),
            (
                "the last segment removed",
                world.after(|memory| memory.remove_file(&last).unwrap()),
                vec![kind],
            ),
        ],
        ProblemKind::MissingEvents => one(
            "the last segment begins five events later",
            world.with_last(|segment| {
                segment.header.first_seq += 5;
                for event in segment.groups.iter_mut().flatten() {
                    event.seq += 5;
                }
            }),
        ),
        ProblemKind::BrokenChain => vec![
            (
                "an event of a sealed segment changed, its CRC with it",
                world.after(|memory| change_an_event(memory, format, &names[1])),
                vec![kind],
            ),
            (
                "the next header changed as well",
                world.after(|memory| {
                    change_an_event(memory, format, &names[0]);
                    chain_again(memory, format, 1);
                }),
                vec![kind],
            ),
            (
                "a header that names another segment before it",
                world.with_last(|segment| {
                    segment.header.previous.as_mut().unwrap().name = names[0].clone();
                }),
                vec![kind],
            ),
            (
                "a header that names none",
                world.with_last(|segment| segment.header.previous = None),
                vec![kind],
            ),
        ],
        ProblemKind::ForeignSegment => vec![
            (
                "a segment of another log",
                world.with_last(|segment| segment.header.log = [7; 16]),
                vec![kind],
            ),
            (
                "a segment of another team",
                world.with_last(|segment| segment.header.name = "else".into()),
                vec![kind],
            ),
        ],
        ProblemKind::MisplacedEvent => {
            let name = world.last().replace("2026-11-22", "2026-11-23");
            let moved = given!(Head, name: name.clone(), ..world.head());
            let storage: Arc<dyn Storage> = Arc::new(world.memory.clone());
            let slots = moved.file(open(&storage, &opts()).identity().log);
            one(
                "the last segment under the name of another day",
                world.after(|memory| {
                    memory.rename(&last, &forge::path(&name)).unwrap();
                    forge::write(memory, &head, &slots);
                }),
            )
        }
        ProblemKind::TornTail => one(
            "half a write behind the head",
            world.after(|memory| {
                let mut bytes = forge::read(memory, &last);
                bytes.extend_from_slice(b"{\"seq\":");
                forge::write(memory, &last, &bytes);
            }),
        ),
        ProblemKind::UnfinishedCut => one(
            "a head that cuts",
            world.with_head(&given!(Head, cutting: true, ..world.head())),
        ),
        ProblemKind::UnsyncedTail => {
            let memory = Memory::new();
            let options = through(MemoryJournal::default(), &opts());
            let writer = writer(&create_shared(&arc(&memory), format, &options));
            for text in ["a", "b"] {
                crate::support::say(&writer, text);
            }
            writer.release().unwrap();
            let events = dir().join("events");
            let (name, bytes) = tree(&memory, &events).pop_first().unwrap();
            forge::write(&memory, &events.join(name), &bytes[..bytes.len() - 1]);
            one("a replica that lost its end", report(&memory, None))
        }
        ProblemKind::UnknownFile => one(
            "a file that is no segment",
            world.after(|memory| forge::write(memory, &forge::path("notes.txt"), b"x")),
        ),
        ProblemKind::ReceiptOfAnotherLog => one(
            "a receipt of another log",
            world.receipt(|receipt| receipt.log = "00000000-0000-0000-0000-000000000000".into()),
        ),
        ProblemKind::ReceiptMalformed => one(
            "a receipt of ../log.json",
            world.receipt(|receipt| receipt.segment = "../log.json".into()),
        ),
        ProblemKind::CutBelowReceipt => vec![
            (
                "the log as it was before the receipt",
                report(&world.before, Some(&world.receipt)),
                vec![kind],
            ),
            (
                "a receipt that vouches for more events than its bytes hold",
                world.receipt(|receipt| receipt.seq += 1),
                vec![kind],
            ),
            (
                "the last segment shorter than its head and the receipt say",
                world.against(Some(&world.receipt), |memory| {
                    let mut segment = Segment::read(memory, format, &world.last());
                    segment.groups.pop();
                    segment.write(memory, format, &world.last());
                }),
                vec![ProblemKind::LostEvents, kind],
            ),
        ],
        ProblemKind::ChangedSinceReceipt => one(
            "an event of the receipt's own segment changed",
            world.against(Some(&world.receipt), |memory| {
                change_an_event(memory, format, &world.last());
            }),
        ),
        ProblemKind::ChangedBackup => {
            let kept = Memory::new();
            let (from, to): (Arc<dyn Storage>, Arc<dyn Storage>) =
                (Arc::new(world.memory.clone()), Arc::new(kept.clone()));
            let log = open(&from, &opts());
            let reader = log.reader().unwrap();
            let now = opts().clock.now();
            backup::back_up(&reader, &to, Path::new("demo"), now, opts().lock_deadline).unwrap();
            let events = Path::new("demo").join(&world.receipt.log).join("events");
            let mut bytes = forge::read(&kept, &events.join(&names[3]));
            let text = bytes.windows(3).position(|three| three == b"xxx").unwrap();
            bytes.truncate(text);
            forge::write(&kept, &events.join(&names[3]), &bytes);
            let backup = Backup::open(to, Path::new("demo"), opts()).unwrap();
            vec![(
                "a file of a backup cut short",
                backup.verify().unwrap(),
                vec![ProblemKind::DamagedEvent, ProblemKind::LostEvents, kind],
            )]
        }
    }
}

#[test]
fn every_kind_of_problem_is_found_and_nothing_but_it() {
    for format in FORMATS {
        let world = World::new(format);
        let sound = report(&world.memory, Some(&world.receipt));
        assert!(sound.ok && sound.problems.is_empty(), "{sound:?}");
        for kind in &ProblemKind::ALL {
            for (what, report, expected) in cases(&world, *kind) {
                let found: Vec<ProblemKind> =
                    report.problems.iter().map(|found| found.kind).collect();
                assert!(expected.contains(kind), "{what}");
                assert_eq!(found, expected, "{format:?}, {what}: {report:?}");
                let warning = [
                    ProblemKind::MissingHead,
                    ProblemKind::TornTail,
                    ProblemKind::UnsyncedTail,
                    ProblemKind::UnfinishedCut,
                    ProblemKind::UnknownFile,
                ];
                let harmless = warning.contains(kind) || what == "one slot of the head";
                assert_eq!(report.ok, harmless, "{format:?}, {what}: {report:?}");
            }
        }
    }
}

/// Returns a segment's bytes with an additional group. The second frame of the group names another group size than the first frame.
fn disagreeing(
    format: Format,
    bytes: &[u8],
    events: &[Event<'static>],
    sizes: [usize; 2],
) -> Vec<u8> {
    let mut all = bytes.to_vec();
    for (index, size) in sizes.into_iter().enumerate() {
        let mut group = Vec::new();
        let frames = encode_group(format, &events[..size], &mut group);
        let start: usize = frames[..index].iter().map(|len| *len as usize).sum();
        all.extend_from_slice(&group[start..start + frames[index] as usize]);
    }
    all
}

#[test]
fn frames_of_one_group_that_disagree_on_its_size_are_no_group() {
    for format in FORMATS {
        for sizes in [[2, 3], [3, 2]] {
            let memory = Memory::new();
            let storage = arc(&memory);
            let log = create(&storage, format, &options().1);
            let writer = writer(&log);
            crate::support::say(&writer, "one");
            let head = dir().join("head");
            let (before, start) = (forge::read(&memory, &head), writer.head().end as usize);
            writer
                .append(vec![said("a"), said("b"), said("c")], Durability::Synced)
                .unwrap();
            drop(writer);
            let path = segment(format);
            let sound = forge::read(&memory, &path);
            let events = events(&log).split_off(1);
            let bytes = disagreeing(format, &sound[..start], &events, sizes);
            forge::write(&memory, &path, &bytes);
            // If the old head stays, the group is a tail after the head, which recovery moves to quarantine.
            let torn = memory.snapshot();
            forge::write(&torn, &head, &before);
            forget_witness(&torn);
            let log = open(&arc(&torn), &options().1);
            let lock = log.lock().unwrap();
            shows!(lock.recovered()[0] => starts "moved ");
            drop(lock);
            assert_eq!(texts(&log), ["one"]);
            // If the head covers the group, the group is damage. A reader reports this damage, and the verification does, too.
            let named = memory.snapshot();
            let id = log.identity().log;
            let slots = teamlog_engine::internals::head::read_slots(&named, &dir(), id);
            let mut known = slots.unwrap().newest.unwrap();
            (known.end, known.last_seq, known.last_id) =
                (bytes.len() as u64, 3, Some(events[1].id));
            forge::write(&named, &head, &known.file(id));
            let log = open(&arc(&named), &options().1);
            let read: Result<Vec<_>, _> = log.peek().unwrap().events(None).collect();
            shows!(read.unwrap_err().to_string() => has "in its group");
            let problems = log.verify(None).unwrap().problems;
            assert_eq!(problems[0].kind, ProblemKind::DamagedEvent, "{problems:?}");
        }
    }
}
