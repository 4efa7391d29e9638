//! Checks of the view files that change nothing: against the state, and of each file on its own.

use super::cursor::Cursor;
use super::mend;
use super::synced::Trust;
pub use crate::files::{Fault, ViewsComparison};
use crate::files::{Home, Walk, failed};
use crate::mode::{Mode, Scope};
use crate::prelude::*;
use crate::{bootstrap, delivery, message, mode, task, team, thread, worker};
use serde::de::IgnoredAny;
use std::io::{BufRead, BufReader, Read};
use teamlog_engine::LogOptions;
use teamlog_engine::storage::{File, OpenMode};

/// Directories with files of JSON lines.
const LINE_DIRS: [&str; 3] = [message::view::DIR, delivery::view::DIR, thread::view::DIR];

/// A line that is no JSON object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed {
    /// Path of the file, relative to the team's directory.
    pub file: String,
    /// Number of the line, from 1.
    pub line: u64,
    /// Description of the fault.
    pub why: String,
}

/// The view files of a team, for reading.
pub struct ViewsSource {
    home: Home,
    options: LogOptions,
}

impl ViewsSource {
    /// Returns the views of a log.
    pub fn new(log: &Log) -> ViewsSource {
        let home = Home::new(log.storage(), log.dir(), log.identity());
        let options = log.options().clone();
        ViewsSource { home, options }
    }

    /// Returns the event up to which the views are current according to the cursor; `None` if this log has no valid cursor.
    pub fn cursor(&self) -> Result<Option<u64>> {
        Ok(Cursor::read(&self.home)?.seq())
    }

    /// Returns the cursor's event if the files can be trusted to contain all events up to that event. Returns `None` if some
    /// files may be empty or old, after a power loss or in a copy of the directory.
    pub fn current(&self) -> Result<Option<u64>> {
        let Some(seq) = self.cursor()? else {
            return Ok(None);
        };
        let trust = Trust::read(&self.home, self.home.identity()?, &self.options)?;
        Ok(trust.is_current().then_some(seq))
    }

    /// Returns true if a cursor file exists, valid or not.
    pub fn has_cursor(&self) -> Result<bool> {
        self.home.exists(super::cursor::NAME)
    }

    /// Compares every view with the state at the reader's head.
    pub fn against(&self, live: &TeamState, reader: &Reader) -> Result<ViewsComparison> {
        let mut to = Walk::comparing(&self.home);
        if live.is_closed()? {
            // The team has no views, so every view file is a fault.
            mend::VIEW_DIRS.iter().try_for_each(|dir| to.end(dir))?;
            let mut found = to.found.unwrap_or_default();
            if self.home.exists(mend::TEAM)? {
                found.fault(mend::TEAM.to_owned(), "unknown");
            }
            return Ok(found);
        }
        if let Some(info) = live.team()? {
            let text = team::view::text(&self.home.team, &info, live)?;
            to.alone(mend::TEAM, &text)?;
        }
        task::view::walk(live, &mut to)?;
        message::view::walk(live, reader, &mut to)?;
        delivery::view::walk(live, reader, &mut to)?;
        worker::view::walk(live, reader, &mut to)?;
        mode::view::walk(live, &mut to)?;
        bootstrap::view::walk(live, &mut to)?;
        thread::view::walk(live, reader, &mut to)?;
        Ok(to.found.unwrap_or_default())
    }

    /// Compares the files of some tasks with the state, byte for byte. Compares the inboxes of some agents by length and last
    /// line.
    pub fn sampled(
        &self,
        live: &TeamState,
        reader: &Reader,
        (tasks, agents): (&BTreeSet<String>, &BTreeSet<String>),
    ) -> Result<ViewsComparison> {
        let mut to = Walk::comparing(&self.home);
        if let Some(info) = live.team()? {
            let text = team::view::text(&self.home.team, &info, live)?;
            to.alone(mend::TEAM, &text)?;
        }
        let mut text = Vec::new();
        for id in tasks {
            if let Some(task) = live.task(id)? {
                task::view::text(&task, &mut text);
                to.file(task::view::DIR, &task::view::file_name(id), &text)?;
            }
        }
        let mut found = to.found.unwrap_or_default();
        for agent in agents {
            let (file, compared) = message::view::end(live, reader, &self.home, agent)?;
            found.compared(file, compared);
        }
        Ok(found)
    }

    /// Returns the first `limit` lines that are no JSON objects, the number of all lines, and the number of all lines that are no JSON
    /// objects.
    pub fn malformed(&self, limit: usize) -> Result<(Vec<Malformed>, u64, u64)> {
        let (mut listed, mut lines, mut bad) = (Vec::new(), 0, 0);
        for dir in LINE_DIRS {
            for name in self.home.names(dir)? {
                let file = format!("{dir}/{name}");
                if !name.ends_with(".jsonl") {
                    continue;
                }
                let path = self.home.path(&file);
                let mut text = BufReader::new(self.open(&path)?);
                let mut line = Vec::new();
                for number in 1.. {
                    line.clear();
                    if text
                        .read_until(b'\n', &mut line)
                        .map_err(failed("read", &path))?
                        == 0
                    {
                        break;
                    }
                    lines += 1;
                    if let Err(why) = check_line(&line) {
                        bad += 1;
                        if listed.len() < limit {
                            listed.push(Malformed {
                                file: file.clone(),
                                line: number,
                                why,
                            });
                        }
                    }
                }
            }
        }
        Ok((listed, lines, bad))
    }

    fn open(&self, path: &Path) -> Result<FileReader> {
        let file = self.home.open(path, OpenMode::Read)?;
        Ok(FileReader { file, offset: 0 })
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>> {
        let mut text = Vec::new();
        let read = self.open(path)?.read_to_end(&mut text);
        read.map_err(failed("read", path)).map(|_| text)
    }

    /// Returns the newest message that each task's file contains, by task. Leaves out unreadable files.
    pub fn snapshots(&self) -> Result<BTreeMap<String, (String, u64)>> {
        #[derive(serde::Deserialize)]
        struct Snapshot {
            task_id: String,
            last_message_id: String,
            snapshot_version: u64,
        }
        let mut snapshots = BTreeMap::new();
        for name in self.home.names(task::view::DIR)? {
            let text = self.read(&self.home.path(task::view::DIR).join(&name))?;
            if let Ok(snapshot) = serde_json::from_slice::<Snapshot>(&text) {
                let at = (snapshot.last_message_id, snapshot.snapshot_version);
                snapshots.insert(snapshot.task_id, at);
            }
        }
        Ok(snapshots)
    }

    /// Returns the modes in a scope's list of active skills; `None` if there is no readable list.
    pub fn listed_skills(&self, scope: &Scope) -> Result<Option<Vec<Mode>>> {
        #[derive(serde::Deserialize)]
        struct Listed {
            active_skills: Vec<Entry>,
        }
        #[derive(serde::Deserialize)]
        struct Entry {
            skill: String,
        }
        let name = format!("{}/{}", mode::view::dir(scope), mode::view::SKILLS);
        if !self.home.exists(&name)? {
            return Ok(None);
        }
        let text = self.read(&self.home.path(&name))?;
        let Ok(listed) = serde_json::from_slice::<Listed>(&text) else {
            return Ok(None);
        };
        let listed = listed.active_skills.into_iter();
        let modes = listed.filter_map(|entry| Mode::from_name(&entry.skill));
        Ok(Some(modes.collect()))
    }
}

fn check_line(line: &[u8]) -> Result<(), String> {
    let Some(text) = line.strip_suffix(b"\n") else {
        return Err("the line does not end".to_owned());
    };
    match serde_json::from_slice::<BTreeMap<String, IgnoredAny>>(text) {
        Ok(_) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

/// Reads a file from start to end.
struct FileReader {
    file: Box<dyn File>,
    offset: u64,
}

impl Read for FileReader {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let read = self.file.read_at(buf, self.offset)?;
        self.offset += read as u64;
        Ok(read)
    }
}
