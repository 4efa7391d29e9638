//! Tests of the storage that fails on purpose.

use super::*;
use crate::storage::Memory;
use crate::storage::locks_test::testing_locks;
use crate::storage::test_support::{fails, path};
use std::io::ErrorKind;

fn faulty() -> (Memory, Faulty) {
    let memory = Memory::new();
    (memory.clone(), Faulty::new(Arc::new(memory)))
}

/// Calls every method of the storage once on an empty tree; stops at the first error.
fn everything(storage: &dyn Storage) -> io::Result<()> {
    storage.create_dir(path("d"))?;
    let file = storage.open(path("d/f"), OpenMode::CreateNew)?;
    file.write_all_at(b"abcdef", 0)?;
    file.sync_data()?;
    file.set_len(5)?;
    file.sync_all()?;
    assert_eq!(file.stat()?.len, 5);
    file.read_exact_at(&mut [0; 5], 0)?;
    storage.sync_dir(path("d"))?;
    storage.rename(path("d/f"), path("d/g"))?;
    assert!(storage.stat(path("d/g"))?.is_some());
    assert_eq!(storage.list(path("d"))?, ["g"]);
    assert_eq!(&*storage.sealed(path("d/g"))?, b"abcde");
    match storage.lock(path("d/lock"), Duration::ZERO) {
        Ok(held) => drop(held),
        Err(LockError::Io(error)) => return Err(error),
        Err(LockError::Busy(holder)) => panic!("{holder}"),
    }
    storage.remove_file(path("d/g"))?;
    storage.remove_dir_all(path("d"))
}

const CALLS: [(&str, &str); 16] = [
    ("create_dir", "d"),
    ("open", "d/f"),
    ("write_at", "d/f"),
    ("sync_data", "d/f"),
    ("set_len", "d/f"),
    ("sync_all", "d/f"),
    ("file_stat", "d/f"),
    ("read_at", "d/f"),
    ("sync_dir", "d"),
    ("rename", "d/f"),
    ("stat", "d/g"),
    ("list", "d"),
    ("sealed", "d/g"),
    ("lock", "d/lock"),
    ("remove_file", "d/g"),
    ("remove_dir_all", "d"),
];

#[test]
fn counts_and_names_every_call() {
    let (_, faulty) = faulty();
    everything(&faulty).unwrap();
    let calls = faulty.calls();
    let calls: Vec<_> = calls
        .iter()
        .map(|(name, path)| (*name, path.to_str().unwrap()))
        .collect();
    assert_eq!(calls, CALLS);
    assert_eq!(faulty.count(), CALLS.len());
}

#[test]
fn every_call_can_fail_alone_and_then_does_nothing() {
    for (index, (name, _)) in CALLS.iter().enumerate() {
        for (fault, kind) in [
            (
                Fault::Error(io::ErrorKind::QuotaExceeded),
                io::ErrorKind::QuotaExceeded,
            ),
            (
                Fault::Os(Errno::NOSPC.raw_os_error()),
                io::ErrorKind::StorageFull,
            ),
        ] {
            let (memory, faulty) = faulty();
            faulty.arm(index, fault);
            assert_eq!(everything(&faulty).unwrap_err().kind(), kind, "{name}");
            assert_eq!(faulty.count(), index + 1);
            assert_eq!(
                memory.calls().get(name),
                None,
                "the call reached the memory"
            );
            faulty.stat(path("d")).unwrap();
        }
    }
}

#[test]
fn a_stop_is_for_ever_and_known() {
    for index in 0..CALLS.len() {
        let (memory, faulty) = faulty();
        faulty.arm(index, Fault::Stop);
        assert!(Faulty::is_stop(&everything(&faulty).unwrap_err()));
        let done = memory.calls();
        assert!(Faulty::is_stop(&everything(&faulty).unwrap_err()));
        assert!(
            matches!(faulty.lock(path("l"), Duration::ZERO), Err(LockError::Io(error)) if Faulty::is_stop(&error))
        );
        assert_eq!(
            memory.calls(),
            done,
            "a call after the stop reached the memory"
        );
    }
    assert!(!Faulty::is_stop(&io::Error::other("another")));
    assert!(!Faulty::is_stop(&io::ErrorKind::Other.into()));
}

#[test]
fn a_stop_reaches_files_that_are_open() {
    let (memory, faulty) = faulty();
    let file = faulty.open(path("f"), OpenMode::Create).unwrap();
    file.write_all_at(b"one", 0).unwrap();
    faulty.arm(2, Fault::Stop);
    assert!(Faulty::is_stop(&file.write_all_at(b"two", 3).unwrap_err()));
    assert!(Faulty::is_stop(&file.sync_data().unwrap_err()));
    assert_eq!(memory.read(path("f"), 9).unwrap(), b"one");
}

#[test]
fn a_short_write_leaves_half_and_fails() {
    let (memory, faulty) = faulty();
    let file = faulty.open(path("f"), OpenMode::Create).unwrap();
    faulty.arm(1, Fault::ShortWrite);
    fails(file.write_all_at(b"abcdef", 0), ErrorKind::StorageFull);
    assert_eq!(memory.read(path("f"), 9).unwrap(), b"abc");
    file.write_all_at(b"abcdef", 0).unwrap();
    assert_eq!(memory.read(path("f"), 9).unwrap(), b"abcdef");
}

#[test]
fn partial_writes_and_short_reads_are_invisible_to_whole_ones() {
    let (memory, faulty) = faulty();
    let file = faulty.open(path("f"), OpenMode::Create).unwrap();
    faulty.arm(1, Fault::PartialWrite);
    faulty.arm(2, Fault::PartialWrite);
    file.write_all_at(b"abcdefgh", 0).unwrap();
    assert_eq!(memory.calls()["write_at"], 3);
    faulty.arm(4, Fault::ShortRead);
    let mut buf = [0; 8];
    assert_eq!(file.read_at(&mut buf, 0).unwrap(), 4);
    for index in 5..8 {
        faulty.arm(index, Fault::ShortRead);
    }
    file.read_exact_at(&mut buf, 0).unwrap();
    assert_eq!(&buf, b"abcdefgh");
    assert_eq!(faulty.count(), 9);
}

#[test]
fn faults_of_reads_and_writes_leave_other_calls_alone() {
    for fault in [Fault::ShortRead, Fault::ShortWrite, Fault::PartialWrite] {
        for (index, (name, _)) in CALLS.iter().enumerate() {
            let (_, faulty) = faulty();
            faulty.arm(index, fault);
            let fails = fault == Fault::ShortWrite && *name == "write_at";
            assert_eq!(everything(&faulty).is_err(), fails, "{fault:?} at {name}");
        }
    }
}

#[test]
fn a_torn_write_of_a_dying_process() {
    let (memory, faulty) = faulty();
    let file = faulty.open(path("f"), OpenMode::Create).unwrap();
    faulty.arm(1, Fault::ShortWrite);
    faulty.arm(2, Fault::Stop);
    assert!(file.write_all_at(b"abcdef", 0).is_err());
    assert!(Faulty::is_stop(&file.set_len(0).unwrap_err()));
    assert_eq!(memory.read(path("f"), 9).unwrap(), b"abc");
}

#[test]
fn locks_pass_through() {
    let (_, faulty) = faulty();
    testing_locks(Arc::new(faulty));
}
