//! Tests of receipts, and of a log that has files of another log.

use crate::support::*;
use teamlog_engine::verify::Problem;

#[test]
fn a_receipt_shows_what_was_changed_or_cut() {
    for format in FORMATS {
        let (dir, storage) = files();
        let (clock, options) = options();
        let log = create(&storage, format, &options);
        let first = {
            let writer = writer(&log);
            for n in 0..5 {
                say(&writer, &n.to_string());
            }
            log.reader().unwrap().receipt().unwrap().unwrap()
        };
        assert_eq!(first.seq, 5);
        let bytes = forge::read(&*storage, &forge::path(&first.segment));
        let digest = blake3::hash(&bytes[..first.length as usize]).to_hex();
        assert_eq!(digest.as_str(), first.digest);
        let backup = tempfile::tempdir().unwrap();
        copy_dir(dir.path(), backup.path());
        {
            let writer = writer(&log);
            clock.advance(86_400_000_000);
            for n in 5..9 {
                say(&writer, &n.to_string());
            }
        }
        let second = log.reader().unwrap().receipt().unwrap().unwrap();
        for receipt in [&first, &second] {
            let report = log.verify(Some(receipt)).unwrap();
            assert!(report.ok, "{report:?}");
        }
        // A restored backup is a valid log, but not the log of the receipt.
        let restored: Arc<dyn Storage> = Arc::new(Files::open(backup.path()).unwrap());
        let restored = open(&restored, &options);
        assert!(restored.verify(None).unwrap().ok);
        let report = restored.verify(Some(&second)).unwrap();
        assert_eq!(report.problems[0].kind, "cut_below_receipt", "{report:?}");
        // The other log has another history of the same length.
        {
            let writer = restored.lock().unwrap().into_writer(());
            for _ in 5..9 {
                say(&writer, "other");
            }
        }
        let mut moved = second.clone();
        moved.segment = first.segment.clone();
        let report = restored.verify(Some(&moved)).unwrap();
        assert!(!report.ok, "{report:?}");
    }
}

#[test]
fn files_of_another_log_are_refused() {
    for format in FORMATS {
        let (dir, storage) = files();
        let (_, options) = options();
        let log = create(&storage, format, &options);
        say(&writer(&log), "a");
        let (other_dir, other_storage) = files();
        let other = create(&other_storage, format, &options);
        say(&writer(&other), "b");
        let head = Path::new("teams/demo/head");
        std::fs::copy(other_dir.path().join(head), dir.path().join(head)).unwrap();
        assert!(matches!(
            log.reader().unwrap_err(),
            Error::ForeignFile { .. }
        ));
        std::fs::remove_file(dir.path().join(head)).unwrap();
        let path = segment(format);
        std::fs::copy(other_dir.path().join(&path), dir.path().join(&path)).unwrap();
        let error = log.reader().unwrap_err();
        assert!(
            matches!(error, Error::ForeignFile { .. } | Error::Corrupt { .. }),
            "{error}"
        );
        let report = log.verify(None).unwrap();
        assert!(!report.ok, "{report:?}");
        let foreign = |problem: &Problem| problem.kind == "foreign_segment";
        assert!(report.problems.iter().any(foreign), "{report:?}");
    }
}

#[test]
fn a_newer_format_is_refused_by_name() {
    let (dir, storage) = files();
    create(&storage, FORMATS[0], &options().1);
    std::fs::write(
        dir.path().join("teams/demo/log.json"),
        "{\"version\":5,\"log\":[]}\n",
    )
    .unwrap();
    let error = Log::open(storage, Path::new("teams/demo"), options().1).unwrap_err();
    shows!(error.to_string() =>
        is "teams/demo/log.json has format version 5; this teamlog reads up to 4");
}
