//! A set of projections: its members, its options, and its directory.

use super::rows::RowChanges;
use super::{Progress, Projection, ProjectionError};
use crate::derived::{Changes, Overlay, Store, VERSION};
use crate::layout::PROJECTIONS_DIR;
use crate::pipeline::{Bulk, Step, holds};
use crate::prelude::*;
use crate::reader::Reader;
use std::cmp::Reverse;

/// Namespace of the first projection's rows. No namespace of a projection is a series.
const NAMESPACE: u8 = 0x01;
/// Number of other versions of a set whose rows are kept, so that two programs with different versions can run side by side.
const OTHER_VERSIONS: usize = 1;

/// Options of a set of projections.
#[derive(Clone)]
#[non_exhaustive]
pub struct ProjectionOptions {
    /// Decoder threads of a long fold. Each projection has one more thread. Does not affect the rows. Default 2.
    pub decoders: usize,
    /// Number of events up to which the calling thread folds alone. Does not affect the rows. Default 4096.
    pub alone_max: u64,
    /// Bytes of log per run of a long fold; the memory of a long fold is about three times as large. Default 32 MiB.
    pub run_bytes: u64,
    /// Number of events after which [`Projections::catch_up`](super::Projections::catch_up) writes a run. Default 256.
    pub tail_events: usize,
    /// Called during a fold, from the thread that folds. Default none.
    pub progress: Option<Arc<dyn Fn(Progress) + Send + Sync>>,
}

impl Default for ProjectionOptions {
    fn default() -> ProjectionOptions {
        ProjectionOptions {
            decoders: 2,
            alone_max: 4096,
            run_bytes: 32 << 20,
            tail_events: 256,
            progress: None,
        }
    }
}

impl std::fmt::Debug for ProjectionOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProjectionOptions")
            .field("decoders", &self.decoders)
            .field("alone_max", &self.alone_max)
            .field("run_bytes", &self.run_bytes)
            .field("tail_events", &self.tail_events)
            .finish_non_exhaustive()
    }
}

impl ProjectionOptions {
    /// Sets the callback that receives the progress of a fold.
    #[must_use]
    pub fn with_progress(self, progress: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        ProjectionOptions {
            progress: Some(Arc::new(progress)),
            ..self
        }
    }

    pub(super) fn report(&self, progress: Progress) {
        if let Some(report) = &self.progress {
            report(progress);
        }
    }

    pub(super) fn bulk(&self) -> Bulk {
        Bulk {
            run_bytes: self.run_bytes,
            alone_max: self.alone_max,
            ..Bulk::new(self.decoders)
        }
    }
}

/// Removes the rows of the set `name` of a log, of every version. Succeeds if there are none.
///
/// # Errors
/// `Invalid` for a name that no set can have, I/O.
pub fn remove(storage: &dyn Storage, log: &Path, name: &str) -> Result<()> {
    check_name("the name of a set of projections", name)?;
    let home = log.join(PROJECTIONS_DIR).join(name);
    match storage.remove_dir_all(&home) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Error::io("remove", home)(error))
        }
        _ => Ok(()),
    }
}

/// A projection with the namespace of its rows.
struct Member {
    namespace: u8,
    projection: Arc<dyn Projection>,
}

/// The projections of one set, in the order of their names.
pub(super) struct Set {
    members: Vec<Member>,
    /// Directory of the log.
    log: PathBuf,
    /// Directory of all versions of the set.
    home: PathBuf,
    /// Directory of this version.
    dir: PathBuf,
}

impl Set {
    pub fn new(log: &Path, name: &str, mut projections: Vec<Arc<dyn Projection>>) -> Result<Set> {
        check_name("the name of a set of projections", name)?;
        projections.sort_by(|a, b| a.name().cmp(b.name()));
        check_members(&projections)?;
        let namespaces = NAMESPACE..;
        let members: Vec<Member> = namespaces
            .zip(projections)
            .map(|(namespace, projection)| Member {
                namespace,
                projection,
            })
            .collect();
        let home = log.join(PROJECTIONS_DIR).join(name);
        Ok(Set {
            dir: home.join(format!("v{}", version(&members))),
            log: log.to_owned(),
            home,
            members,
        })
    }

    /// Returns the namespace of a projection's rows.
    pub fn namespace(&self, name: &str) -> Result<u8> {
        let member = self
            .members
            .iter()
            .find(|one| one.projection.name() == name);
        member.map(|member| member.namespace).ok_or_else(|| {
            let names: Vec<&str> = self
                .members
                .iter()
                .map(|one| one.projection.name())
                .collect();
            let rule = format!("must be a projection of the set ({})", names.join(", "));
            Error::invalid("projection", name, rule)
        })
    }

    /// Folds one event into the rows of all projections.
    pub fn apply(&self, changes: &mut dyn Changes, event: &Event<'_>) -> Result<()> {
        let mut members = self.members.iter();
        members.try_for_each(|member| member.apply(changes, event))
    }

    /// Returns the folds for the pipeline, one per projection.
    pub fn steps(&self) -> Vec<Step<'_, (), Error>> {
        let step = |member| -> Step<'_, (), Error> {
            Box::new(move |table, batch| {
                let mut events = batch.events();
                events.try_for_each(|(event, ())| Member::apply(member, table, event))
            })
        };
        self.members.iter().map(step).collect()
    }

    /// Returns the digest of all rows, as lower-case hex.
    pub fn digest(&self, overlay: &Overlay) -> Result<String> {
        let mut all = blake3::Hasher::new();
        for member in &self.members {
            let mut hasher = blake3::Hasher::new();
            let range = (&[member.namespace][..], &[member.namespace + 1][..]);
            overlay.view().hash_entries(&mut hasher, range.0, range.1)?;
            let (name, version) = (member.projection.name(), member.projection.version());
            let rows = hasher.finalize().to_hex();
            all.update(format!("{name} {version} {rows}\n").as_bytes());
        }
        Ok(all.finalize().to_hex().to_string())
    }

    /// Opens the stored rows; leaves out runs whose last event the log does not have.
    pub fn open(&self, reader: &Reader) -> Result<Store> {
        let storage = Arc::clone(reader.storage());
        Store::open(storage, &self.dir, &mut |anchor| holds(reader, anchor))
    }

    /// Like [`Set::open`], with every run open.
    pub fn open_held(&self, reader: &Reader) -> Result<Store> {
        let storage = Arc::clone(reader.storage());
        Store::open_held(storage, &self.dir, &mut |anchor| holds(reader, anchor))
    }

    /// Starts an empty store that later replaces the stored rows: see [`Store::aside`].
    pub fn aside(&self, storage: &Arc<dyn Storage>, deadline: Duration) -> Result<Store> {
        self.prepare(storage.as_ref())
            .map_err(Error::io("create", &self.home))?;
        Store::aside(Arc::clone(storage), &self.dir, deadline)
    }

    /// Creates the directory of the set, below the log's directory.
    pub fn prepare(&self, storage: &dyn Storage) -> io::Result<()> {
        storage.create_dir_below(&self.log, &self.home)
    }

    /// Removes the rows of other versions, except the version that was used last. Ignores errors, because old rows do no harm.
    pub fn remove_others(&self, storage: &dyn Storage) {
        let modified = |dir: &PathBuf| {
            let stat = storage.stat(&dir.join("manifest")).ok().flatten();
            stat.map(|stat| stat.modified)
        };
        let names = storage.list(&self.home).unwrap_or_default();
        let versions = names.iter().filter(|name| name.starts_with('v'));
        let mut others: Vec<PathBuf> = versions.map(|name| self.home.join(name)).collect();
        others.retain(|dir| *dir != self.dir);
        others.sort_by_key(|dir| Reverse(modified(dir)));
        for dir in others.iter().skip(OTHER_VERSIONS) {
            let _ = storage.remove_dir_all(dir);
        }
    }
}

impl Member {
    fn apply(&self, changes: &mut dyn Changes, event: &Event<'_>) -> Result<()> {
        if !self.projection.wants(event) {
            return Ok(());
        }
        let mut rows = RowChanges::new(changes, self.namespace);
        let applied = self.projection.apply(&mut rows, event);
        // The projection may have ignored the error of a read or a change.
        match rows
            .failure()
            .map_or(applied, |failure| Err(failure.into()))
        {
            Ok(()) => Ok(()),
            Err(ProjectionError::Rows(error @ (Error::Derived { .. } | Error::Io { .. }))) => {
                Err(error)
            }
            Err(error) => Err(Error::Projection {
                projection: self.projection.name().to_owned(),
                seq: event.seq,
                why: error.to_string(),
            }),
        }
    }
}

/// Returns the digest of the set's names and versions, which changes if the rows must be folded again.
fn version(members: &[Member]) -> String {
    let mut text = format!("set 1\nstore {VERSION}\n");
    for Member { projection, .. } in members {
        text.push_str(&format!("{} {}\n", projection.name(), projection.version()));
    }
    let digest = blake3::hash(text.as_bytes()).to_hex();
    digest.chars().take(16).collect()
}

fn check_members(projections: &[Arc<dyn Projection>]) -> Result<()> {
    let max = crate::limits::PROJECTIONS_MAX;
    if projections.is_empty() || projections.len() > max {
        let rule = format!("must have 1 to {max} projections");
        return Err(Error::invalid(
            "a set of projections",
            projections.len().to_string(),
            rule,
        ));
    }
    for projection in projections {
        check_name("the name of a projection", projection.name())?;
    }
    for pair in projections.windows(2) {
        if let [one, other] = pair
            && one.name() == other.name()
        {
            let rule = "must be unique in its set";
            return Err(Error::invalid("the name of a projection", one.name(), rule));
        }
    }
    Ok(())
}

fn check_name(field: &'static str, name: &str) -> Result<()> {
    let allowed = |byte: u8| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_' || byte == b'-'
    };
    if (1..=64).contains(&name.len()) && name.bytes().all(allowed) {
        return Ok(());
    }
    let shown: String = name.chars().take(80).collect();
    let rule = "must be 1 to 64 characters of a to z, 0 to 9, _ and -";
    Err(Error::invalid(field, format!("{shown:?}"), rule))
}
