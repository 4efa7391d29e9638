//! Looking at the view files without touching them: against the state, and each by itself.

use super::cursor::Cursor;
use super::{Home, failed, mend};
use crate::mode::{Mode, Scope};
use crate::prelude::*;
use crate::{bootstrap, delivery, message, mode, task, team, thread, worker};
use serde::de::IgnoredAny;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;
use teamlog_engine::storage::{File, Open};
use teamlog_engine::{Identity, Log};

/// No more faults than this are told.
const FAULTS_MAX: usize = 20;
/// Text is compared in pieces of this size.
const PIECE_BYTES: usize = 1 << 20;
/// Directories whose files are lines of JSON.
const LINE_DIRS: [&str; 3] = [message::view::DIR, delivery::view::DIR, thread::view::DIR];

/// A view that is not what the state says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The file, relative to the team's directory.
    pub file: String,
    /// `missing`, `differs`, `unknown`.
    pub what: &'static str,
}

/// What the views are, held against a state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ViewsFound {
    /// Files that were compared.
    pub files: u64,
    /// What differs, at most 20.
    pub faults: Vec<Fault>,
    /// How many more do.
    pub omitted: u64,
}

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
}

impl ViewsFound {
    fn fault(&mut self, file: String, what: &'static str) {
        match self.faults.len() < FAULTS_MAX {
            true => self.faults.push(Fault { file, what }),
            false => self.omitted += 1,
        }
    }
    fn compared(&mut self, file: String, found: Compared) {
        self.files += 1;
        match found {
            Compared::Same => {}
            Compared::Missing => self.fault(file, "missing"),
            Compared::Differs => self.fault(file, "differs"),
        }
    }
}

enum Compared {
    Same,
    Missing,
    Differs,
}

impl ViewsSource {
    /// The views beside that log.
    pub fn new(log: &Log) -> ViewsSource {
        let identity: &Identity = log.identity();
        ViewsSource {
            home: Home {
                storage: Arc::clone(log.storage()),
                dir: log.dir().clone(),
                team: identity.team.clone(),
                log: identity.log.0,
                later: None,
            },
        }
    }

    /// Up to which event the views say that they are current; `None` without a sound cursor of this log.
    pub fn cursor(&self) -> Result<Option<u64>> {
        Ok(Cursor::read(&self.home)?.seq())
    }

    /// Whether there is a file in the cursor's place.
    pub fn has_cursor(&self) -> Result<bool> {
        self.home.exists(super::cursor::NAME)
    }

    /// Holds every view against a state, which is that of the log up to the reader's head.
    pub fn against(&self, live: &Live, reader: &Reader) -> Result<ViewsFound> {
        let mut found = ViewsFound::default();
        if live.is_closed()? {
            self.none(&mut found)?;
            return Ok(found);
        }
        self.team(live, &mut found)?;
        self.tasks(live, &mut found)?;
        self.inboxes(live, reader, &mut found)?;
        self.dead_letters(live, reader, &mut found)?;
        self.workers(live, reader, &mut found)?;
        self.modes(live, &mut found)?;
        self.runs(live, &mut found)?;
        self.threads(live, reader, &mut found)?;
        Ok(found)
    }

    /// There is to be no view at all.
    fn none(&self, found: &mut ViewsFound) -> Result<()> {
        for dir in mend::VIEW_DIRS {
            self.others(dir, &BTreeSet::new(), found)?;
        }
        if self.home.exists(mend::TEAM)? {
            found.fault(mend::TEAM.to_owned(), "unknown");
        }
        Ok(())
    }

    fn workers(&self, live: &Live, reader: &Reader, found: &mut ViewsFound) -> Result<()> {
        let workers = worker::workers(live.rows())?;
        for name in &workers {
            let dir = worker::view::dir(name);
            let mut names = BTreeSet::new();
            for part in worker::parts(live.rows(), name)? {
                if let Some(text) = worker::view::text(live, reader, name, part)? {
                    let file = format!("{dir}/{}", worker::view::file_name(part));
                    let compared = self.compare(&file, &text)?;
                    found.compared(file, compared);
                    names.insert(worker::view::file_name(part).to_owned());
                }
            }
            self.others(&dir, &names, found)?;
        }
        self.others(worker::view::DIR, &workers, found)
    }

    fn modes(&self, live: &Live, found: &mut ViewsFound) -> Result<()> {
        let mut sessions = BTreeSet::new();
        self.scope(live, &Scope::Root, found)?;
        for scope in mode::view::scopes(live)? {
            if let Some(session) = scope.session() {
                sessions.insert(session.to_owned());
                self.scope(live, &scope, found)?;
            }
        }
        self.others(mode::view::SESSIONS, &sessions, found)
    }

    fn scope(&self, live: &Live, scope: &Scope, found: &mut ViewsFound) -> Result<()> {
        let (dir, files) = (mode::view::dir(scope), mode::view::files(live, scope)?);
        for (name, text) in &files {
            let file = format!("{dir}/{name}");
            let compared = self.compare(&file, text)?;
            found.compared(file, compared);
        }
        self.others(&dir, &mode::view::names(scope, &files), found)
    }

    fn runs(&self, live: &Live, found: &mut ViewsFound) -> Result<()> {
        let mut names = BTreeSet::new();
        for run in bootstrap::all(live.rows()) {
            let run = run?;
            let name = bootstrap::view::file_name(&run.run);
            let file = format!("{}/{name}", bootstrap::view::DIR);
            let compared = self.compare(&file, &bootstrap::view::text(&run))?;
            found.compared(file, compared);
            names.insert(name);
        }
        self.others(bootstrap::view::DIR, &names, found)
    }

    fn threads(&self, live: &Live, reader: &Reader, found: &mut ViewsFound) -> Result<()> {
        let mut names = BTreeSet::new();
        for one in thread::all(live.rows()) {
            let one = one?;
            let name = thread::view::file_name(&one.id);
            let file = format!("{}/{name}", thread::view::DIR);
            let compared = self.compare(&file, &thread::view::text(&one))?;
            found.compared(file, compared);
            names.insert(name);
            if one.messages > 0 {
                let name = thread::view::lines_name(&one.id);
                let file = format!("{}/{name}", thread::view::DIR);
                let path = self.home.path(&file);
                let mut lines = Comparison::of(self, &path)?;
                thread::view::each_piece(live, reader, &one.id, |text| {
                    lines.take(text).map(|()| true)
                })?;
                let compared = lines.end()?;
                found.compared(file, compared);
                names.insert(name);
            }
        }
        self.others(thread::view::DIR, &names, found)
    }

    /// The lines of the views that are no JSON objects, at most `limit`; and how many lines and bad ones there are.
    pub fn malformed(&self, limit: usize) -> Result<(Vec<Malformed>, u64, u64)> {
        let (mut listed, mut lines, mut bad) = (Vec::new(), 0, 0);
        for dir in LINE_DIRS {
            for name in self.names(dir)? {
                let file = format!("{dir}/{name}");
                if !name.ends_with(".jsonl") {
                    continue;
                }
                let path = self.home.path(&file);
                let mut text = BufReader::new(self.open(&path)?.reader());
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

    fn open(&self, path: &Path) -> Result<At> {
        let opened = self.home.storage.open(path, Open::Read);
        Ok(At(opened.map_err(failed("open", path))?))
    }

    /// The names in a directory; none where it is missing.
    fn names(&self, dir: &str) -> Result<Vec<String>> {
        let dir = self.home.path(dir);
        match self.home.storage.list(&dir) {
            Ok(names) => Ok(names),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(failed("list", &dir)(error)),
        }
    }

    fn compare(&self, file: &str, text: &[u8]) -> Result<Compared> {
        let path = self.home.path(file);
        let mut whole = Comparison::of(self, &path)?;
        whole.take(text)?;
        whole.end()
    }

    fn team(&self, live: &Live, found: &mut ViewsFound) -> Result<()> {
        let Some(info) = live.team()? else {
            return Ok(());
        };
        let text = team::view::text(&self.home.team, &info, live)?;
        found.compared(mend::TEAM.to_owned(), self.compare(mend::TEAM, &text)?);
        Ok(())
    }

    fn tasks(&self, live: &Live, found: &mut ViewsFound) -> Result<()> {
        let mut names = BTreeSet::new();
        let mut text = Vec::new();
        for task in task::all(live.rows()) {
            let task = task?;
            let name = task::view::file_name(&task.task_id);
            let file = format!("{}/{name}", task::view::DIR);
            task::view::text(&task, &mut text);
            let compared = self.compare(&file, &text)?;
            found.compared(file, compared);
            names.insert(name);
        }
        self.others(task::view::DIR, &names, found)
    }

    fn inboxes(&self, live: &Live, reader: &Reader, found: &mut ViewsFound) -> Result<()> {
        let mut names = BTreeSet::new();
        for agent in live.agents()? {
            let name = message::view::file_name(&agent.name);
            let file = format!("{}/{name}", message::view::DIR);
            let path = self.home.path(&file);
            let mut comparison = Comparison::of(self, &path)?;
            let mut text = Vec::new();
            for seq in message::inbox_seqs(live.rows(), &agent.name) {
                let seq = seq?;
                if let Some(event) = live.event(reader, seq)? {
                    message::view::line_of(&event, &mut text)?;
                }
                if text.len() >= PIECE_BYTES {
                    comparison.take(&text)?;
                    text.clear();
                }
            }
            comparison.take(&text)?;
            found.compared(file, comparison.end()?);
            names.insert(name);
        }
        self.others(message::view::DIR, &names, found)
    }

    fn dead_letters(&self, live: &Live, reader: &Reader, found: &mut ViewsFound) -> Result<()> {
        let mut names = BTreeSet::new();
        let dir = self.home.path(delivery::view::DIR);
        for day in delivery::days(live.rows())? {
            let name = delivery::view::file_name(&day);
            let file = format!("{}/{name}", delivery::view::DIR);
            let compared = match self.home.exists(&file)? {
                false => Compared::Missing,
                true if delivery::view::is_whole(live, reader, &self.home, &dir, &day)? => {
                    Compared::Same
                }
                true => Compared::Differs,
            };
            found.compared(file, compared);
            names.insert(name);
        }
        self.others(delivery::view::DIR, &names, found)
    }

    /// Files that no task, agent or day accounts for.
    fn others(&self, dir: &str, names: &BTreeSet<String>, found: &mut ViewsFound) -> Result<()> {
        for name in self.names(dir)? {
            if !names.contains(&name) {
                found.fault(format!("{dir}/{name}"), "unknown");
            }
        }
        Ok(())
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
        for name in self.names(task::view::DIR)? {
            let path = self.home.path(task::view::DIR).join(&name);
            let mut text = Vec::new();
            self.open(&path)?
                .reader()
                .read_to_end(&mut text)
                .map_err(failed("read", &path))?;
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
        let path = self.home.path(&name);
        let mut text = Vec::new();
        self.open(&path)?
            .reader()
            .read_to_end(&mut text)
            .map_err(failed("read", &path))?;
        let Ok(listed) = serde_json::from_slice::<Listed>(&text) else {
            return Ok(None);
        };
        let listed = listed.active_skills.into_iter();
        Ok(Some(
            listed
                .filter_map(|entry| Mode::from_name(&entry.skill))
                .collect(),
        ))
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
struct At(Box<dyn File>);

impl At {
    fn reader(self) -> AtReader {
        AtReader {
            file: self.0,
            offset: 0,
        }
    }
}

struct AtReader {
    file: Box<dyn File>,
    offset: u64,
}

impl Read for AtReader {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let read = self.file.read_at(buf, self.offset)?;
        self.offset += read as u64;
        Ok(read)
    }
}

/// Text that comes in pieces, against a file.
struct Comparison<'a> {
    path: &'a Path,
    file: Option<Box<dyn File>>,
    at: u64,
    same: bool,
}

impl<'a> Comparison<'a> {
    fn of(source: &ViewsSource, path: &'a Path) -> Result<Comparison<'a>> {
        let file = match source.home.storage.open(path, Open::Read) {
            Ok(file) => Some(file),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(failed("open", path)(error)),
        };
        Ok(Comparison {
            path,
            file,
            at: 0,
            same: true,
        })
    }

    fn take(&mut self, text: &[u8]) -> Result<()> {
        let Some(file) = self.file.as_ref().filter(|_| self.same) else {
            return Ok(());
        };
        let mut there = vec![0; text.len()];
        match file.read_exact_at(&mut there, self.at) {
            Ok(()) => self.same = there == text,
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => self.same = false,
            Err(error) => return Err(failed("read", self.path)(error)),
        }
        self.at += text.len() as u64;
        Ok(())
    }

    fn end(self) -> Result<Compared> {
        let Some(file) = self.file else {
            return Ok(Compared::Missing);
        };
        let len = file.stat().map_err(failed("look at", self.path))?.len;
        Ok(match self.same && len == self.at {
            true => Compared::Same,
            false => Compared::Differs,
        })
    }
}
