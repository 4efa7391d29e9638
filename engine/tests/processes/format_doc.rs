//! Compares the documents with the code. The worked example of `docs/format.md` equals the engine's bytes, and every constant in
//! the document has the value of the code. A reader that was written from the document alone reads real logs.
//! `docs/durability.md` prints the table of recovery.

use crate::support::*;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use teamlog_engine::internals::recovery::table::ROWS;
use teamlog_engine::storage::{Files, Memory, OpenMode, Storage};
use teamlog_engine::{
    Cause, Durability, Format, Json, Log, LogOptions, NewEvent, Ref, RefNames, internals::codec,
};

/// Reads a file of the workspace.
fn workspace(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

fn text(path: &str) -> String {
    let path = workspace(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the fenced block after `<!-- example: NAME -->`.
fn block(document: &str, name: &str) -> String {
    let marker = format!("<!-- example: {name} -->");
    let (_, behind) = document
        .split_once(&marker)
        .unwrap_or_else(|| panic!("the document has no {marker}"));
    let (_, behind) = behind.split_once("```").unwrap();
    let (_, behind) = behind.split_once('\n').unwrap();
    let (content, _) = behind.split_once("```").unwrap();
    content.to_owned()
}

/// Returns the rows of the table after a marker. Blanks and back quotes around the cells are removed.
fn table(document: &str, name: &str) -> Vec<Vec<String>> {
    let marker = format!("<!-- table: {name} -->");
    let (_, behind) = document
        .split_once(&marker)
        .unwrap_or_else(|| panic!("the document has no {marker}"));
    let rows = behind
        .trim_start()
        .lines()
        .take_while(|line| line.starts_with('|'))
        .skip(2);
    let cells = |line: &str| {
        let inner = line.trim().trim_matches('|');
        inner
            .split('|')
            .map(|cell| cell.trim().trim_matches('`').to_owned())
            .collect()
    };
    rows.map(cells).collect()
}

/// Formats bytes like `hexdump -C`.
fn dump(bytes: &[u8]) -> String {
    let mut out = String::new();
    let mut before: Option<&[u8]> = None;
    let mut elided = false;
    for (number, row) in bytes.chunks(16).enumerate() {
        if before == Some(row) {
            if !elided {
                out.push_str("*\n");
            }
            elided = true;
            continue;
        }
        (before, elided) = (Some(row), false);
        let hex: Vec<String> = row.iter().map(|byte| format!("{byte:02x}")).collect();
        let (left, right) = hex.split_at(hex.len().min(8));
        let columns = format!("{}  {}", left.join(" "), right.join(" "));
        let shown: String = row
            .iter()
            .map(|byte| match byte {
                0x20..=0x7E => char::from(*byte),
                _ => '.',
            })
            .collect();
        out.push_str(&format!("{:08x}  {columns:<48}  |{shown}|\n", number * 16));
    }
    out.push_str(&format!("{:08x}\n", bytes.len()));
    out
}

/// Reads the bytes of a dump.
fn undump(dump: &str) -> Vec<u8> {
    let mut bytes: Vec<u8> = Vec::new();
    let mut last: Vec<u8> = Vec::new();
    for line in dump.lines().filter(|line| *line != "*") {
        let (offset, rest) = line.split_once("  ").unwrap_or((line, ""));
        let offset = usize::from_str_radix(offset, 16).unwrap();
        while bytes.len() < offset {
            bytes.extend_from_slice(&last);
        }
        assert_eq!(bytes.len(), offset, "at {line}");
        let (columns, _) = rest.split_once('|').unwrap_or_default();
        last = columns
            .split_whitespace()
            .map(|byte| u8::from_str_radix(byte, 16).unwrap())
            .collect();
        bytes.extend_from_slice(&last);
    }
    bytes
}

/// Writes the worked example: a group of two events, then a group of one event.
fn write_example(storage: &Arc<dyn Storage>, format: Format) -> Log {
    let (clock, options) = options();
    let log = create(storage, format, &options);
    let writer = writer(&log);
    let json = |text: &str| Json::parse(text).unwrap();
    let mut started = NewEvent::new("build_started", "dev", json(r#"{"commit":"4f2a9c1"}"#))
        .with_ref(undeclared::TRACE, "tr-1")
        .with_ref(undeclared::TASK, "T-1");
    started.foreign = true;
    let mut failed = NewEvent::new(
        "build_failed",
        "ci",
        json(r#"{ "exit": 101, "note": "na\u00efve \"test\"" }"#),
    )
    .with_ref(undeclared::TRACE, "tr-1")
    .with_ref(undeclared::AGENT, "dev")
    .caused_by(Cause::Earlier(0));
    failed.foreign = true;
    writer
        .append(vec![started, failed], Durability::Synced)
        .unwrap();
    clock.advance(1_500_000);
    let acked = NewEvent::new(
        "message_acked",
        "dev",
        json(r#"{"message_id":"m-1","agent":"dev"}"#),
    )
    .with_ref(undeclared::AGENT, "dev")
    .with_ref(undeclared::MESSAGE, "m-1")
    .with_ref(Ref::KEY, "k-7");
    writer.append(vec![acked], Durability::Synced).unwrap();
    writer.close().unwrap();
    log
}

/// Returns the files of the example, in the order of the paths in the document.
fn example_files(format: Format) -> [String; 3] {
    [
        "log.json".to_owned(),
        "head".to_owned(),
        format!("events/2026-11-21.{}", format.extension()),
    ]
}

fn memory() -> Arc<dyn Storage> {
    Arc::new(Memory::new())
}

fn public_lines(log: &Log) -> String {
    let mut out = Vec::new();
    for event in log.reader().unwrap().events(None) {
        codec::public_json_of(&log.identity().refs, &event.unwrap().2, &mut out);
        out.push(b'\n');
    }
    String::from_utf8(out).unwrap()
}

#[test]
fn the_example_is_what_the_engine_writes() {
    let document = text("docs/format.md");
    let mut wrong = Vec::new();
    for format in FORMATS {
        let storage = memory();
        write_example(&storage, format);
        for file in example_files(format) {
            let written = storage.read(&dir().join(&file), 1 << 20).unwrap();
            let name = format!("{} {file}", format.name());
            let shown = block(&document, &name);
            let expected = match std::str::from_utf8(&written) {
                Ok(lines) if !lines.contains('\0') => lines.to_owned(),
                _ => dump(&written),
            };
            if shown != expected {
                let right =
                    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name.replace(['/', ' '], "_"));
                std::fs::write(&right, &expected).unwrap();
                wrong.push(format!("{name} should be what is in {}", right.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "docs/format.md: {wrong:#?}");
}

#[test]
fn the_example_is_what_the_engine_reads() {
    let document = text("docs/format.md");
    for format in FORMATS {
        let storage = memory();
        storage.create_dir_all(&dir().join("events")).unwrap();
        for file in example_files(format) {
            let shown = block(&document, &format!("{} {file}", format.name()));
            let bytes = match shown.starts_with('{') {
                true => shown.into_bytes(),
                false => undump(&shown),
            };
            let path = dir().join(&file);
            let file = storage.open(&path, OpenMode::CreateNew).unwrap();
            file.write_all_at(&bytes, 0).unwrap();
        }
        let log = open(&storage, &options().1);
        assert!(log.verify(None).unwrap().problems.is_empty());
        assert_eq!(public_lines(&log), block(&document, "public lines"));
    }
}

/// Returns the expression after `const NAME: … =` in a source file.
fn constant(file: &str, name: &str) -> String {
    let source = text(&format!("engine/src/{file}"));
    let at = source
        .find(&format!("const {name}: "))
        .unwrap_or_else(|| panic!("{file} has no constant {name}"));
    let (_, value) = source[at..].split_once('=').unwrap();
    value.split_once(';').unwrap().0.trim().to_owned()
}

/// Evaluates an expression of the source code as a number.
fn number(expression: &str) -> Option<u128> {
    let digits = expression.replace('_', "");
    if let Some((base, shift)) = digits.split_once("<<") {
        return Some(number(base.trim())? << number(shift.trim())?);
    }
    match digits.strip_prefix("0x") {
        Some(hex) => u128::from_str_radix(hex, 16).ok(),
        None => digits.parse().ok(),
    }
}

#[test]
fn every_constant_of_the_document_is_that_of_the_code() {
    let document = text("docs/format.md");
    let rows = table(&document, "constants");
    assert!(rows.len() > 20, "{rows:?}");
    for row in rows {
        let [name, file, shown, ..] = row.as_slice() else {
            panic!("{row:?}");
        };
        let found = constant(file, name);
        let same = match (number(&found), number(&shown.replace(' ', ""))) {
            (Some(found), Some(shown)) => found == shown,
            _ => found == *shown,
        };
        assert!(
            same,
            "{name} is {found} in {file}, {shown} in docs/format.md"
        );
    }
}

#[test]
fn the_recovery_table_of_the_document_is_that_of_the_code() {
    fn cell(value: Option<impl std::fmt::Debug>) -> String {
        value.map_or("any".to_owned(), |value| format!("{value:?}"))
    }
    let expected: Vec<Vec<String>> = ROWS
        .iter()
        .map(|(head, before, position, past, verdict)| {
            vec![
                cell(*head),
                cell(*before),
                cell(*position),
                cell(*past),
                format!("{verdict:?}"),
            ]
        })
        .collect();
    let mut shown = table(&text("docs/durability.md"), "recovery");
    for row in &mut shown {
        row.truncate(5);
    }
    assert_eq!(shown, expected);
}

/// Writes a log that uses everything in the format: several days and segments, groups, all refs, strings of every kind, and a
/// tail in quarantine.
fn write_rich_log(storage: &Arc<dyn Storage>, format: Format, refs: &RefNames) -> Log {
    let (clock, options) = options();
    let options = given!(LogOptions, segment_bytes_max: 6_000, refs: refs.clone(), ..options);
    let log = create(storage, format, &options);
    let mut open = writer(&log);
    for round in 0..40_usize {
        let payloads = [
            r#"{"text":"plain"}"#.to_owned(),
            r#"["\u0000\u001f\u007f\" \\ \/ é \ud83d\ude00",-0.0,1e5,12345678901234567890,{}]"#
                .to_owned(),
            r#"{"crc":"00000000","group":[0,2],"payload":{"seq":1}}"#.to_owned(),
            "null".to_owned(),
            format!("\"{}\"", "long ".repeat(round * 10)),
        ];
        let events = (0..1 + round % 3).map(|index| {
            let payload = Json::parse(&payloads[(round + index) % payloads.len()]).unwrap();
            let mut event = NewEvent::new("thing_happened", "dev \"é\" \\ 😀", payload);
            for (bit, kind) in Ref::ALL.into_iter().enumerate() {
                let is_set = (round * 3 + index) & (1 << bit) != 0;
                if let Some(name) = refs.name(kind).filter(|_| is_set) {
                    event.refs.set(kind, format!("{name}\"{round}\\"));
                }
            }
            event.cause = (index > 0).then_some(Cause::Earlier(0));
            event.foreign = round % 2 == 0;
            event.schema_version = round as u32 * 1_000_000;
            event
        });
        open.append(events.collect(), Durability::Synced).unwrap();
        if round % 9 == 8 {
            clock.advance(86_400_000_000);
        }
        if round == 20 {
            let head = open.head();
            drop(open);
            let path = dir().join("events").join(&head.name);
            let file = storage.open(&path, OpenMode::Write).unwrap();
            file.write_all_at(b"torn", head.end).unwrap();
            open = writer(&log);
        }
    }
    open.close().unwrap();
    log
}

/// Runs the reader in Python, which was written from the document alone, on a team's directory.
fn read_with_python(team: &Path) -> Option<(bool, String, String)> {
    let python = Command::new("python3")
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !python.is_ok_and(|status| status.success()) {
        return None;
    }
    let output = Command::new("python3")
        .arg(workspace("docs/examples/read_log.py"))
        .arg(team)
        .output()
        .unwrap();
    Some((
        output.status.success(),
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    ))
}

#[test]
fn a_reader_written_from_the_document_reads_what_the_engine_writes() {
    let declared = RefNames::new(["order_id", "customer"]).unwrap();
    let cases = FORMATS.map(|format| [(format, RefNames::default()), (format, declared.clone())]);
    for (format, refs) in cases.into_iter().flatten() {
        let root = tempfile::tempdir().unwrap();
        let storage: Arc<dyn Storage> = Arc::new(Files::create(root.path()).unwrap());
        let log = write_rich_log(&storage, format, &refs);
        let expected = public_lines(&log);
        assert!(expected.contains("log_tail_quarantined"));
        let head = log.reader().unwrap().head().clone();
        assert!(head.segment > 5, "{head:?}");
        let team = root.path().join(dir());
        let Some((done, lines, said)) = read_with_python(&team) else {
            return;
        };
        assert!(done, "{format:?}: {said}");
        assert!(lines == expected, "{format:?}: the lines differ");

        // The reader must refuse damaged logs.
        let segment = team.join("events").join(&head.name);
        let sound = std::fs::read(&segment).unwrap();
        for at in [0, 30, sound.len() / 2, sound.len() - 3] {
            let mut damaged = sound.clone();
            damaged[at] ^= 1;
            std::fs::write(&segment, &damaged).unwrap();
            let (done, ..) = read_with_python(&team).unwrap();
            assert!(
                !done,
                "{format:?}: byte {at} changed, and the reader is content"
            );
        }
        std::fs::write(&segment, &sound[..sound.len() - 1]).unwrap();
        let (done, ..) = read_with_python(&team).unwrap();
        assert!(
            !done,
            "{format:?}: the last byte is gone, and the reader is content"
        );
        // Bytes past the head are not part of the log.
        std::fs::write(&segment, [&sound[..], b"{\"seq\":"].concat()).unwrap();
        let (done, lines, _) = read_with_python(&team).unwrap();
        assert!(done && lines == expected, "{format:?}: past the head");
    }
}
