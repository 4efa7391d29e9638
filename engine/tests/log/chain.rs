//! Tests of the chain of digests. The chain shows that a sealed segment was changed, even if the CRCs of the segment were
//! corrected.

use crate::support::forge::{self, chain_again, change_an_event};
use crate::support::*;
use teamlog_engine::internals::layout::DIGESTS_FILE;
use teamlog_engine::{Receipt, ReceiptStatus, backup};

fn opts() -> LogOptions {
    given!(LogOptions, segment_bytes_max: 2_000, ..options().1)
}

/// Creates a log of four segments.
fn log(storage: &Arc<dyn Storage>, format: Format) -> Log {
    let log = create(storage, format, &opts());
    grow(&log, 4);
    log
}

fn grow(log: &Log, segments: usize) {
    let storage = log.storage().clone();
    while forge::names(storage.as_ref()).len() < segments {
        let writer = writer(log);
        let event = said(&"x".repeat(150));
        writer.append(vec![event], Durability::Synced).unwrap();
        writer.close().unwrap();
    }
}

fn receipt(log: &Log) -> Receipt {
    log.reader().unwrap().receipt().unwrap().unwrap()
}

fn first_backup(log: &Log) -> Result<backup::BackupReport, Error> {
    let now = opts().clock.now();
    let to: Arc<dyn Storage> = Arc::new(Memory::new());
    backup::back_up(&log.reader()?, &to, Path::new("demo"), now, Duration::ZERO)
}

#[test]
fn a_changed_sealed_segment_is_noticed_by_all_who_rely_on_it() {
    for format in FORMATS {
        let whole = Memory::new();
        let receipt = receipt(&log(&arc(&whole), format));
        let names = forge::names(&whole);
        for changed in 0..3 {
            // Update the digests in the headers of the next `chained` segments.
            for chained in 0..3 - changed {
                let what = format!("{format:?}: segment {changed}, {chained} headers");
                let memory = whole.snapshot();
                let log = open(&arc(&memory), &opts());
                assert_eq!(
                    log.check_receipt(&receipt).unwrap(),
                    ReceiptStatus::Holds,
                    "{what}"
                );
                log.reader().unwrap().check_chain().unwrap();
                first_backup(&log).unwrap();
                assert!(log.verify(Some(&receipt)).unwrap().ok, "{what}");

                change_an_event(&memory, format, &names[changed]);
                (0..chained).for_each(|index| chain_again(&memory, format, changed + 1 + index));
                // All events can be read without an error, although one was changed.
                assert!(!events(&log).is_empty(), "{what}");
                let status = log.check_receipt(&receipt).unwrap();
                let ReceiptStatus::ChangedBefore { file, .. } = &status else {
                    panic!("{what}: {status:?}");
                };
                assert_eq!(*file, forge::path(&names[changed + chained]), "{what}");
                for error in [
                    log.reader().unwrap().check_chain().unwrap_err(),
                    first_backup(&log).unwrap_err(),
                ] {
                    assert!(
                        matches!(&error, Error::Corrupt { path, .. } if path == file),
                        "{what}: {error}"
                    );
                }
                assert!(!log.verify(Some(&receipt)).unwrap().ok, "{what}");
            }
            // If all later headers are updated, the segment of the receipt differs. Without a receipt, nothing shows the change.
            let memory = whole.snapshot();
            let log = open(&arc(&memory), &opts());
            change_an_event(&memory, format, &names[changed]);
            (changed + 1..4).for_each(|index| chain_again(&memory, format, index));
            assert_eq!(log.check_receipt(&receipt).unwrap(), ReceiptStatus::Changed);
            assert!(!log.verify(Some(&receipt)).unwrap().ok);
            log.reader().unwrap().check_chain().unwrap();
        }
        // Damage 0 removes a segment; damage 1 replaces a segment by a segment of another log.
        for damage in [0, 1] {
            let memory = whole.snapshot();
            match damage {
                0 => memory.remove_file(&forge::path(&names[1])).unwrap(),
                _ => {
                    let mut segment = forge::Segment::read(&memory, format, &names[1]);
                    segment.header.log = [7; 16];
                    segment.write(&memory, format, &names[1]);
                }
            }
            let status = open(&arc(&memory), &opts())
                .check_receipt(&receipt)
                .unwrap();
            assert!(
                matches!(status, ReceiptStatus::ChangedBefore { .. }),
                "{status:?}"
            );
        }
    }
}

#[test]
fn what_was_hashed_is_not_hashed_again_until_its_file_changes() {
    for format in FORMATS {
        let memory = Memory::new();
        let log = log(&arc(&memory), format);
        let receipt = receipt(&log);
        grow(&log, 5);
        let reads = || {
            let before = memory.calls()["read_at"];
            assert_eq!(log.check_receipt(&receipt).unwrap(), ReceiptStatus::Holds);
            memory.calls()["read_at"] - before
        };
        let (first, second) = (reads(), reads());
        // Three sealed segments precede the segment of the receipt. The second check reads their digests from the file of
        // digests.
        assert_eq!(first, second + 2, "{format:?}");
        let digests = dir().join(DIGESTS_FILE);
        let kept = forge::read(&memory, &digests);
        // A damaged file of digests is ignored.
        for bad in [&b""[..], b"nonsense", &kept[..kept.len() - 2]] {
            forge::write(&memory, &digests, bad);
            assert_eq!(reads(), first + u64::from(!bad.is_empty()), "{format:?}");
            assert_eq!(forge::read(&memory, &digests), kept);
        }
        let mut forged = kept.clone();
        let digit = forged.len() - 10;
        forged[digit] = if forged[digit] == b'0' { b'1' } else { b'0' };
        forge::write(&memory, &digests, &forged);
        assert_eq!(reads(), first + 1, "{format:?}: its checksum does not fit");
        // A segment that was written again is hashed again, even if its bytes are the same.
        let path = forge::path(&forge::names(&memory)[1]);
        forge::write(&memory, &path, &forge::read(&memory, &path));
        assert_eq!(reads(), second + 1, "{format:?}");
        assert_eq!(reads(), second, "{format:?}");
    }
}

#[test]
fn setting_the_time_of_a_changed_file_back_hides_nothing() {
    for format in FORMATS {
        let root = tempfile::tempdir().unwrap();
        let storage: Arc<dyn Storage> = Arc::new(Files::open(root.path()).unwrap());
        let log = log(&storage, format);
        let receipt = receipt(&log);
        // The file system's clock is coarse. Digests of files that are younger than the clock's last tick are not kept, so wait
        // for a tick.
        let digests = root.path().join(dir()).join(DIGESTS_FILE);
        for _ in 0..1_000 {
            assert_eq!(log.check_receipt(&receipt).unwrap(), ReceiptStatus::Holds);
            let kept = std::fs::read_to_string(&digests).unwrap_or_default();
            if kept.matches("blake3").count() == 3 {
                break;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        assert!(digests.exists());
        let name = forge::names(storage.as_ref())[1].clone();
        let path = root.path().join(forge::path(&name));
        let modified = std::fs::metadata(&path).unwrap().modified().unwrap();
        change_an_event(storage.as_ref(), format, &name);
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.set_modified(modified).unwrap();
        drop(file);
        assert_eq!(
            std::fs::metadata(&path).unwrap().modified().unwrap(),
            modified
        );
        let status = log.check_receipt(&receipt).unwrap();
        assert!(
            matches!(&status, ReceiptStatus::ChangedBefore { file, .. } if *file == forge::path(&name)),
            "{status:?}"
        );
    }
}
