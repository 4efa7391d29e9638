//! A daemon tells the truth about a log that came to harm.

use super::stand::Stand;
use std::path::PathBuf;
use std::time::{Duration, Instant};

fn segment(stand: &Stand) -> PathBuf {
    let events = stand.dir.path().join("teams/demo/events");
    let mut names = std::fs::read_dir(events).unwrap();
    names.next().unwrap().unwrap().path()
}

fn create(stand: &Stand) -> (u16, String) {
    let bearer = stand.bearer();
    let headers = [("Authorization", bearer.as_str())];
    let heard = stand.ask("POST", "/v1/tasks", &headers, r#"{"title":"one"}"#);
    let code = heard.json()["error"]["code"].as_str().map(str::to_owned);
    (heard.status, code.unwrap_or_default())
}

/// Waits until the daemon is ready, or says that a log is damaged.
#[track_caller]
fn until_ready(stand: &Stand, status: u16) -> String {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let bearer = stand.bearer();
        let heard = stand.ask("GET", "/readyz", &[("Authorization", &bearer)], "");
        // While it starts it is not ready either.
        if heard.status == status && (status == 200 || heard.body.contains("damaged")) {
            return heard.body;
        }
        assert!(Instant::now() < until, "{heard:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn damage_in_the_past_is_told_once_somebody_met_it_and_not_when_it_is_mended() {
    let stand = Stand::new();
    for _ in 0..20 {
        assert_eq!(create(&stand).0, 201);
    }
    until_ready(&stand, 200);
    let sound = std::fs::read(segment(&stand)).unwrap();
    let mut flipped = sound.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 0x20;
    // In its place, as a bad disk does.
    let write = |bytes: &[u8]| {
        use std::os::unix::fs::FileExt;
        let file = std::fs::OpenOptions::new()
            .write(true)
            .open(segment(&stand));
        file.unwrap()
            .write_all_at(&bytes[middle..=middle], middle as u64)
    };
    write(&flipped).unwrap();
    let bearer = stand.bearer();
    let read = stand.ask(
        "GET",
        "/v1/events?after=0",
        &[("Authorization", &bearer)],
        "",
    );
    assert_eq!(read.status, 503, "{read:?}");
    let told = until_ready(&stand, 503);
    assert!(
        told.contains("damaged") && told.contains(".jsonl"),
        "{told}"
    );
    // What is new is not in doubt.
    assert_eq!(create(&stand).0, 201);
    write(&sound).unwrap();
    until_ready(&stand, 200);
}

#[test]
fn a_damaged_log_is_told_of_by_the_next_daemon_before_anybody_reads_it() {
    let stand = Stand::new();
    for _ in 0..20 {
        assert_eq!(create(&stand).0, 201);
    }
    let path = segment(&stand);
    let stand = stand.restarted_after(|| {
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0x20;
        std::fs::write(&path, bytes).unwrap();
    });
    until_ready(&stand, 503);
}

#[test]
fn nothing_is_acknowledged_into_a_segment_that_was_taken_away_or_cut() {
    let harms: [fn(&PathBuf); 3] = [
        |path| std::fs::remove_file(path).unwrap(),
        |path| {
            let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
            let len = file.metadata().unwrap().len();
            file.set_len(len - 100).unwrap();
        },
        |path| {
            let other = path.with_extension("other");
            std::fs::copy(path, &other).unwrap();
            std::fs::rename(other, path).unwrap();
        },
    ];
    for (number, harm) in harms.iter().enumerate() {
        let stand = Stand::new();
        for _ in 0..3 {
            assert_eq!(create(&stand).0, 201);
        }
        harm(&segment(&stand));
        let (status, code) = create(&stand);
        assert_eq!((status, code.as_str()), (503, "damaged"), "{number}");
        match number {
            // The same bytes under another inode are the log: it is opened again.
            2 => {
                assert_eq!(create(&stand).0, 201);
                until_ready(&stand, 200);
            }
            _ => {
                assert_eq!(create(&stand).0, 503);
                until_ready(&stand, 503);
            }
        }
    }
}
