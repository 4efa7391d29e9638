//! Looking at the view files without touching them: against the state, and each by itself.

use super::cursor::Cursor;
use super::mend;
use super::synced::Trust;
pub use crate::files::{Fault, ViewsFound};
use crate::files::{Home, Walk, failed};
use crate::mode::{Mode, Scope};
use crate::prelude::*;
use crate::{bootstrap, delivery, message, mode, task, team, thread, worker};
use serde::de::IgnoredAny;
use std::io::{BufRead, BufReader, Read};
use teamlog_engine::LogOptions;
use teamlog_engine::storage::{File, OpenMode};

/// Directories whose files are lines of JSON.
const LINE_DIRS: [&str; 3] = [message::view::DIR, delivery::view::DIR, thread::view::DIR];

/// A line that is no JSON object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed {
    /// The file, relative to the team's directory.
    pub file: String,
    /// The line, from 1.
    pub line: u64,
    /// What is wrong.
    pub why: String,
}

/// Where the view files of a team lie.
pub struct ViewsSource {
    home: Home,
    options: LogOptions,
}

impl ViewsSource {
    /// The views beside that log.
    pub fn new(log: &Log) -> ViewsSource {
        let home = Home::new(log.storage(), log.dir(), log.identity());
        let options = log.options().clone();
        ViewsSource { home, options }
    }

    /// Up to which event the views say that they are current; `None` without a sound cursor of this log.
    pub fn cursor(&self) -> Result<Option<u64>> {
        Ok(Cursor::read(&self.home)?.seq())
    }

    /// Returns the cursor's event if the files can be trusted to hold everything up to it: `None` if a power loss or a copy of
    /// the directory may have left them empty or old.
    pub fn current(&self) -> Result<Option<u64>> {
        let Some(seq) = self.cursor()? else {
            return Ok(None);
        };
        let trust = Trust::read(&self.home, self.home.identity()?, &self.options)?;
        Ok(trust.is_current().then_some(seq))
    }

    /// Whether there is a file in the cursor's place.
    pub fn has_cursor(&self) -> Result<bool> {
        self.home.exists(super::cursor::NAME)
    }

    /// Holds every view against a state, which is that of the log up to the reader's head.
    pub fn against(&self, live: &TeamState, reader: &Reader) -> Result<ViewsFound> {
        let mut to = Walk::comparing(&self.home);
        if live.is_closed()? {
            // There is to be no view at all.
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

    /// Holds the files of some tasks against the state, byte for byte, and the inboxes of some agents by their lengths and
    /// last lines.
    pub fn sampled(
        &self,
        live: &TeamState,
        reader: &Reader,
        (tasks, agents): (&BTreeSet<String>, &BTreeSet<String>),
    ) -> Result<ViewsFound> {
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

    /// The lines of the views that are no JSON objects, at most `limit`; and how many lines and bad ones there are.
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

    /// What the files of the tasks say of the newest message that they contain, by task; a file that says nothing is left out.
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

    /// The modes that the file of active skills of a scope lists; `None` where there is no such file, or none that reads
    /// as one.
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

/// A file read from front to back.
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
