//! `inboxes/<agent>.jsonl`: one line per message, append-only.
//!
//! The fold counts the length of each complete file. So one `stat` shows if a writer may append its line. A file of another
//! length is rebuilt.

use crate::event::team::TeamFact;
use crate::event::{envelope, other_than, sender};
use crate::files::{Compared, Home, Take, ViewUpdate, Walk, failed, in_pieces};
use crate::message::inbox_seqs;
use crate::prelude::*;
use std::io::ErrorKind;
use teamlog_engine::storage::OpenMode;

pub(crate) const DIR: &str = "inboxes";
/// Temporary directory in which a missing directory of inboxes is built, before the rename to its place.
const ASIDE: &str = "inboxes.new";

/// Bytes that wait in memory while all inboxes are built.
const WAITING_BYTES: usize = 16 << 20;

/// Appends a message's line: the event's seq, the envelope, and the actor if the actor is not the sender.
pub(crate) fn line(event: &Event<'_>, envelope: &str, from: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"seq\":");
    out.extend_from_slice(event.seq.to_string().as_bytes());
    out.push(b',');
    if let Some(actor) = other_actor_field(event, from) {
        out.extend_from_slice(actor.as_bytes());
    }
    out.extend_from_slice(envelope.as_bytes().get(1..).unwrap_or_default());
    out.push(b'\n');
}

/// Appends a message's line, given only the event.
fn line_of(event: &Event<'_>, out: &mut Vec<u8>) -> Result<()> {
    let envelope = envelope(event)?;
    let from = sender(event, envelope)?;
    line(event, envelope, &from, out);
    Ok(())
}

/// Returns the length of a message's line.
pub(crate) fn line_bytes(event: &Event<'_>, envelope_bytes: usize, from: &str) -> u64 {
    let digits = event.seq.max(1).ilog10() as usize + 1;
    let actor = other_actor_field(event, from).map_or(0, |field| field.len());
    (8 + digits + actor + envelope_bytes) as u64
}

/// Returns `"actor":"…",` if the actor is not the sender.
fn other_actor_field(event: &Event<'_>, from: &str) -> Option<String> {
    let actor = other_than(&event.actor, from)?;
    // Serializing a string cannot fail.
    let quoted = serde_json::to_string(actor).unwrap_or_default();
    Some(format!("\"actor\":{quoted},"))
}

/// Returns true if `text` is at byte `at` of an agent's inbox file, or if the file is missing.
pub(crate) fn line_is(home: &Home, agent: &str, at: u64, text: &[u8]) -> Result<bool> {
    let path = home.path(DIR).join(file_name(agent));
    let Some(file) = home.find(&path)? else {
        return Ok(true);
    };
    let mut there = vec![0; text.len()];
    match file.read_exact_at(&mut there, at) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        read => read.map(|()| there == text).map_err(failed("read", &path)),
    }
}

/// Checks length and last line of an inbox, the only possible faults of a file that only grows.
pub(crate) fn end(
    live: &TeamState,
    reader: &Reader,
    home: &Home,
    agent: &str,
) -> Result<(String, Compared)> {
    let (known, name) = (live.agent(agent)?, file_name(agent));
    let path = home.path(DIR).join(&name);
    let stat = home.storage.stat(&path).map_err(failed("look at", &path))?;
    let mut text = Vec::new();
    if let Some(event) = live.event(reader, known.last_seq)? {
        line_of(&event, &mut text)?;
    }
    let at = known.view_bytes.checked_sub(text.len() as u64);
    let compared = match (stat, at) {
        (None, _) => Compared::Missing,
        (Some(stat), Some(at))
            if stat.len == known.view_bytes && line_is(home, agent, at, &text)? =>
        {
            Compared::Same
        }
        _ => Compared::Differs,
    };
    Ok((format!("{DIR}/{name}"), compared))
}

/// Returns the name of an agent's file; agent names were checked when their event was decoded.
fn file_name(agent: &str) -> String {
    format!("{agent}.jsonl")
}

/// Appends lines to an inbox; `whole` is the length of the file after that. Returns `false` if the file has an unexpected length.
pub(crate) fn append(home: &Home, agent: &str, lines: &[u8], whole: u64) -> Result<bool> {
    home.grow(&home.path(DIR).join(file_name(agent)), lines, whole)
}

/// Rebuilds one inbox, under another name, and renames it.
pub(crate) fn rebuild(live: &TeamState, reader: &Reader, home: &Home, agent: &str) -> Result<()> {
    let path = home.path(DIR).join(file_name(agent));
    home.build(&path, |take| each_piece(live, reader, agent, take))
}

fn each_piece(live: &TeamState, reader: &Reader, agent: &str, take: Take<'_>) -> Result<()> {
    let seqs = inbox_seqs(live.rows(), agent);
    in_pieces(seqs, take, |seq, text| match live.event(reader, seq)? {
        Some(event) => line_of(&event, text),
        None => Ok(()),
    })
}

pub(crate) fn walk(live: &TeamState, reader: &Reader, to: &mut Walk<'_>) -> Result<()> {
    for agent in live.agents()? {
        to.lines(DIR, &file_name(&agent.name), |take| {
            each_piece(live, reader, &agent.name, take)
        })?;
    }
    to.end(DIR)
}

/// Builds all inboxes from the ordered events: compares existing files, and rewrites them from the first difference.
pub(crate) struct Inboxes {
    home: Home,
    /// Target directory: the directory of inboxes, or a temporary directory if the directory of inboxes is missing.
    dir: PathBuf,
    aside: bool,
    /// True if the team has views; `None` before `team_created`.
    wanted: Option<bool>,
    open: BTreeMap<String, Building>,
    waiting: usize,
}

#[derive(Default)]
struct Building {
    /// Bytes of the file that are final.
    settled: u64,
    /// Lines after the final bytes.
    text: Vec<u8>,
    /// True if the file was written.
    written: bool,
}

impl Inboxes {
    pub fn new(home: Home) -> Result<Inboxes> {
        let aside = !home.exists(DIR)?;
        let dir = home.path(if aside { ASIDE } else { DIR });
        Ok(Inboxes {
            home,
            dir,
            aside,
            wanted: None,
            open: BTreeMap::new(),
            waiting: 0,
        })
    }

    pub fn take(&mut self, event: &Event<'_>, fact: &Fact) -> Result<()> {
        // In a salvaged log messages may come before `team_created`; the inboxes are then built in a separate pass.
        if let Fact::Team(fact) = fact
            && let TeamFact::Created(created) = &**fact
            && self.wanted.is_none()
            && event.seq == 1
        {
            return self.start(created.views);
        }
        match fact.sent() {
            Some(sent) if self.wanted == Some(true) => {
                let text = &mut self.open.entry(sent.to.clone()).or_default().text;
                let before = text.len();
                line(event, sent.envelope(event), &sent.from, text);
                self.waiting += text.len() - before;
                match self.waiting > WAITING_BYTES {
                    true => self.settle(),
                    false => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// Notes if the team has views. Without this call, `team_created` decides.
    pub(crate) fn start(&mut self, wanted: bool) -> Result<()> {
        self.wanted = Some(wanted);
        if wanted && self.aside {
            self.home.fresh_dir(ASIDE)?;
        }
        Ok(())
    }

    /// Writes the waiting lines.
    fn settle(&mut self) -> Result<()> {
        for (agent, building) in &mut self.open {
            let path = self.dir.join(file_name(agent));
            let file = self.home.open(&path, OpenMode::Create)?;
            let mut there = vec![0; if self.aside { 0 } else { building.text.len() }];
            let same = !self.aside
                && file.read_exact_at(&mut there, building.settled).is_ok()
                && there == building.text;
            if !same {
                file.write_all_at(&building.text, building.settled)
                    .map_err(failed("write", &path))?;
                building.written = true;
            }
            building.settled += building.text.len() as u64;
            building.text.clear();
        }
        self.waiting = 0;
        Ok(())
    }

    /// Returns true if inboxes are built.
    pub fn wanted(&self) -> bool {
        self.wanted == Some(true)
    }

    /// Stops without changes, and removes the temporary directory.
    pub fn discard(self) -> Result<()> {
        match self.aside {
            true => self.home.remove_dir(&self.dir),
            false => Ok(()),
        }
    }

    /// Writes the waiting lines, truncates files that are too long, removes other files, and renames a new directory.
    pub fn finish(mut self, live: &TeamState, reader: &Reader) -> Result<ViewUpdate> {
        let mut mended = ViewUpdate::default();
        if self.wanted != Some(true) {
            return Ok(mended);
        }
        self.settle()?;
        let mut names = BTreeSet::new();
        for (agent, building) in &self.open {
            let path = self.dir.join(file_name(agent));
            let mut written = building.written;
            let file = self.home.open(&path, OpenMode::Write)?;
            if file.stat().map_err(failed("look at", &path))?.len > building.settled {
                file.set_len(building.settled)
                    .map_err(failed("cut", &path))?;
                written = true;
            }
            mended.add(ViewUpdate::one(written));
            names.insert(file_name(agent));
        }
        match self.aside {
            true => self.home.rename(&self.dir, &self.home.path(DIR))?,
            false => mended.removed += self.home.remove_others(DIR, &names)?,
        }
        // A message that the log has twice counts once in the fold, and so in the inbox.
        for (agent, building) in &self.open {
            if live.agent(agent)?.view_bytes != building.settled {
                rebuild(live, reader, &self.home, agent)?;
            }
        }
        Ok(mended)
    }
}
