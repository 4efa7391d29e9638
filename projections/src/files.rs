//! The view files of a team: where they lie, and how they are written, compared and removed. Their content is the business
//! of the nouns.

use crate::common::*;
use std::io::{self, ErrorKind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use teamlog_engine::storage::{File, OpenMode, Storage};

/// Changes of more bytes are written at once: what waits in memory is bounded.
const CHANGES_BYTES_MAX: usize = 64 << 20;
/// Lines are compared and written in pieces of about this size.
const PIECE_BYTES: usize = 1 << 20;
/// A file that is larger is not read for comparison, but written.
const COMPARED_BYTES_MAX: u64 = 4 << 20;
/// No more faults than this are told.
const FAULTS_MAX: usize = 20;

/// What bringing the views up to date took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Mended {
    /// Files that were right already.
    pub kept: u64,
    /// Files written anew or extended.
    pub written: u64,
    /// Files that no task or agent accounts for, removed.
    pub removed: u64,
}

impl Mended {
    pub(crate) fn add(&mut self, other: Mended) {
        self.kept += other.kept;
        self.written += other.written;
        self.removed += other.removed;
    }
    /// One file, written or found right.
    pub(crate) fn one(written: bool) -> Mended {
        Mended {
            written: u64::from(written),
            kept: u64::from(!written),
            removed: 0,
        }
    }
    /// So many files, all written.
    pub(crate) fn written(files: usize) -> Mended {
        Mended {
            written: files as u64,
            ..Mended::default()
        }
    }
}

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

impl ViewsFound {
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

/// How a file is beside what it has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compared {
    Same,
    Missing,
    Differs,
}

/// Takes a piece of a text; whether more is wanted.
pub(crate) type Take<'a> = &'a mut dyn FnMut(&[u8]) -> Result<bool>;

/// Shows what `add` appends for each of the items, in pieces, for as long as `take` wants more.
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

/// The content of a file that holds one JSON value.
pub(crate) fn pretty(value: &impl Serialize) -> Vec<u8> {
    // Into memory nothing fails.
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

/// The same of a record, with the version of its shape in front.
pub(crate) fn record(said: impl Serialize) -> Vec<u8> {
    pretty(&Record {
        schema_version: 1,
        schema_version_text: "1.0.0",
        said,
    })
}

/// Makes an I/O error name the view.
pub(crate) fn failed(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> crate::Error {
    let wrap = teamlog_engine::Error::io(doing, path);
    move |error| crate::Error::Engine(wrap(error))
}

/// What is to become of files, each of them named once.
#[derive(Default)]
pub(crate) struct Changes {
    pub replaced: BTreeMap<PathBuf, Vec<u8>>,
    /// Lines for the end of a file, and how long it is with them.
    pub grown: BTreeMap<PathBuf, (Vec<u8>, u64)>,
    bytes: usize,
}

impl Changes {
    fn has_room(&mut self, bytes: &[u8]) -> bool {
        self.bytes += bytes.len();
        self.bytes <= CHANGES_BYTES_MAX
    }
}

/// Where a team's views lie.
#[derive(Clone)]
pub(crate) struct Home {
    pub storage: Arc<dyn Storage>,
    pub dir: PathBuf,
    pub team: String,
    pub log: [u8; 16],
    /// Where changes of files go that are made later.
    later: Option<Arc<Mutex<Changes>>>,
    /// `true` after a possible power loss: the last bytes of a file may be wrong although its length is right.
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
    pub fn of(reader: &Reader) -> Home {
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
    /// Device and inode of the team's directory; `None` if it was moved or removed.
    pub fn identity(&self) -> Result<Option<(u64, u64)>> {
        let look = self.storage.look(&self.dir);
        let look = look.map_err(failed("look at", &self.dir))?;
        Ok(look.map(|look| look.identity))
    }
    /// Fails unless the team's directory is still that one: another team may lie there by now.
    pub fn check_identity(&self, known: Option<(u64, u64)>) -> Result<()> {
        match known.is_some() && self.identity()? == known {
            true => Ok(()),
            false => {
                let why = io::Error::new(ErrorKind::NotFound, "the directory was moved or removed");
                Err(failed("write view files in", &self.dir)(why))
            }
        }
    }
    /// The same place, and the changes that are made by its means: they are kept, as long as there is room.
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
    /// Opens a file for reading; `None` where there is none.
    pub fn find(&self, path: &Path) -> Result<Option<Box<dyn File>>> {
        match self.storage.open(path, OpenMode::Read) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            opened => opened.map(Some).map_err(failed("open", path)),
        }
    }
    /// Creates a directory within the team's, which must be there.
    pub fn create_dir(&self, dir: &Path) -> Result<()> {
        let created = self.storage.create_dir_below(&self.dir, dir);
        created.map_err(failed("create", dir))
    }
    /// Removes a directory with all that is in it, if it is there.
    pub fn remove_dir(&self, dir: &Path) -> Result<()> {
        match self.storage.remove_dir_all(dir) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            removed => removed.map_err(failed("remove", dir)),
        }
    }
    /// An empty directory of that name, where something is built that is renamed whole.
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
    /// The names in a directory; none where it is missing.
    pub fn names(&self, dir: &str) -> Result<Vec<String>> {
        let dir = self.path(dir);
        match self.storage.list(&dir) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            listed => listed.map_err(failed("list", &dir)),
        }
    }

    /// Replaces a file whole, now or later.
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
    /// Adds lines to a file that is `whole` bytes long with them, now or later. `false` where it is not what it should be.
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
    /// Writes a file whose content differs; whether it did.
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
    /// Builds a file anew from pieces, beside and renamed whole.
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
    /// Holds a file against pieces of what it has to be.
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
    /// Removes what is in a view directory and not among `names`; says how many files that were.
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

/// A walk over all files that there have to be: each is brought in line, or only compared.
pub(crate) struct Walk<'a> {
    pub home: &'a Home,
    /// What belongs into each directory.
    names: BTreeMap<String, BTreeSet<String>>,
    pub mended: Mended,
    /// What was found, where nothing is to be written.
    pub found: Option<ViewsFound>,
}

impl<'a> Walk<'a> {
    fn mending(home: &'a Home) -> Walk<'a> {
        Walk {
            home,
            names: BTreeMap::new(),
            mended: Mended::default(),
            found: None,
        }
    }
    /// Brings all files in line that `walk` goes over.
    pub fn mend(home: &Home, walk: impl FnOnce(&mut Walk<'_>) -> Result<()>) -> Result<Mended> {
        let mut to = Walk::mending(home);
        walk(&mut to)?;
        Ok(to.mended)
    }
    /// Compares files.
    pub fn comparing(home: &'a Home) -> Walk<'a> {
        Walk {
            found: Some(ViewsFound::default()),
            ..Walk::mending(home)
        }
    }
    /// Notes that something of that name belongs into a directory.
    pub fn keep(&mut self, dir: &str, name: &str) {
        let names = self.names.entry(dir.to_owned()).or_default();
        names.insert(name.to_owned());
    }
    /// A file of a directory, with its content.
    pub fn file(&mut self, dir: &str, name: &str, text: &[u8]) -> Result<()> {
        self.enter(dir, name)?;
        let path = self.home.path(dir).join(name);
        match &mut self.found {
            Some(found) => {
                let compared = self.home.compare(&path, |take| take(text).map(drop))?;
                found.compared(format!("{dir}/{name}"), compared);
            }
            None => self.mended.add(Mended::one(self.home.put(&path, text)?)),
        }
        Ok(())
    }
    /// A file of the team's own directory, with its content.
    pub fn alone(&mut self, name: &str, text: &[u8]) -> Result<()> {
        let path = self.home.path(name);
        let compared = self.home.compare(&path, |take| take(text).map(drop))?;
        if let Some(found) = &mut self.found {
            found.compared(name.to_owned(), compared);
        }
        Ok(())
    }
    /// A file of a directory, whose lines come in pieces.
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
                self.mended.add(Mended::one(differs));
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
    /// Everything else in a directory has nothing to do there.
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
