//! Tests of files on a disk.

use super::*;
use crate::storage::locks_test::testing_locks;
use crate::storage::test_support::{fails, path};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::process::{Command, Stdio};
use std::sync::Arc;
use tempfile::TempDir;

const NOW: Duration = Duration::ZERO;

/// Opens a directory twice as a root: as usual, and without the system call `openat2`.
fn roots() -> (TempDir, [Files; 2]) {
    let dir = tempfile::tempdir().unwrap();
    let walking = Files::open(dir.path()).unwrap();
    walking.root_dir.walk_only();
    let files = Files::open(dir.path()).unwrap();
    (dir, [files, walking])
}

fn root() -> (TempDir, Files) {
    let (dir, [files, _]) = roots();
    (dir, files)
}

fn error(files: &Files, at: &str, how: OpenMode) -> io::Error {
    files
        .open(path(at), how)
        .err()
        .unwrap_or_else(|| panic!("{at} was opened"))
}

#[test]
fn create_makes_a_private_root_with_parents_and_open_wants_it_there() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("a/b");
    fails(Files::open(&root), ErrorKind::NotFound);
    Files::create(&root).unwrap();
    Files::create(&root).unwrap();
    let mode = fs::metadata(&root).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    fs::write(dir.path().join("file"), "").unwrap();
    assert!(Files::create(&dir.path().join("file")).is_err());
    assert!(Files::create(&dir.path().join("file/below")).is_err());
}

#[test]
fn the_root_may_be_reached_through_a_link_and_stays_the_same_directory() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("real")).unwrap();
    symlink("real", dir.path().join("link")).unwrap();
    let files = Files::open(&dir.path().join("link")).unwrap();
    fs::rename(dir.path().join("real"), dir.path().join("moved")).unwrap();
    files.open(path("f"), OpenMode::CreateNew).unwrap();
    assert!(dir.path().join("moved/f").is_file());
}

#[test]
fn reads_and_writes_at_offsets() {
    let (_dir, both) = roots();
    for (files, name) in both.iter().zip(["one", "two"]) {
        let file = files.open(path(name), OpenMode::CreateNew).unwrap();
        file.write_all_at(b"hello world", 0).unwrap();
        file.write_all_at(b"W", 6).unwrap();
        file.sync_data().unwrap();
        file.sync_all().unwrap();
        let mut buf = [0; 5];
        file.read_exact_at(&mut buf, 6).unwrap();
        assert_eq!(&buf, b"World");
        assert_eq!(file.read_at(&mut buf, 11).unwrap(), 0);
        fails(file.read_exact_at(&mut buf, 7), ErrorKind::UnexpectedEof);
        file.set_len(5).unwrap();
        assert_eq!(files.read(path(name), 5).unwrap(), b"hello");
        fails(files.read(path(name), 4), ErrorKind::FileTooLarge);
        let stat = file.stat().unwrap();
        assert_eq!(files.stat(path(name)).unwrap(), Some(stat));
        assert_eq!((stat.len, stat.is_dir), (5, false));
    }
}

#[test]
fn each_way_to_open_does_what_it_says() {
    let (_dir, both) = roots();
    for files in both {
        fails(files.open(path("f"), OpenMode::Read), ErrorKind::NotFound);
        fails(files.open(path("f"), OpenMode::Write), ErrorKind::NotFound);
        files
            .open(path("f"), OpenMode::CreateNew)
            .unwrap()
            .write_all_at(b"kept", 0)
            .unwrap();
        fails(
            files.open(path("f"), OpenMode::CreateNew),
            ErrorKind::AlreadyExists,
        );
        files.open(path("f"), OpenMode::Create).unwrap();
        assert_eq!(files.read(path("f"), 9).unwrap(), b"kept");
        let reader = files.open(path("f"), OpenMode::Read).unwrap();
        assert!(reader.write_at(b"x", 0).is_err());
        files.remove_file(path("f")).unwrap();
    }
}

#[test]
fn new_files_and_directories_are_private_and_close_on_exec() {
    let (dir, both) = roots();
    for (files, name) in both.iter().zip(["one", "two"]) {
        files
            .create_dir_all(path(name).join("deep/er").as_path())
            .unwrap();
        let (file, _) = files
            .regular(&path(name).join("f"), OpenMode::CreateNew)
            .unwrap();
        assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o600);
        let deep = fs::metadata(dir.path().join(name).join("deep/er"));
        assert_eq!(deep.unwrap().mode() & 0o777, 0o700);
        for flags in [
            rustix::io::fcntl_getfd(&file),
            rustix::io::fcntl_getfd(files.root_dir.root()),
        ] {
            assert!(flags.unwrap().contains(rustix::io::FdFlags::CLOEXEC));
        }
        let flags = rustix::fs::fcntl_getfl(&file).unwrap();
        assert!(!flags.contains(OFlags::APPEND));
    }
}

#[test]
fn a_link_is_refused_at_every_depth() {
    let (dir, both) = roots();
    let outside = tempfile::tempdir().unwrap();
    fs::create_dir(outside.path().join("c")).unwrap();
    fs::write(outside.path().join("c/f"), "secret").unwrap();
    fs::create_dir_all(dir.path().join("a/b/c")).unwrap();
    fs::write(dir.path().join("a/b/c/f"), "inside").unwrap();
    // The path has three real directories and a file. A link replaces each of them in turn, and leads outside or to a neighbour
    // inside. The storage must refuse both.
    symlink(outside.path(), dir.path().join("x")).unwrap();
    symlink(outside.path(), dir.path().join("a/x")).unwrap();
    symlink("c", dir.path().join("a/b/x")).unwrap();
    symlink("f", dir.path().join("a/b/c/x")).unwrap();
    symlink("nowhere", dir.path().join("a/b/c/dangling")).unwrap();
    for files in &both {
        assert!(files.open(path("a/b/c/f"), OpenMode::Write).is_ok());
        for linked in ["x/c/f", "a/x/c/f", "a/b/x/f", "a/b/c/x", "a/b/c/dangling"] {
            for how in [
                OpenMode::Read,
                OpenMode::Write,
                OpenMode::CreateNew,
                OpenMode::Create,
            ] {
                error(files, linked, how);
            }
            assert!(files.stat(path(linked)).is_err(), "{linked}");
            assert!(files.sealed(path(linked)).is_err(), "{linked}");
            let locked = files.lock(path(linked), NOW);
            assert!(matches!(locked, Err(LockError::Io(_))), "{linked}");
        }
        for linked in ["x", "x/c", "a/x", "a/b/x"] {
            let below = |name| path(linked).join(name);
            let answers = [
                files.list(path(linked)).map(drop),
                files.sync_dir(path(linked)),
                files.create_dir(path(linked)),
                files.create_dir(&below("new")),
                files.remove_dir_all(path(linked)),
                files.remove_file(&below("f")),
                files.rename(&below("f"), path("taken")),
                files.rename(path("a/b/c/f"), &below("given")),
            ];
            assert!(answers.iter().all(Result::is_err), "{linked}: {answers:?}");
        }
    }
    assert_eq!(fs::read(outside.path().join("c/f")).unwrap(), b"secret");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
    assert!(!dir.path().join("a/b/c/nowhere").exists());
}

#[test]
fn a_parent_swapped_for_a_link_while_running_never_leads_out() {
    let (dir, both) = roots();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("f"), "outside").unwrap();
    fs::create_dir(dir.path().join("d")).unwrap();
    fs::write(dir.path().join("d/f"), "inside").unwrap();
    symlink(outside.path(), dir.path().join("l")).unwrap();
    let swap = || {
        let [d, l, t] = ["d", "l", "t"].map(|name| dir.path().join(name));
        for (from, to) in [(&d, &t), (&l, &d), (&t, &l)] {
            fs::rename(from, to).unwrap();
        }
    };
    let done = std::sync::atomic::AtomicBool::new(false);
    let (opened, refused) = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                swap();
            }
        });
        let mut counts = (0, 0);
        let mut round = 0;
        // On a busy machine the swapping thread perhaps does not run during the first rounds, so the rounds repeat until a
        // deadline.
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while round < 20_000
            || (counts.0 == 0 || counts.1 == 0) && std::time::Instant::now() < deadline
        {
            round += 1;
            match both[round % 2].read(path("d/f"), 100) {
                Ok(bytes) => {
                    assert_eq!(bytes, b"inside");
                    counts.0 += 1;
                }
                Err(_) => counts.1 += 1,
            }
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        counts
    });
    assert!(
        opened > 0 && refused > 0,
        "{opened} opened, {refused} refused"
    );
}

#[test]
fn paths_out_of_the_root_are_refused_everywhere() {
    let (dir, both) = roots();
    fs::create_dir(dir.path().join("a")).unwrap();
    for files in &both {
        for out in ["..", "../x", "a/../x", "a/..", "/etc/hostname", "/"] {
            let answers = [
                files.open(path(out), OpenMode::Create).map(drop),
                files.stat(path(out)).map(drop),
                files.list(path(out)).map(drop),
                files.create_dir(path(out)),
                files.rename(path(out), path("y")),
                files.rename(path("a"), path(out)),
                files.remove_file(path(out)),
                files.remove_dir_all(path(out)),
                files.sync_dir(path(out)),
            ];
            for answer in answers {
                fails(answer, ErrorKind::InvalidInput);
            }
        }
        assert!(files.remove_dir_all(path("")).is_err());
        assert!(dir.path().join("a").is_dir());
    }
}

#[test]
fn only_regular_files_with_one_name_are_opened() {
    let (dir, both) = roots();
    let at = |name: &str| dir.path().join(name);
    let made = Command::new("mkfifo").arg(at("fifo")).status();
    assert!(made.unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    fs::create_dir(at("dir")).unwrap();
    fs::write(at("one"), "x").unwrap();
    fs::hard_link(at("one"), at("two")).unwrap();
    for files in &both {
        for name in ["fifo", "socket", "dir", "one", "two"] {
            for how in [OpenMode::Read, OpenMode::Write, OpenMode::Create] {
                error(files, name, how);
            }
            let locked = files.lock(path(name), NOW);
            assert!(matches!(locked, Err(LockError::Io(_))), "{name}");
        }
        for (name, why) in [("fifo", "must be a regular file"), ("one", "second name")] {
            let error = error(files, name, OpenMode::Read).to_string();
            assert!(error.contains(why), "{error}");
        }
        fails(
            files.open(path("dir"), OpenMode::Read),
            ErrorKind::IsADirectory,
        );
    }
    fs::remove_file(at("two")).unwrap();
    both[0].open(path("one"), OpenMode::Read).unwrap();
}

#[test]
fn stat_tells_what_stands_there() {
    let (_dir, both) = roots();
    both[0].create_dir(path("d")).unwrap();
    both[0]
        .open(path("d/f"), OpenMode::CreateNew)
        .unwrap()
        .write_all_at(b"123", 0)
        .unwrap();
    for files in &both {
        assert_eq!(files.stat(path("none")).unwrap(), None);
        assert_eq!(files.stat(path("none/f")).unwrap(), None);
        assert!(files.stat(path("d/f/x")).is_err());
        assert!(files.stat(path("d")).unwrap().unwrap().is_dir);
        assert!(files.stat(path("")).unwrap().unwrap().is_dir);
        assert_eq!(files.stat(path("d/f")).unwrap().unwrap().len, 3);
    }
}

#[test]
fn a_look_tells_what_stat_does_and_takes_a_link_for_another_file() {
    let (dir, [files, _]) = roots();
    files.create_dir(path("d")).unwrap();
    files.open(path("d/f"), OpenMode::CreateNew).unwrap();
    assert_eq!(
        files.look(path("d/f")).unwrap(),
        files.stat(path("d/f")).unwrap().map(FileId::from)
    );
    assert_eq!(files.look(path("d/none")).unwrap(), None);
    assert!(files.look(path("../f")).is_err());
    symlink("f", dir.path().join("d/link")).unwrap();
    let identity = |name| files.look(path(name)).unwrap().unwrap().identity;
    assert_ne!(identity("d/link"), identity("d/f"));
}

#[test]
fn lists_sorted_names() {
    let (dir, both) = roots();
    for name in ["b", "a", "c.d", ".h"] {
        fs::write(dir.path().join(name), "").unwrap();
    }
    for files in &both {
        assert_eq!(files.list(path("")).unwrap(), [".h", "a", "b", "c.d"]);
        fails(files.list(path("none")), ErrorKind::NotFound);
        fails(files.list(path("a")), ErrorKind::NotADirectory);
    }
}

#[test]
fn create_dir_makes_no_parents_unless_asked_and_never_the_base() {
    let (dir, both) = roots();
    fs::write(dir.path().join("file"), "").unwrap();
    for (files, deep) in both.iter().zip(["a/b/c", "a/x/y"]) {
        fails(files.create_dir(path(deep)), ErrorKind::NotFound);
        files.create_dir_all(path(deep)).unwrap();
        files.create_dir(path(deep)).unwrap();
        files.create_dir_below(path("a"), path("a/d/e")).unwrap();
        files.create_dir_below(path("a"), path("a")).unwrap();
        for gone in ["gone", "gone/x", "gone/x/y"] {
            let made = files.create_dir_below(path("gone"), path(gone));
            fails(made, ErrorKind::NotFound);
        }
        assert!(files.stat(path("gone")).unwrap().is_none());
        files.sync_file_system().unwrap();
        files.create_dir(path("")).unwrap();
        fails(files.create_dir(path("file")), ErrorKind::NotADirectory);
        assert!(files.create_dir(path("file/x")).is_err());
        for dir in ["", "a", "a/b", "a/b/c"] {
            files.sync_dir(path(dir)).unwrap();
        }
    }
}

#[test]
fn rename_replaces_and_replace_swaps_whole_files() {
    let (dir, both) = roots();
    for files in &both {
        files.create_dir(path("d")).unwrap();
        files.replace(path("d/f"), b"one", true).unwrap();
        files.replace(path("d/f"), b"second", false).unwrap();
        assert_eq!(files.read(path("d/f"), 100).unwrap(), b"second");
        assert_eq!(files.list(path("d")).unwrap(), ["f"]);
        files.rename(path("d/f"), path("g")).unwrap();
        assert_eq!(fs::read(dir.path().join("g")).unwrap(), b"second");
        files.rename(path("d"), path("e")).unwrap();
        fails(files.rename(path("d"), path("e")), ErrorKind::NotFound);
        files.remove_dir_all(path("e")).unwrap();
    }
}

#[test]
fn a_file_replaced_under_a_reader_is_still_read() {
    let (_dir, files) = root();
    files.replace(path("f"), &[0; 64], false).unwrap();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for n in 1..2_000_u32 {
                files.replace(path("f"), &[n as u8; 64], false).unwrap();
            }
        });
        while !writer.is_finished() {
            let bytes = files.read(path("f"), 64).unwrap();
            assert!(bytes.iter().all(|byte| *byte == bytes[0]));
        }
    });
}

#[test]
fn remove_dir_all_removes_links_and_not_what_they_lead_to() {
    let (dir, both) = roots();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("f"), "kept").unwrap();
    for files in &both {
        files.create_dir_all(path("d/e/f")).unwrap();
        files.open(path("d/e/g"), OpenMode::CreateNew).unwrap();
        symlink(outside.path(), dir.path().join("d/e/link")).unwrap();
        files.remove_dir_all(path("d")).unwrap();
        assert_eq!(files.list(path("")).unwrap(), Vec::<String>::new());
        fails(files.remove_dir_all(path("d")), ErrorKind::NotFound);
    }
    assert_eq!(fs::read(outside.path().join("f")).unwrap(), b"kept");
}

#[test]
fn remove_dir_all_gives_up_on_absurd_depth() {
    let (_dir, files) = root();
    files
        .create_dir_all(path(&"d/".repeat(REMOVED_DEPTH + 1)))
        .unwrap();
    let error = files.remove_dir_all(path("d")).unwrap_err().to_string();
    assert!(error.contains("deep"), "{error}");
}

#[test]
fn sealed_shows_whole_files() {
    let (_dir, files) = root();
    files.open(path("empty"), OpenMode::CreateNew).unwrap();
    files
        .open(path("full"), OpenMode::CreateNew)
        .unwrap()
        .write_all_at(&[9; 5000], 0)
        .unwrap();
    assert_eq!(files.sealed(path("empty")).unwrap().len(), 0);
    assert_eq!(&*files.sealed(path("full")).unwrap(), &[9; 5000]);
    fails(files.sealed(path("none")), ErrorKind::NotFound);
}

#[test]
fn tells_the_file_system() {
    let (_dir, files) = root();
    assert_eq!(files.file_system().unwrap(), FileSystemKind::Local);
}

#[test]
fn locks_exclude_with_deadlines() {
    let (_dir, files) = root();
    testing_locks(Arc::new(files));
}

#[test]
fn the_lock_survives_other_opens_and_closes_of_its_file() {
    let (_dir, files) = root();
    let _held = files.lock(path("lock"), NOW).unwrap();
    drop(files.open(path("lock"), OpenMode::Write).unwrap());
    assert!(matches!(
        files.lock(path("lock"), NOW),
        Err(LockError::Busy(_))
    ));
}

/// Starts another process that holds the lock of `file` until its input ends.
fn other_process(file: &Path) -> std::process::Child {
    let mut child = Command::new("flock")
        .arg(file)
        .args(["sh", "-c", "echo held; read line", "the\x1bholder"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = [0; 5];
    io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut line).unwrap();
    child
}

#[test]
fn another_process_excludes_is_named_and_gives_way() {
    let (dir, files) = root();
    let mut child = other_process(&dir.path().join("lock"));
    let Err(LockError::Busy(holder)) = files.lock(path("lock"), NOW) else {
        panic!("not busy")
    };
    assert!(
        holder.starts_with(&format!("pid {} (flock ", child.id())),
        "{holder}"
    );
    assert!(holder.ends_with("theholder)"), "{holder}");
    let Err(LockError::Busy(_)) = files.lock(path("lock"), Duration::from_millis(30)) else {
        panic!("not busy")
    };
    drop(child.stdin.take());
    let held = files.lock(path("lock"), Duration::from_secs(10)).unwrap();
    assert_eq!(
        held.identity(),
        files.stat(path("lock")).unwrap().unwrap().identity
    );
    child.wait().unwrap();
    // In reverse, the lock of this process excludes the other process.
    let status = |_: ()| {
        Command::new("flock")
            .arg("-n")
            .arg(dir.path().join("lock"))
            .arg("true")
            .status()
            .unwrap()
    };
    assert!(!status(()).success());
    drop(held);
    assert!(status(()).success());
}

#[test]
fn a_killed_holder_frees_the_lock() {
    let (dir, files) = root();
    let file = fs::File::create(dir.path().join("lock")).unwrap();
    // The shell itself takes the lock and shares it with no child, so killing the shell releases the lock.
    let mut child = Command::new("sh")
        .args(["-c", "exec 9<>\"$1\"; flock 9; echo held; read line", "sh"])
        .arg(dir.path().join("lock"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut [0; 5]).unwrap();
    assert!(file.try_lock().is_err());
    child.kill().unwrap();
    child.wait().unwrap();
    files.lock(path("lock"), NOW).unwrap();
}

#[test]
fn a_child_started_while_holding_does_not_keep_the_lock() {
    let (_dir, files) = root();
    let held = files.lock(path("lock"), NOW).unwrap();
    let mut child = Command::new("sleep").arg("60").spawn().unwrap();
    drop(held);
    let again = files.lock(path("lock"), NOW);
    child.kill().unwrap();
    child.wait().unwrap();
    again.unwrap();
}

#[test]
fn the_kernel_lock_closes_on_exec() {
    let (_dir, files) = root();
    let _held = files.lock(path("lock"), NOW).unwrap();
    let listing = Command::new("sh")
        .args(["-c", "ls -l /proc/self/fd"])
        .output()
        .unwrap();
    let listing = String::from_utf8_lossy(&listing.stdout).into_owned();
    assert!(!listing.contains("/lock"), "{listing}");
}
