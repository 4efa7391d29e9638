//! `artifact-put`, `artifact-get`, `artifact-list`: files that agents store for others.
//!
//! Each version has a file next to the log, named after the digest of its bytes. The file is durable before the event that names it is
//! recorded, so every artifact in the log has its bytes. A crash can leave a file that no event names; such a file is ignored.

use crate::claim::existing;
use crate::operation::prelude::*;
use crate::projections::artifact::Artifact;
use crate::projections::artifact::event::{ArtifactFact, ArtifactKind, ArtifactStored};
use crate::thread::start::{SYSTEM, author};
use page::unknown_cursor;
use std::collections::BTreeSet;
use teamlog_engine::JournalIdentity;
use teamlog_engine::storage::OpenMode;

operation! {
    /// Store a text as an artifact, under a name
    "artifact-put": Records(ArtifactPut {
        /// Name of the artifact
        name: String,
        /// Content of the artifact
        content: String,
        /// `summaries` or `patches`. If absent, the name decides: `patches` for `.patch` and `.diff`, else `summaries`
        #[schemars(with = "Option<ArtifactKind>")]
        #[arg(long, value_name = "KIND")]
        kind: Option<String>,
        /// Task that the artifact belongs to
        #[arg(long, value_name = "TASK")]
        task_id: Option<String>,
        /// Author of the artifact
        #[arg(id = "agent", long, value_name = "AGENT")]
        worker: Option<String>,
        /// Replace an artifact of the same name
        #[serde(default)]
        #[arg(long)]
        replace: bool,
    }) -> ArtifactPutAnswer = Team::artifact_put,
    refuses = [WorkerNotFound, TaskNotFound, ArtifactExists],
    rules = Rules {
        aliases: &[("taskId", "task_id"), ("agentId", "worker")],
        ..Rules::COMMON
    }
}

operation! {
    /// Read an artifact, and check it against its digest
    "artifact-get": Reads(ArtifactGet {
        /// Name of the artifact
        #[arg(value_name = "NAME")]
        name: String,
    }) -> ArtifactGetAnswer = |team, asked| team.artifact_get(&asked),
    refuses = [ArtifactNotFound, ArtifactDamaged]
}

operation! {
    /// List artifacts by name
    "artifact-list": Reads(ArtifactList {
        /// Only artifacts of this kind: `summaries` or `patches`
        #[schemars(with = "Option<ArtifactKind>")]
        #[arg(long, value_name = "KIND")]
        kind: Option<String>,
        /// Largest number of artifacts; 50 if absent. On the command line, 0 means all
        #[schemars(range(min = 1))]
        #[arg(long, value_name = "N", value_parser = crate::argv::whole::<usize>)]
        limit: Option<usize>,
        /// `next_cursor` of the previous page
        #[arg(long, value_name = "NAME")]
        cursor: Option<String>,
    }) -> ArtifactListAnswer = |team, asked| team.artifact_list(&asked),
    refuses = [CursorUnknown]
}

/// Maximum size of an artifact, in bytes.
pub const ARTIFACT_BYTES_MAX: u64 = 8 << 20;

/// An artifact from a file, whose bytes need not be text.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ArtifactFile {
    /// The artifact's fields, without the bytes.
    #[serde(flatten)]
    pub put: ArtifactPut,
    /// BLAKE3 digest of the bytes.
    digest: String,
    #[serde(skip)]
    bytes: Vec<u8>,
}

/// An artifact
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactShown {
    /// Name of the artifact
    pub name: String,
    /// Kind of the artifact
    pub kind: ArtifactKind,
    /// BLAKE3 digest of its bytes, lower-case hex
    pub digest: String,
    /// Size in bytes
    pub size: u64,
    /// File with the bytes, relative to the team's directory
    pub path: String,
    /// Id of the task that the artifact belongs to
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// The agent that stored the artifact
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// Number of versions so far
    pub versions: u64,
    /// Time at which the last version was stored
    pub stored_at: Timestamp,
}

/// The answer `{stored, artifact}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactPutAnswer {
    /// True if a new artifact or version was stored; false if the artifact already has this content
    pub stored: bool,
    /// The stored artifact
    pub artifact: ArtifactShown,
}

/// The answer `{artifact, content?}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactGetAnswer {
    /// The artifact without its bytes
    pub artifact: ArtifactShown,
    /// Content of the artifact; absent if the bytes are not text
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

/// The answer `{artifacts, next_cursor?}`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactListAnswer {
    /// The artifacts, by name
    pub artifacts: Vec<ArtifactShown>,
    /// Cursor of the next page; absent on the last page
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

impl From<&Artifact> for ArtifactShown {
    fn from(artifact: &Artifact) -> ArtifactShown {
        let stored = &artifact.stored;
        ArtifactShown {
            name: stored.name.clone(),
            kind: stored.kind,
            digest: stored.digest.clone(),
            size: stored.size,
            path: stored.path(),
            task_id: stored.task_id.clone(),
            worker: stored.worker.clone(),
            versions: artifact.versions,
            stored_at: artifact.at,
        }
    }
}

impl ArtifactFile {
    /// Creates an artifact file with the given bytes, which replace the input's text.
    pub fn new(put: ArtifactPut, bytes: Vec<u8>) -> ArtifactFile {
        let digest = blake3::hash(&bytes).to_hex().to_string();
        ArtifactFile { put, digest, bytes }
    }

    fn stored(&self) -> Result<ArtifactStored, Refusal> {
        names::check_new("name", &self.put.name)?;
        let size = self.bytes.len() as u64;
        if size > ARTIFACT_BYTES_MAX {
            let message =
                format!("an artifact must have at most {ARTIFACT_BYTES_MAX} bytes, but has {size}");
            return Err(Refusal::new(Code::TooLarge, message).field("content"));
        }
        let name = &self.put.name;
        let kind = match self.put.kind.as_deref() {
            Some(kind) => kind_of(kind)?,
            None if name.ends_with(".patch") || name.ends_with(".diff") => ArtifactKind::Patches,
            None => ArtifactKind::Summaries,
        };
        Ok(ArtifactStored {
            name: name.clone(),
            kind,
            digest: self.digest.clone(),
            size,
            task_id: self.put.task_id.clone(),
            worker: self.put.worker.clone(),
        })
    }
}

fn kind_of(name: &str) -> Result<ArtifactKind, Refusal> {
    names::word("kind", name, ArtifactKind::from_name, ArtifactKind::rule)
}

impl Team {
    /// Returns the number of artifacts.
    pub fn artifact_count(&mut self) -> Result<usize> {
        self.query(|live, _| Ok(live.artifacts(None, None, usize::MAX)?.len()))
    }

    /// Stores a text as an artifact.
    pub fn artifact_put(&mut self, mut put: ArtifactPut) -> Result<ArtifactPutAnswer> {
        let bytes = std::mem::take(&mut put.content).into_bytes();
        self.artifact_put_file(ArtifactFile::new(put, bytes))
    }

    /// Stores a file as an artifact. Storing the same content again changes nothing.
    ///
    /// # Errors
    /// `invalid_input`, `too_large`, `artifact_exists`, `task_not_found`, `worker_not_found`, `team_closed`; errors of
    /// the log.
    pub fn artifact_put_file(&mut self, mut file: ArtifactFile) -> Result<ArtifactPutAnswer> {
        self.changeable()?;
        let stored = file.stored()?;
        let record = RecordArtifact {
            stored,
            replace: file.put.replace,
        };
        // Checks for a refusal before any bytes are written. Under an idempotency key there is no check here, because the key may already
        // have an answer. The lock is not held while the bytes are written.
        if self.control.key.is_none() {
            self.query(|live, _| {
                crate::handle::team::open(live)?;
                record.check(live).map(drop)
            })?;
        }
        let bytes = std::mem::take(&mut file.bytes);
        self.lay(&record.stored, &bytes)?;
        self.execute(record)
    }

    /// Returns the bytes of an artifact, checked against its digest.
    pub fn artifact_bytes(&mut self, get: &ArtifactGet) -> Result<(ArtifactShown, Vec<u8>)> {
        names::check_known("name", &get.name)?;
        let artifact = self.query(|live, _| found(live, &get.name))?;
        let path = self.log.dir().join(artifact.stored.path());
        let storage = self.log.storage();
        let bytes = match storage.read(&path, ARTIFACT_BYTES_MAX) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => self.fetched(&artifact)?,
            Err(error) if error.kind() == ErrorKind::FileTooLarge => {
                return Err(damaged(&artifact, "is too long").into());
            }
            Err(error) => return Err(Error::io("read", &path)(error).into()),
        };
        match is_whole(&artifact, &bytes) {
            true => Ok((ArtifactShown::from(&artifact), bytes)),
            false => Err(damaged(&artifact, "has other content").into()),
        }
    }

    /// Returns an artifact. Includes its content if the bytes are text.
    pub fn artifact_get(&mut self, get: &ArtifactGet) -> Result<ArtifactGetAnswer> {
        let (artifact, bytes) = self.artifact_bytes(get)?;
        let content = String::from_utf8(bytes).ok();
        Ok(ArtifactGetAnswer { artifact, content })
    }

    /// Lists artifacts by name.
    pub fn artifact_list(&mut self, list: &ArtifactList) -> Result<ArtifactListAnswer> {
        let kind = list.kind.as_deref().map(kind_of).transpose()?;
        let limit = page::limit(list.limit, page::PAGE);
        self.query(|live, _| {
            let after = list.cursor.as_deref();
            if let Some(cursor) = after
                && live.artifact(cursor)?.is_none()
            {
                return Err(unknown_cursor(cursor, "the name of an artifact").into());
            }
            let mut artifacts = live.artifacts(kind, after, limit.saturating_add(1))?;
            let more = page::cut(&mut artifacts, limit);
            let last = artifacts.last().filter(|_| more);
            Ok(ArtifactListAnswer {
                next_cursor: last.map(|last| last.stored.name.clone()),
                artifacts: artifacts.iter().map(ArtifactShown::from).collect(),
            })
        })
    }

    /// Fetches an artifact's bytes from the journal, and also writes the bytes to the file on this host.
    fn fetched(&self, artifact: &Artifact) -> Result<Vec<u8>> {
        let digest = &artifact.stored.digest;
        let journal = self.log.identity().journal.as_ref();
        let kept = journal.map(|journal| self.log.blob(journal, digest));
        match kept.transpose()?.flatten() {
            Some(bytes) if is_whole(artifact, &bytes) => {
                // If the file cannot be written, the next read fetches the bytes again.
                let _ = self.lay_here(&artifact.stored, &bytes);
                Ok(bytes)
            }
            Some(_) => Err(damaged(artifact, "has other content in the journal").into()),
            None => Err(damaged(artifact, "is missing").into()),
        }
    }

    /// Copies the bytes of every local artifact to the journal, except artifacts whose digest is in `kept`. Adds the digests of the
    /// copied artifacts to `kept`.
    pub(crate) fn keep_artifacts(
        &mut self,
        journal: &JournalIdentity,
        kept: &mut BTreeSet<String>,
    ) -> Result<()> {
        let artifacts = self.query(|live, _| Ok(live.artifacts(None, None, usize::MAX)?))?;
        for artifact in artifacts {
            if !kept.insert(artifact.stored.digest.clone()) {
                continue;
            }
            let path = self.log.dir().join(artifact.stored.path());
            let bytes = self.log.storage().read(&path, ARTIFACT_BYTES_MAX);
            // Skips an artifact whose file is missing or changed.
            if let Some(bytes) = bytes.ok().filter(|bytes| is_whole(&artifact, bytes)) {
                let digest = &artifact.stored.digest;
                self.log.put_blob(journal, digest, &bytes)?;
            }
        }
        Ok(())
    }

    /// Stores the bytes durably under the path that the event will name, and in the journal for other hosts.
    fn lay(&self, stored: &ArtifactStored, bytes: &[u8]) -> Result<()> {
        self.lay_here(stored, bytes)?;
        match &self.log.identity().journal {
            Some(journal) => Ok(self.log.put_blob(journal, &stored.digest, bytes)?),
            None => Ok(()),
        }
    }

    fn lay_here(&self, stored: &ArtifactStored, bytes: &[u8]) -> Result<()> {
        let storage = self.log.storage().as_ref();
        let path = self.log.dir().join(stored.path());
        let there = storage.read(&path, ARTIFACT_BYTES_MAX);
        if there.is_ok_and(|there| there == bytes) {
            return Ok(());
        }
        let mut dir = self.log.dir().to_path_buf();
        for part in Path::new(&stored.path()).parent().into_iter().flatten() {
            let parent = dir.clone();
            dir.push(part);
            storage
                .create_dir(&dir)
                .map_err(Error::io("create", &dir))?;
            storage
                .sync_dir(&parent)
                .map_err(Error::io("sync", &parent))?;
        }
        let mut aside = path.clone().into_os_string();
        aside.push(format!(".{:016x}.tmp", self.options.ids.random()?));
        let aside = PathBuf::from(aside);
        let laid = write_durably(storage, &aside, &path, bytes);
        if laid.is_err() {
            // Reports the first error of the steps above. A leftover temporary file is harmless.
            let _ = storage.remove_file(&aside);
        }
        Ok(laid.map_err(Error::io("write", &path))?)
    }
}

fn write_durably(
    storage: &dyn Storage,
    aside: &Path,
    path: &Path,
    bytes: &[u8],
) -> std::io::Result<()> {
    let file = storage.open(aside, OpenMode::CreateNew)?;
    file.write_all_at(bytes, 0)?;
    file.sync_all()?;
    storage.rename(aside, path)?;
    path.parent().map_or(Ok(()), |dir| storage.sync_dir(dir))
}

/// Returns true if the bytes match the artifact's size and digest.
pub(crate) fn is_whole(artifact: &Artifact, bytes: &[u8]) -> bool {
    bytes.len() as u64 == artifact.stored.size
        && blake3::hash(bytes).to_hex().as_str() == artifact.stored.digest
}

/// The command that records an artifact after its bytes are durable.
#[derive(Debug, Clone)]
struct RecordArtifact {
    stored: ArtifactStored,
    replace: bool,
}

impl RecordArtifact {
    /// Returns true if the same artifact with the same content is already recorded.
    fn check(&self, live: &Live) -> Result<bool> {
        let Some(there) = live.artifact(&self.stored.name)? else {
            return Ok(false);
        };
        let same = there.stored.digest == self.stored.digest
            && there.stored.kind == self.stored.kind
            && (self.stored.task_id.is_none() || self.stored.task_id == there.stored.task_id);
        if same || self.replace {
            return Ok(same);
        }
        let name = &self.stored.name;
        let message = format!("artifact {name:?} already exists with other content");
        Err(Refusal::new(Code::ArtifactExists, message)
            .field("name")
            .detail("name", name.as_str())
            .detail("digest", there.stored.digest)
            .hint("to replace the artifact, add --replace")
            .into())
    }
}

impl Command for RecordArtifact {
    /// True if the command records an event.
    type Decided = bool;
    type Answer = ArtifactPutAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Anyone)
    }

    fn decide(&self, _: &Ctx, live: &Live) -> Result<Decision<bool>> {
        let stored = &self.stored;
        let mut events = author(live, stored.worker.as_deref())?;
        let trace = existing(live, stored.task_id.as_deref())?;
        if self.check(live)? {
            return Ok(Decision::Granted(false, Vec::new()));
        }
        let actor = stored.worker.as_deref().unwrap_or(SYSTEM);
        let event = ArtifactFact::Stored(stored.clone()).event(actor, trace.as_deref());
        events.push(event);
        Ok(Decision::Granted(true, events))
    }

    fn answer(&self, stored: &bool, after: &After<'_>) -> Result<ArtifactPutAnswer> {
        Ok(ArtifactPutAnswer {
            stored: *stored,
            artifact: ArtifactShown::from(&found(after.live, &self.stored.name)?),
        })
    }
}

fn found(live: &Live, name: &str) -> Result<Artifact> {
    let missing = || {
        let message = format!("no artifact {name:?} in this team");
        Refusal::new(Code::ArtifactNotFound, message)
            .field("name")
            .detail("name", name)
    };
    Ok(live.artifact(name)?.ok_or_else(missing)?)
}

fn damaged(artifact: &Artifact, what: &str) -> Refusal {
    let path = artifact.stored.path();
    let name = &artifact.stored.name;
    let message = format!("artifact {name:?} is damaged: {path} {what}");
    Refusal::new(Code::ArtifactDamaged, message)
        .field("name")
        .detail("path", path)
        .detail("digest", artifact.stored.digest.as_str())
        .hint("store the same content again, or restore the file from a backup")
}
