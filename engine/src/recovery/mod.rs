//! Recovery of a log: every writer runs the recovery on opening the log. Recovery collects evidence, decides by a
//! table, then acts.
//!
//! Invariants: in the clean case recovery costs one `fstat`; no bytes are cut before a durable copy of the bytes is in
//! `quarantine/`; a crash at any point of a recovery leaves a state that the next recovery finishes; CORRUPT changes nothing.

pub(crate) mod cut;
mod quarantine;
pub(crate) mod switch;
pub mod table;
pub(crate) mod unsynced;
mod whole;

pub use quarantine::Quarantined;
pub(crate) use quarantine::unnamed;

use crate::head::HeadFile;
use crate::layout::QUARANTINE_DIR;
use crate::prelude::*;
use crate::reader::Reader;
use crate::segment::end_of_log;
use crate::tail::{self, Tail};
use cut::Cut;
use table::{Before, HeadFound, Past, Position, Verdict, verdict};

/// Largest tail that is read into memory: far more than one group.
const TAIL_BYTES_READ: u64 = 8 << 20;

/// A part of the active segment, in memory or mapped.
struct TailBytes {
    bytes: Bytes,
    range: Range<usize>,
}

impl std::ops::Deref for TailBytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        self.bytes.get(self.range.clone()).unwrap_or_default()
    }
}

/// A log whose lock this process holds.
pub(crate) struct RecoveryContext<'a> {
    pub storage: &'a Arc<dyn Storage>,
    pub dir: &'a Path,
    pub identity: &'a Identity,
    pub head_file: &'a HeadFile,
    /// True if a journal orders the log's groups. Then no event records the quarantine, because this host fetches missing groups
    /// from the journal.
    pub is_replica: bool,
}

/// A recovered log, ready to be written.
#[derive(Default)]
pub(crate) struct Recovered {
    pub head: Head,
    /// The active segment, open for writing; `None` while the log is empty.
    pub active: Option<NamedFile>,
    /// Quarantine files that no event names yet.
    pub unnamed: Vec<Quarantined>,
    /// A cut that no event records yet.
    pub cut: Option<Cut>,
    /// Actions of recovery, for people.
    pub notes: Vec<String>,
}

/// The inputs of the table, and the data that its verdicts need.
struct Evidence {
    head: Head,
    before: Before,
    position: Position,
    tail: Tail,
    active: Option<NamedFile>,
    /// The next segment, its number, and the end of its header.
    next: Option<(SegmentName, u32, u64)>,
    /// Error for a CORRUPT verdict.
    damage: Option<Error>,
}

/// Recovers a log, so that events can be appended.
pub(crate) fn recover(log: &RecoveryContext<'_>) -> Result<Recovered> {
    let mut recovered = recover_unchecked(log)?;
    if log.is_replica && recovered.head.quarantining {
        recovered.unnamed.clear();
        recovered.head.quarantining = false;
        log.head_file.write(&mut recovered.head, true)?;
    }
    let head = &recovered.head;
    assert!(
        !head.rotating,
        "the rotation behind {} must be finished",
        head.name
    );
    assert!(
        recovered.active.is_some() || head.segment == 0,
        "segment {} must be open for writing",
        head.segment
    );
    assert_eq!(
        recovered.cut.is_some(),
        head.cutting,
        "a cut after event {} must be recorded",
        head.last_seq
    );
    assert!(
        recovered.unnamed.is_empty() || head.quarantining,
        "the head at event {} must say that {} quarantine files lack their event",
        head.last_seq,
        recovered.unnamed.len()
    );
    Ok(recovered)
}

fn recover_unchecked(log: &RecoveryContext<'_>) -> Result<Recovered> {
    let slots = log.head_file.read()?;
    if slots.foreign {
        log.confirm_identity()?;
    }
    let Some(head) = slots.newest else {
        if switch::is_owed(log.storage.as_ref(), log.dir, log.identity)? {
            // Not all segments of the log were moved here yet, so the existing segments are not the whole log.
            return Err(Error::foreign(
                log.dir.join(HEAD_FILE),
                "a salvage was interrupted before the new head was in place",
            ));
        }
        let mut rebuilt = whole::rebuild_head(log)?;
        if slots.damaged > 1 {
            // Both slots are damaged, and each write replaces one slot.
            log.head_file.write(&mut rebuilt.head, true)?;
        }
        return Ok(rebuilt);
    };
    if head.cutting {
        let mut recovered = cut::finish(log, head)?;
        if recovered.head.quarantining {
            recovered.unnamed = log.unnamed(&recovered.head)?;
        }
        return Ok(recovered);
    }
    if let Some(broken) = unsynced::broken(log.storage, log.dir, log.identity, &head)? {
        return log.go_back(broken.synced, &head);
    }
    if let Some(active) = log.clean(&head)? {
        let mut head = head;
        let mut notes = Vec::new();
        if slots.damaged > 0 {
            // The write replaces the slot that is not the newest.
            log.head_file.write(&mut head, true)?;
            notes.push("rewrote a slot of the head that could not be read".to_owned());
        }
        return Ok(Recovered {
            head,
            active,
            notes,
            ..Recovered::default()
        });
    }
    let suspicious = head.quarantining;
    let evidence = log.examine(head)?;
    let mut recovered = log.act(evidence)?;
    if suspicious && !log.is_replica {
        // An earlier recovery perhaps did not record its event, so check every quarantine file.
        recovered.unnamed = log.unnamed(&recovered.head)?;
    }
    if recovered.unnamed.is_empty() && recovered.head.quarantining {
        recovered.head.quarantining = false;
        log.head_file.write(&mut recovered.head, true)?;
    }
    Ok(recovered)
}

impl RecoveryContext<'_> {
    /// Syncs `log.json`, which an interrupted conversion may just have replaced, before anything is acknowledged in the
    /// new log.
    fn confirm_identity(&self) -> Result<()> {
        let path = self.dir.join(LOG_FILE);
        self.storage.named().replace(&path, &self.identity.encode())
    }

    pub fn segment_path(&self, name: &str) -> PathBuf {
        self.dir.join(EVENTS_DIR).join(name)
    }

    /// Opens a segment for writing; `None` if the segment is missing.
    fn open_segment(&self, name: &str) -> Result<Option<NamedFile>> {
        let path = self.segment_path(name);
        self.storage.named().open_if_there(&path, OpenMode::Write)
    }

    /// Returns the quarantine files that no event up to `head` names.
    fn unnamed(&self, head: &Head) -> Result<Vec<Quarantined>> {
        let head = head.clone();
        quarantine::unnamed(&Reader::new(self.storage, self.dir, self.identity, head))
    }

    /// Returns true if the segment with this header continues the log that ends at `head`.
    fn continues(&self, header: &SegmentHeader, head: &Head) -> Result<bool> {
        let previous = match head.segment {
            0 => None,
            _ => {
                let bytes = self
                    .storage
                    .named()
                    .sealed(&self.segment_path(&head.name))?;
                Some(Predecessor::for_segment(&head.name, &bytes))
            }
        };
        Ok(header.log == self.identity.log.0
            && header.number == head.segment + 1
            && header.first_seq == head.last_seq + 1
            && header.previous == previous)
    }

    /// Handles the clean case: no flag is set and the active segment ends at the head.
    #[expect(
        clippy::option_option,
        reason = "clean with or without an active segment, or not clean"
    )]
    fn clean(&self, head: &Head) -> Result<Option<Option<NamedFile>>> {
        if head.rotating || head.quarantining {
            return Ok(None);
        }
        if head.segment == 0 {
            return Ok(self.segments()?.is_empty().then_some(None));
        }
        let Some(file) = self.open_segment(&head.name)? else {
            return Ok(None);
        };
        if file.stat()?.len == head.end {
            return Ok(Some(Some(file)));
        }
        if end_of_log(self.identity, &file, head.end)? != head.end {
            return Ok(None);
        }
        // Zeros that another writer wrote ahead are removed, because its sync may have failed.
        file.set_len(head.end)?;
        Ok(Some(Some(file)))
    }

    fn examine(&self, head: Head) -> Result<Evidence> {
        let mut evidence = Evidence {
            before: Before::Intact,
            position: Position::Last,
            tail: Tail::default(),
            active: None,
            next: None,
            damage: None,
            head,
        };
        if evidence.head.segment > 0 {
            self.examine_segment(&mut evidence)?;
        }
        self.examine_position(&mut evidence)?;
        Ok(evidence)
    }

    /// Reads a part of the active segment. A part that is longer than the tail of a usual crash is mapped, because memory could
    /// be too small for that part. No other process cuts the file while the lock is held.
    fn tail_bytes(&self, file: &NamedFile, range: Range<u64>) -> Result<TailBytes> {
        let len = range.end.saturating_sub(range.start);
        if len > TAIL_BYTES_READ {
            let bytes = self.storage.named().sealed(&file.path)?;
            let within = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
            let range = within(range.start)..within(range.end);
            if range.end <= bytes.len() {
                return Ok(TailBytes { bytes, range });
            }
        }
        let bytes = Bytes::new(file.read_range(range)?);
        let range = 0..bytes.len();
        Ok(TailBytes { bytes, range })
    }

    fn examine_segment(&self, evidence: &mut Evidence) -> Result<()> {
        let head = &evidence.head;
        let path = self.segment_path(&head.name);
        let Some(file) = self.open_segment(&head.name)? else {
            evidence.before = Before::Damaged;
            evidence.damage = Some(head.segment_missing(path));
            return Ok(());
        };
        let len = end_of_log(self.identity, &file, head.end)?;
        if len < head.end {
            evidence.before = Before::Damaged;
            evidence.damage = Some(head.cut_short(&path, len));
            return Ok(());
        }
        let bytes = self.tail_bytes(&file, head.end..len)?;
        let encoding = self.identity.into();
        evidence.tail = tail::read_tail(encoding, &bytes, head.end, head.last(), |_, _| {});
        if let Some(broken) = &evidence.tail.broken {
            let mut why = broken.why.clone();
            if let Some(later) = broken.later {
                why += &format!("; event {later} after the damage is valid");
            }
            evidence.damage = Some(Error::corrupt(path, broken.offset, broken.seq, why));
        }
        evidence.active = Some(file);
        Ok(())
    }

    /// Looks for segments after the head's segment. An unfinished rotation leaves one segment after the head's segment. More
    /// segments exist only if an older head file was restored; a writer that continued from that head would use seqs twice.
    fn examine_position(&self, evidence: &mut Evidence) -> Result<()> {
        let format = self.identity.format;
        let here = SegmentName::parse(&evidence.head.name, format);
        let later: Vec<SegmentName> = self
            .segments()?
            .into_iter()
            .filter(|name| Some(name) > here.as_ref())
            .collect();
        let Some(name) = later.first() else {
            return Ok(());
        };
        let path = self.segment_path(&name.file(format));
        evidence.position = Position::Earlier;
        let why = "the segment does not follow the segment that the head names";
        let next_seq = evidence.head.last_seq + 1;
        (evidence.damage).get_or_insert(Error::corrupt(&path, 0, next_seq, why));
        if later.len() > 1 {
            return Ok(());
        }
        let bytes = self.storage.named().sealed(&path)?;
        let Ok((header, len)) = SegmentHeader::decode(format, &bytes) else {
            return Ok(());
        };
        if self.continues(&header, &evidence.head)? {
            evidence.position = Position::LastButOne;
            evidence.next = Some((name.clone(), header.number, len as u64));
        }
        Ok(())
    }

    /// Returns the names of all segments, in order.
    pub fn segments(&self) -> Result<Vec<SegmentName>> {
        SegmentName::list(self.storage.as_ref(), self.dir, self.identity.format)
    }

    /// Classifies the bytes past the head. In a log with a journal several groups may be unsynced, so a valid group after a
    /// damaged group does not prove that the damaged group was synced.
    fn past(&self, tail: &Tail) -> Past {
        match (Past::from_tail(tail), self.is_replica) {
            (Past::BrokenThenLater, true) if tail.groups.is_empty() => Past::Broken,
            (Past::BrokenThenLater, true) => Past::CompleteThenBroken,
            (past, _) => past,
        }
    }

    fn act(&self, evidence: Evidence) -> Result<Recovered> {
        let found = verdict(
            HeadFound::Valid,
            evidence.before,
            evidence.position,
            self.past(&evidence.tail),
        );
        let mut recovered = Recovered {
            head: evidence.head,
            active: evidence.active,
            ..Recovered::default()
        };
        match (found, &evidence.next) {
            (Verdict::NextSegment, Some((name, number, end))) => {
                return self.next_segment(recovered.head, name, *number, *end);
            }
            (Verdict::Corrupt | Verdict::RebuildHead | Verdict::NextSegment, _) => {
                let head = &recovered.head;
                let why = "bytes follow the end of a sealed segment";
                return Err(evidence.damage.unwrap_or_else(|| {
                    Error::corrupt(self.segment_path(&head.name), head.end, head.last_seq, why)
                }));
            }
            (Verdict::Clean, _) => {
                if let Some(file) = &recovered.active {
                    file.cut_behind(recovered.head.end)?;
                }
            }
            (Verdict::Torn | Verdict::AdoptAndTorn, _) => {
                self.quarantine_tail(&mut recovered, &evidence.tail)?;
                self.adopt(&mut recovered, &evidence.tail)?;
            }
            (Verdict::Adopt, _) => self.adopt(&mut recovered, &evidence.tail)?,
        }
        if recovered.head.rotating {
            // The rotation did not create its new segment, so only a temporary file is left.
            self.sweep()?;
            recovered.head.rotating = false;
            self.head_file.write(&mut recovered.head, true)?;
        }
        Ok(recovered)
    }

    fn next_segment(
        &self,
        mut head: Head,
        name: &SegmentName,
        number: u32,
        end: u64,
    ) -> Result<Recovered> {
        assert_eq!(
            number,
            head.segment + 1,
            "the log must go on in the segment behind {}",
            head.segment
        );
        head.segment = number;
        head.name = name.file(self.identity.format);
        head.end = end;
        head.rotating = false;
        let note = format!(
            "continued in {}, which a rotation had just started",
            head.name
        );
        self.sync_names()?;
        let mut recovered = self.act(self.examine(head)?)?;
        self.head_file.write(&mut recovered.head, true)?;
        recovered.notes.insert(0, note);
        Ok(recovered)
    }

    /// Copies the broken tail to `quarantine/`, durably, and then cuts the tail off the segment.
    fn quarantine_tail(&self, recovered: &mut Recovered, tail: &Tail) -> Result<()> {
        let (Some(broken), Some(file)) = (&tail.broken, &recovered.active) else {
            return Ok(());
        };
        let name = recovered.head.name.clone();
        let len = end_of_log(self.identity, file, recovered.head.end)?;
        assert!(
            recovered.head.end <= broken.start,
            "bytes before the head at {} must not be cut off, but the broken tail starts at {}",
            recovered.head.end,
            broken.start
        );
        let bytes = self.tail_bytes(file, broken.start..len)?;
        let count = bytes.len();
        // The flag is durable before the copy exists. If the event is never written, the flag makes the next recovery look for
        // the copy.
        recovered.head.quarantining = true;
        self.head_file.write(&mut recovered.head, true)?;
        let quarantine_tail = quarantine::keep(self, &name, broken.start, &bytes)?;
        // Drop the map before its bytes are cut off.
        drop(bytes);
        file.set_len(broken.start)?;
        file.sync_all()?;
        recovered.notes.push(format!(
            "moved {} bytes of an unfinished write at byte {} of {name} to {QUARANTINE_DIR}/{}",
            count, broken.start, quarantine_tail.file
        ));
        recovered.unnamed.push(quarantine_tail);
        Ok(())
    }

    /// Keeps complete groups past the head, which a writer wrote before it crashed.
    fn adopt(&self, recovered: &mut Recovered, tail: &Tail) -> Result<()> {
        let (Some(group), Some(file)) = (tail.groups.last(), &recovered.active) else {
            return Ok(());
        };
        let head = &mut recovered.head;
        assert!(
            group.end > head.end && group.last_seq > head.last_seq,
            "groups up to event {} at byte {} must lie past the head, which is at event {} and byte {}",
            group.last_seq,
            group.end,
            head.last_seq,
            head.end
        );
        file.cut_behind(group.end)?;
        file.write_again(head.end..group.end)?;
        recovered.notes.push(format!(
            "adopted complete events {} to {} after the durable head",
            head.last_seq + 1,
            group.last_seq
        ));
        head.end = group.end;
        head.last_seq = group.last_seq;
        head.last_id = Some(group.last_id);
        self.head_file.write(head, true)
    }

    /// Makes the segments' names durable. The writer that created the last segment may have crashed before it synced the names,
    /// and a head must never name a file that a power loss can remove.
    pub fn sync_names(&self) -> Result<()> {
        let dir = self.dir.join(EVENTS_DIR);
        self.storage.named().sync_dir(&dir)
    }

    /// Removes the temporary file of an unfinished rotation.
    pub fn sweep(&self) -> Result<()> {
        let dir = self.dir.join(EVENTS_DIR);
        for name in self.storage.named().list(&dir)? {
            if name.ends_with(".tmp") {
                self.storage.named().remove_file(&dir.join(&name))?;
            }
        }
        Ok(())
    }
}
