//! Teams with a history.

use crate::events;
use serde_json::json;
use std::io::{BufRead, BufReader, Cursor, Read, Seek, Write};
use std::path::Path;
use teamlog_engine::Format;
use teamlog_team::import::messages::ImportMessages;
use teamlog_team::lifecycle::init::Init;
use teamlog_team::log::append_batch::AppendBatch;
use teamlog_team::projections::RefKind;
use teamlog_team::{Root, RootOptions, Team};

/// Name of the team in every root.
pub const TEAM: &str = "bench";

/// Creates a root with a new open team, which any agent may join.
pub fn create(root: &Path, format: Format) -> Root {
    let root = Root::create(root, RootOptions::default()).unwrap();
    let init = Init {
        format: Some(format),
        open: true,
        ..Init::for_team(TEAM)
    };
    root.init(init).unwrap();
    root
}

/// Imports envelopes into a new team.
pub fn import<R: BufRead + Seek>(root: &Path, format: Format, source: &mut R) {
    let import = ImportMessages {
        team: TEAM.into(),
        format: Some(format),
        ..ImportMessages::default()
    };
    let root = Root::create(root, RootOptions::default()).unwrap();
    let answer = root.import_messages(import, source).unwrap();
    assert_eq!((answer.malformed, answer.duplicates), (0, 0));
}

/// Appends `count` foreign events in batches; `story` returns the story of each event.
pub fn fill(team: &mut Team, count: u64, story: fn(u64) -> String) {
    let source = Facts {
        next: 0,
        count,
        story,
        waiting: Cursor::default(),
    };
    let mut source = BufReader::with_capacity(1 << 16, source);
    let answer = team.append_batch(AppendBatch::default(), &mut source);
    assert_eq!(answer.unwrap().count, count);
}

/// A source of `count` foreign events, read as the lines of a batch.
struct Facts {
    next: u64,
    count: u64,
    story: fn(u64) -> String,
    waiting: Cursor<Vec<u8>>,
}

impl Read for Facts {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let read = self.waiting.read(buf)?;
        if read > 0 || self.next == self.count {
            return Ok(read);
        }
        self.waiting.set_position(0);
        self.waiting.get_mut().clear();
        fact(self.next, (self.story)(self.next), self.waiting.get_mut())?;
        self.next += 1;
        self.waiting.read(buf)
    }
}

fn fact(seq: u64, story: String, out: &mut Vec<u8>) -> std::io::Result<()> {
    let event = events::event(seq);
    let name = |kind| event.refs.get(kind);
    let line = json!({
        "kind": "step_taken",
        "actor": event.actor,
        "trace_id": story,
        "task_id": name(RefKind::Task),
        "agent": name(RefKind::Agent),
        "message_id": name(RefKind::Message),
        "payload": events::payload(seq),
    });
    serde_json::to_writer(&mut *out, &line)?;
    out.write_all(b"\n")
}
