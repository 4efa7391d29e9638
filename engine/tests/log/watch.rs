//! Tests of waiting for a log to grow: no change is missed and no watch polls, even if the files are replaced.

use crate::support::{FORMATS, create, dir, events, options, say, writer, *};
use std::io::ErrorKind;
use std::thread;
use std::time::Instant;
use teamlog_engine::Watch;
use teamlog_engine::internals::layout::{HEAD_FILE, LOG_FILE};

/// A deadline that only a failing test reaches.
const LONG: Duration = Duration::from_secs(60);

struct World {
    log: Log,
    storage: Arc<dyn Storage>,
    /// The storage, if it has no notifications.
    blind: Option<Faulty>,
    _disk: Option<tempfile::TempDir>,
}

/// Creates logs on a disk, in memory, and on a storage without notifications.
fn worlds(format: Format, options: &LogOptions) -> Vec<World> {
    let disk = tempfile::tempdir().unwrap();
    let faulty = Faulty::new(Arc::new(Memory::new()));
    let storages: [Arc<dyn Storage>; 3] = [
        Arc::new(Files::open(disk.path()).unwrap()),
        Arc::new(Memory::new()),
        Arc::new(faulty.clone()),
    ];
    let (mut disk, mut blind) = (Some(disk), Some(faulty));
    storages
        .into_iter()
        .enumerate()
        .map(|(at, storage)| {
            given!(World; log: create(&storage, format, options), storage,
            blind: blind.take_if(|_| at == 2), _disk: disk.take_if(|_| at == 0))
        })
        .collect()
}

impl World {
    fn watch(&self) -> Watch {
        if let Some(faulty) = &self.blind {
            faulty.arm(faulty.count(), Fault::Error(ErrorKind::Unsupported));
        }
        let watch = self.log.watch().unwrap();
        if let Some(faulty) = &self.blind {
            assert!(faulty.calls().iter().any(|(call, _)| *call == "watch"));
        }
        watch
    }

    fn append(&self) {
        append(&self.log);
    }
}

fn append(log: &Log) {
    let writer = writer(log);
    say(&writer, "x");
}

fn stirred(watch: &mut Watch) -> bool {
    watch.wait(Some(Duration::ZERO)).unwrap()
}

fn each(test: impl Fn(&World)) {
    for format in FORMATS {
        for world in worlds(format, &options().1) {
            test(&world);
        }
    }
}

#[test]
fn a_change_since_the_last_call_is_told_once() {
    each(|world| {
        let mut watch = world.watch();
        assert!(!stirred(&mut watch));
        world.append();
        assert!(stirred(&mut watch));
        assert!(!stirred(&mut watch));
        world.append();
        world.append();
        assert!(stirred(&mut watch));
        assert!(!stirred(&mut watch));
    });
}

#[test]
fn nothing_is_missed_however_reading_and_writing_interleave() {
    each(|world| {
        const EVENTS: usize = 30;
        let mut watch = world.watch();
        thread::scope(|scope| {
            scope.spawn(|| (0..EVENTS).for_each(|_| world.append()));
            while events(&world.log).len() < EVENTS {
                assert!(watch.wait(Some(LONG)).unwrap(), "a change was missed");
            }
        });
        watch.wait(Some(Duration::ZERO)).unwrap();
        assert!(!stirred(&mut watch));
    });
}

#[test]
fn a_wait_without_a_limit_ends_with_the_change() {
    each(|world| {
        let mut watch = world.watch();
        thread::scope(|scope| {
            let waiting = scope.spawn(move || watch.wait(None).unwrap());
            thread::sleep(Duration::from_millis(30));
            world.append();
            assert!(waiting.join().unwrap());
        });
    });
}

#[test]
fn waiting_costs_no_looking_where_the_storage_tells() {
    each(|world| {
        let mut watch = world.watch();
        let before = watch.looks();
        assert!(!watch.wait(Some(Duration::from_millis(200))).unwrap());
        let looks = watch.looks() - before;
        match world.blind {
            None => assert!(looks <= 3, "{looks} looks at files that nobody changed"),
            Some(_) => assert!((2..=12).contains(&looks), "{looks} looks"),
        }
    });
}

#[test]
fn files_beside_the_head_wake_nobody() {
    each(|world| {
        let mut watch = world.watch();
        for name in ["views", "team.json", "lock"] {
            let path = dir().join(name);
            world.storage.replace(&path, b"other", false).unwrap();
        }
        assert!(!stirred(&mut watch));
    });
}

#[test]
fn it_goes_on_across_rotation() {
    for format in FORMATS {
        let (clock, mut options) = options();
        options.segment_bytes_max = 1_200;
        for world in worlds(format, &options) {
            let mut watch = world.watch();
            for n in 0..12 {
                world.append();
                assert!(stirred(&mut watch), "event {n}");
                // The clock passes midnight, so a new segment starts.
                clock.advance(8 * 3_600_000_000);
            }
            assert!(world.log.reader().unwrap().head().segment >= 4);
        }
    }
}

#[test]
fn a_head_that_was_replaced_is_followed_on() {
    each(|world| {
        let mut watch = world.watch();
        let path = dir().join(HEAD_FILE);
        for _ in 0..3 {
            let bytes = world.storage.read(&path, 4096).unwrap();
            world.storage.replace(&path, &bytes, false).unwrap();
            // The head file was replaced by an identical one. A wake-up for this is allowed but not required, so the result is ignored.
            stirred(&mut watch);
            thread::scope(|scope| {
                let waiting = scope.spawn(|| watch.wait(Some(LONG)).unwrap());
                thread::sleep(Duration::from_millis(30));
                let started = Instant::now();
                world.append();
                assert!(waiting.join().unwrap());
                // The notification woke the watch, and not the regular check every five seconds.
                assert!(started.elapsed() < Duration::from_secs(4));
            });
        }
    });
}

#[test]
fn another_log_in_the_place_of_this_one_is_told() {
    each(|world| {
        let other = create_aside(&world.storage, world.log.identity().format, 1);
        let mut watch = world.watch();
        // A conversion replaces the head first and `log.json` last.
        for name in [HEAD_FILE, LOG_FILE] {
            world
                .storage
                .rename(&other.dir().join(name), &dir().join(name))
                .unwrap();
            assert!(stirred(&mut watch), "{name}");
        }
        // A restore replaces the directory as a whole.
        let whole = create_aside(&world.storage, world.log.identity().format, 2);
        thread::scope(|scope| {
            let waiting = scope.spawn(|| watch.wait(Some(LONG)).unwrap());
            let old = Path::new("teams/.old");
            world.storage.rename(&dir(), old).unwrap();
            world.storage.rename(whole.dir(), &dir()).unwrap();
            assert!(waiting.join().unwrap());
            world.storage.remove_dir_all(old).unwrap();
        });
        while stirred(&mut watch) {}
        append(&crate::support::open(&world.storage, &options().1));
        assert!(watch.wait(Some(Duration::from_secs(4))).unwrap());
    });
}

/// Creates a log with its own id beside the first log.
fn create_aside(storage: &Arc<dyn Storage>, format: Format, seed: u64) -> Log {
    let new = given!(teamlog_engine::NewLog; name: "demo", format, origin: "restore");
    let options = given!(LogOptions, ids: Arc::new(teamlog_engine::SeededIds(seed.into())),
        ..options().1);
    let _ = storage.remove_dir_all(Path::new("teams/aside"));
    Log::create(storage.clone(), Path::new("teams/aside"), new, options).unwrap()
}
