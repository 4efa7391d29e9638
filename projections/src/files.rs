//! The view files of a team: paths, writing, comparing and removing. The nouns define their contents.

use crate::common::*;
use std::io::{self, ErrorKind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use teamlog_engine::storage::{File, OpenMode, Storage};

/// Largest number of bytes of delayed changes, which bounds the memory. Further changes are written at once.
const CHANGES_BYTES_MAX: usize = 64 << 20;
/// Approximate size of pieces in which lines are compared and written.
const PIECE_BYTES: usize = 1 << 20;
/// Largest file that is compared, in bytes. Larger files are written without comparison.
const COMPARED_BYTES_MAX: u64 = 4 << 20;
/// Largest number of faults that are reported.
const FAULTS_MAX: usize = 20;

/// Result of updating view files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ViewUpdate {
    /// Number of files that were up to date.
    pub kept: u64,
    /// Number of files that were written or extended.
    pub written: u64,
    /// Number of removed files, which belonged to no task or agent.
    pub removed: u64,
}

impl ViewUpdate {
    pub(crate) fn add(&mut self, other: ViewUpdate) {
        self.kept += other.kept;
        self.written += other.written;
        self.removed += other.removed;
    }
    /// Returns the result for one file.
    pub(crate) fn one(written: bool) -> ViewUpdate {
        ViewUpdate {
            written: u64::from(written),
            kept: u64::from(!written),
            removed: 0,
        }
    }
    /// Returns the result for `files` written files.
    pub(crate) fn written(files: usize) -> ViewUpdate {
        ViewUpdate {
            written: files as u64,
            ..ViewUpdate::default()
        }
    }
}

/// A view file that differs from the state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Path, relative to the team's directory.
    pub file: String,
    /// `missing`, `differs`, `unknown`.
    pub what: &'static str,
}

/// Result of comparing view files with a state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ViewsComparison {
    /// Number of compared files.
    pub files: u64,
    /// Faults, at most 20.
    pub faults: Vec<Fault>,
    /// Number of further faults, which are not listed.
    pub omitted: u64,
}

impl ViewsComparison {
    pub(crate) fn fault(&mut self, file: String, what: &'static str) {
        match self.faults.len() < FAULTS_MAX {
            true => self.faults.push(Fault { file, what }),
            false => self.omitted += 1,
        }
    }
    pub(crate) fn compared(&mut self, file: String, found: Compared) {
        self.files += 1;
        match found {
            Compared::Same => {}
            Compared::Missing => self.fault(file, "missing"),
            Compared::Differs => self.fault(file, "differs"),
        }
    }
}

/// Result of comparing a file with its expected content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compared {
    Same,
    Missing,
    Differs,
}

/// Function that receives a piece of a text, and returns true to get more pieces.
pub(crate) type Take<'a> = &'a mut dyn FnMut(&[u8]) -> Result<bool>;

/// Passes the text that `add` appends for each item to `take`, in pieces, until `take` returns false.
pub(crate) fn in_pieces<T>(
    items: impl Iterator<Item = Result<T>>,
    take: Take<'_>,
    mut add: impl FnMut(T, &mut Vec<u8>) -> Result<()>,
) -> Result<()> {
    let mut text = Vec::new();
    for item in items {
        add(item?, &mut text)?;
        if text.len() >= PIECE_BYTES {
            if !take(&text)? {
                return Ok(());
            }
            text.clear();
        }
    }
    take(&text).map(drop)
}

/// Returns the content of a file with one JSON value.
pub(crate) fn pretty(value: &impl Serialize) -> Vec<u8> {
    // Writing to memory cannot fail.
    let mut text = serde_json::to_vec_pretty(value).unwrap_or_default();
    text.push(b'\n');
    text
}

#[derive(Serialize)]
struct Record<T> {
    schema_version: u32,
    #[serde(rename = "schemaVersion")]
    schema_version_text: &'static str,
    #[serde(flatten)]
    said: T,
}

/// Returns the content of a file with a record, with the format version in front.
pub(crate) fn record(said: impl Serialize) -> Vec<u8> {
    pretty(&Record {
        schema_version: 1,
        schema_version_text: "1.0.0",
        said,
    })
}

/// Adds the path of the view file to an I/O error.
pub(crate) fn failed(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> crate::Error {
    let wrap = teamlog_engine::Error::io(doing, path);
    move |error| crate::Error::Engine(wrap(error))
}

/// Delayed changes of files, one per file.
#[derive(Default)]
pub(crate) struct Changes {
    pub replaced: BTreeMap<PathBuf, Vec<u8>>,
    /// Lines to append to a file, and the length of the file after that.
    pub grown: BTreeMap<PathBuf, (Vec<u8>, u64)>,
    bytes: usize,
}

impl Changes {
    fn has_room(&mut self, bytes: &[u8]) -> bool {
        self.bytes += bytes.len();
        self.bytes <= CHANGES_BYTES_MAX
    }
}

/// The directory of a team's view files.
#[derive(Clone)]
pub(crate) struct Home {
    pub storage: Arc<dyn Storage>,
    pub dir: PathBuf,
    pub team: String,
    pub log: [u8; 16],
    /// Collector of delayed changes; `None` to write at once.
    later: Option<Arc<Mutex<Changes>>>,
    /// True after a possible power loss: the last bytes of a file may be wrong although its length is right.
    suspect: bool,
}

impl Home {
    pub fn new(storage: &Arc<dyn Storage>, dir: &Path, log: &teamlog_engine::Identity) -> Home {
        Home {
            storage: Arc::clone(storage),
            dir: dir.to_path_buf(),
            team: log.name.clone(),
            log: log.log.0,
            later: None,
            suspect: false,
        }
    }
    pub fn from_reader(reader: &Reader) -> Home {
        Home::new(reader.storage(), reader.dir(), reader.identity())
    }
    /// Returns a copy of this home for use after a power loss: lines are rewritten even if the file's length is right.
    pub fn suspect(&self) -> Home {
        Home {
            suspect: true,
            ..self.clone()
        }
    }
    pub fn is_suspect(&self) -> bool {
        self.suspect
    }
    /// Returns device and inode of the team's directory; `None` if the directory was moved or removed.
    pub fn identity(&self) -> Result<Option<(u64, u64)>> {
        let look = self.storage.look(&self.dir);
        let look = look.map_err(failed("look at", &self.dir))?;
        Ok(look.map(|look| look.identity))
    }
    /// Fails if the path now leads to another directory, which may belong to another team.
    pub fn check_identity(&self, known: Option<(u64, u64)>) -> Result<()> {
        match known.is_some() && self.identity()? == known {
            true => Ok(()),
            false => {
                let why = io::Error::new(ErrorKind::NotFound, "the directory was moved or removed");
                Err(failed("write view files in", &self.dir)(why))
            }
        }
    }
    /// Returns a copy whose changes are collected and not written, and the collector. If the memory bound is reached, the copy
    /// writes at once.
    pub fn later(&self) -> (Home, Arc<Mutex<Changes>>) {
        let later: Arc<Mutex<Changes>> = Arc::default();
        let home = Home {
            later: Some(Arc::clone(&later)),
            ..self.clone()
        };
        (home, later)
    }
    fn kept(&self) -> Option<MutexGuard<'_, Changes>> {
        let later = self.later.as_ref()?;
        Some(later.lock().unwrap_or_else(PoisonError::into_inner))
    }
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }
    pub fn exists(&self, name: &str) -> Result<bool> {
        let path = self.path(name);
        let stat = self.storage.stat(&path).map_err(failed("look at", &path))?;
        Ok(stat.is_some())
    }
    pub fn open(&self, path: &Path, how: OpenMode) -> Result<Box<dyn File>> {
        self.storage.open(path, how).map_err(failed("open", path))
    }
    /// Opens a file for reading; `None` if it is missing.
    pub fn find(&self, path: &Path) -> Result<Option<Box<dyn File>>> {
        match self.storage.open(path, OpenMode::Read) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            opened => opened.map(Some).map_err(failed("open", path)),
        }
    }
    /// Creates a directory inside the team's directory, which must exist.
    pub fn create_dir(&self, dir: &Path) -> Result<()> {
        let created = self.storage.create_dir_below(&self.dir, dir);
        created.map_err(failed("create", dir))
    }
    /// Removes a directory with its contents, if it exists.
    pub fn remove_dir(&self, dir: &Path) -> Result<()> {
        match self.storage.remove_dir_all(dir) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            removed => removed.map_err(failed("remove", dir)),
        }
    }
    /// Creates an empty directory, in which a new version of another directory is built.
    pub fn fresh_dir(&self, name: &str) -> Result<PathBuf> {
        let dir = self.path(name);
        self.remove_dir(&dir)?;
        self.create_dir(&dir)?;
        Ok(dir)
    }
    pub fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        let renamed = self.storage.rename(from, to);
        renamed.map_err(failed("rename", from))
    }
    /// Returns the names in a directory; no names if the directory is missing.
    pub fn names(&self, dir: &str) -> Result<Vec<String>> {
        let dir = self.path(dir);
        match self.storage.list(&dir) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            listed => listed.map_err(failed("list", &dir)),
        }
    }

    /// Replaces a file, now or delayed.
    pub fn replace(&self, path: &Path, text: &[u8]) -> Result<()> {
        if let Some(mut changes) = self.kept()
            && changes.has_room(text)
        {
            changes.replaced.insert(path.to_owned(), text.to_vec());
            return Ok(());
        }
        let replaced = self.storage.replace(path, text, false);
        replaced.map_err(failed("write", path))
    }
    /// Appends lines to a file, now or delayed; `whole` is the length of the file after that. Returns `false` if the file has an
    /// unexpected length.
    pub fn grow(&self, path: &Path, lines: &[u8], whole: u64) -> Result<bool> {
        if let Some(mut changes) = self.kept()
            && changes.has_room(lines)
        {
            let lines = (lines.to_vec(), whole);
            changes.grown.insert(path.to_owned(), lines);
            return Ok(true);
        }
        let file = self.open(path, OpenMode::Create)?;
        let len = file.stat().map_err(failed("look at", path))?.len;
        if self.suspect {
            return match whole.checked_sub(lines.len() as u64) {
                Some(before) if before <= len => {
                    let written = file.write_all_at(lines, before);
                    let cut = written.and_then(|()| file.set_len(whole));
                    cut.map_err(failed("write", path)).map(|()| true)
                }
                _ => Ok(false),
            };
        }
        if len != whole && len + lines.len() as u64 != whole {
            return Ok(false);
        }
        if len != whole {
            let written = file.write_all_at(lines, len);
            written.map_err(failed("write", path))?;
        }
        Ok(true)
    }
    /// Writes a file if its content differs; returns true if the file was written.
    pub fn put(&self, path: &Path, text: &[u8]) -> Result<bool> {
        match self.storage.read(path, COMPARED_BYTES_MAX) {
            Ok(there) if there == text => return Ok(false),
            Ok(_) => {}
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::FileTooLarge) => {
            }
            Err(error) => return Err(failed("read", path)(error)),
        }
        self.replace(path, text)?;
        Ok(true)
    }
    /// Builds a file from pieces, under another name, and renames it.
    pub fn build(&self, path: &Path, show: impl FnOnce(Take<'_>) -> Result<()>) -> Result<()> {
        let mut name = path.as_os_str().to_owned();
        name.push(".tmp");
        let aside = PathBuf::from(name);
        let file = self.open(&aside, OpenMode::Create)?;
        file.set_len(0).map_err(failed("cut", &aside))?;
        let mut at = 0;
        show(&mut |text| {
            let written = file.write_all_at(text, at);
            written.map_err(failed("write", &aside))?;
            at += text.len() as u64;
            Ok(true)
        })?;
        self.rename(&aside, path)
    }
    /// Compares a file with pieces of its expected content.
    pub fn compare(
        &self,
        path: &Path,
        show: impl FnOnce(Take<'_>) -> Result<()>,
    ) -> Result<Compared> {
        let Some(file) = self.find(path)? else {
            return Ok(Compared::Missing);
        };
        let (mut at, mut same) = (0, true);
        show(&mut |text| {
            let mut there = vec![0; text.len()];
            same = match file.read_exact_at(&mut there, at) {
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => false,
                read => read.map(|()| there == text).map_err(failed("read", path))?,
            };
            at += text.len() as u64;
            Ok(same)
        })?;
        let len = file.stat().map_err(failed("look at", path))?.len;
        Ok(match same && len == at {
            true => Compared::Same,
            false => Compared::Differs,
        })
    }
    /// Removes every file in a view directory that is not among `names`; returns the number of removed files.
    pub fn remove_others(&self, dir: &str, names: &BTreeSet<String>) -> Result<u64> {
        let mut removed = 0;
        for name in self.names(dir)? {
            if names.contains(&name) {
                continue;
            }
            let path = self.path(dir).join(&name);
            let stat = self.storage.stat(&path).map_err(failed("look at", &path))?;
            match stat.is_some_and(|stat| stat.is_dir) {
                true => self.storage.remove_dir_all(&path),
                false => self.storage.remove_file(&path),
            }
            .map_err(failed("remove", &path))?;
            removed += 1;
        }
        Ok(removed)
    }
}

/// Visits all expected view files, and updates or only compares each.
pub(crate) struct Walk<'a> {
    pub home: &'a Home,
    /// Expected names in each directory.
    names: BTreeMap<String, BTreeSet<String>>,
    pub mended: ViewUpdate,
    /// Result of comparing; `None` if files are updated.
    pub found: Option<ViewsComparison>,
}

impl<'a> Walk<'a> {
    fn mending(home: &'a Home) -> Walk<'a> {
        Walk {
            home,
            names: BTreeMap::new(),
            mended: ViewUpdate::default(),
            found: None,
        }
    }
    /// Updates all files that `walk` visits.
    pub fn mend(home: &Home, walk: impl FnOnce(&mut Walk<'_>) -> Result<()>) -> Result<ViewUpdate> {
        let mut to = Walk::mending(home);
        walk(&mut to)?;
        Ok(to.mended)
    }
    /// Creates a walk that only compares.
    pub fn comparing(home: &'a Home) -> Walk<'a> {
        Walk {
            found: Some(ViewsComparison::default()),
            ..Walk::mending(home)
        }
    }
    /// Notes an expected name in a directory.
    pub fn keep(&mut self, dir: &str, name: &str) {
        let names = self.names.entry(dir.to_owned()).or_default();
        names.insert(name.to_owned());
    }
    /// Visits a file of a directory.
    pub fn file(&mut self, dir: &str, name: &str, text: &[u8]) -> Result<()> {
        self.enter(dir, name)?;
        let path = self.home.path(dir).join(name);
        match &mut self.found {
            Some(found) => {
                let compared = self.home.compare(&path, |take| take(text).map(drop))?;
                found.compared(format!("{dir}/{name}"), compared);
            }
            None => self
                .mended
                .add(ViewUpdate::one(self.home.put(&path, text)?)),
        }
        Ok(())
    }
    /// Compares a file of the team's own directory.
    pub fn alone(&mut self, name: &str, text: &[u8]) -> Result<()> {
        let path = self.home.path(name);
        let compared = self.home.compare(&path, |take| take(text).map(drop))?;
        if let Some(found) = &mut self.found {
            found.compared(name.to_owned(), compared);
        }
        Ok(())
    }
    /// Visits a file of a directory whose lines come in pieces.
    pub fn lines(
        &mut self,
        dir: &str,
        name: &str,
        show: impl Fn(Take<'_>) -> Result<()>,
    ) -> Result<()> {
        self.enter(dir, name)?;
        let path = self.home.path(dir).join(name);
        let compared = self.home.compare(&path, &show)?;
        match &mut self.found {
            Some(found) => found.compared(format!("{dir}/{name}"), compared),
            None => {
                let differs = compared != Compared::Same;
                if differs {
                    self.home.build(&path, show)?;
                }
                self.mended.add(ViewUpdate::one(differs));
            }
        }
        Ok(())
    }
    fn enter(&mut self, dir: &str, name: &str) -> Result<()> {
        if self.found.is_none() && !self.names.contains_key(dir) {
            self.home.create_dir(&self.home.path(dir))?;
        }
        self.keep(dir, name);
        Ok(())
    }
    /// Ends a directory: removes or reports every unexpected file in the directory.
    pub fn end(&mut self, dir: &str) -> Result<()> {
        let names = self.names.remove(dir).unwrap_or_default();
        let Some(found) = &mut self.found else {
            self.mended.removed += self.home.remove_others(dir, &names)?;
            return Ok(());
        };
        for name in self.home.names(dir)? {
            if !names.contains(&name) {
                found.fault(format!("{dir}/{name}"), "unknown");
            }
        }
        Ok(())
    }
}
