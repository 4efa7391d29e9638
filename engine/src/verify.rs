//! Verification: compares every byte of a log with its checksums, digests, head and headers. Changes nothing.

mod outline;
mod report;

pub use report::{Problem, ProblemKind, Report, Severity};

use crate::codec;
use crate::error::Rollback;
use crate::head::{self, Slots};
use crate::layout::LOCK_FILE;
use crate::log::Log;
use crate::prelude::*;
use crate::reader::read_header;
use crate::receipt::{Receipt, ReceiptStatus};
use crate::segment::written;
use crate::tail::{self, Broken};
use crate::witness::Witness;

/// Largest number of reads of the head and the segment names until both agree. No writer rotates faster.
const LOOKS_MAX: usize = 3;

impl Log {
    /// Verifies a whole log. If a receipt is given, also checks that no byte that the receipt covers was changed or cut.
    ///
    /// # Errors
    /// `NoLog`, `UnsupportedFormat`, I/O. Damage is not an error here but a [`Problem`].
    pub fn verify(&self, against: Option<&Receipt>) -> Result<Report> {
        self.verify_telling(against, &mut |_, _| {})
    }
    /// Like [`Log::verify`]. Calls `progress` with `(bytes done, bytes in all)` before the first segment and after each segment.
    pub fn verify_telling(
        &self,
        against: Option<&Receipt>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Report> {
        let mut check = Check::new(self, None);
        // The witness is read before the head, because a writer updates the witness after the head.
        check.witness = self.witness();
        let (slots, mut names) = check.look()?;
        if let Some(head) = slots.newest.as_ref().filter(|head| head.cutting) {
            check.stop_at_cut(head, &mut names);
        }
        if slots.damaged > 0 {
            let message = format!("{} of its 2 slots cannot be read", slots.damaged);
            match slots.newest.is_some() {
                true => check.warning(ProblemKind::DamagedHead, (HEAD_FILE, 0), None, message),
                false => check.error(ProblemKind::DamagedHead, (HEAD_FILE, 0), None, message),
            }
        }
        let newest = check.whole(slots.newest)?;
        let total = check.bytes_of(&names)?;
        check.segments(newest.as_ref(), &names, &mut |done| {
            progress(done, total);
        })?;
        check.compare_with_witness(newest.as_ref());
        if let Some(receipt) = against {
            check.held_against_receipt(receipt)?;
        }
        Ok(check.report)
    }
}

/// Verifies the part of a log that a backup holds: the given segments, up to the given head. Ignores other files and later bytes.
pub(crate) fn verify_kept(log: &Log, head: &Head, names: &[String]) -> Result<Report> {
    let mut check = Check::new(log, Some(head.end));
    check.segments(Some(head), names, &mut |_| {})?;
    Ok(check.report)
}

struct Check<'a> {
    log: &'a Log,
    /// Number of bytes of the last segment to verify; all if absent.
    upto: Option<u64>,
    report: Report,
    /// The last event that was acknowledged, if known.
    witness: Option<Witness>,
    /// Id of the log's event at the seq of the witness.
    witnessed: Option<EventId>,
    /// The last valid event.
    last: LastEvent,
    /// Description of the previous segment that the next header must have.
    previous: Option<codec::Predecessor>,
}

impl<'a> Check<'a> {
    fn new(log: &'a Log, upto: Option<u64>) -> Check<'a> {
        Check {
            log,
            upto,
            report: Report::empty(),
            witness: None,
            witnessed: None,
            last: LastEvent::default(),
            previous: None,
        }
    }
}

impl Check<'_> {
    /// Limits the verification of a cut log to the bytes before its head, because the next writer removes the later bytes.
    fn stop_at_cut(&mut self, head: &Head, names: &mut Vec<String>) {
        self.upto = Some(head.end);
        let last = names.iter().position(|name| *name == head.name);
        names.truncate(last.map_or(names.len(), |at| at + 1));
        let message = format!(
            "the log was cut after event {}; the next writer removes the bytes after it",
            head.last_seq
        );
        self.warning(
            ProblemKind::UnfinishedCut,
            (HEAD_FILE, 0),
            head.last_seq,
            message,
        );
    }

    fn warning(
        &mut self,
        kind: ProblemKind,
        at: (&str, u64),
        seq: impl Into<Option<u64>>,
        message: String,
    ) {
        self.problem(Severity::Warning, kind, at, seq.into(), message);
    }

    fn error(
        &mut self,
        kind: ProblemKind,
        at: (&str, u64),
        seq: impl Into<Option<u64>>,
        message: String,
    ) {
        self.problem(Severity::Error, kind, at, seq.into(), message);
    }

    fn problem(
        &mut self,
        severity: Severity,
        kind: ProblemKind,
        (file, offset): (&str, u64),
        seq: Option<u64>,
        message: String,
    ) {
        self.report.push(Problem {
            kind,
            severity,
            file: file.to_string(),
            offset,
            seq,
            message,
        });
    }

    fn format(&self) -> Format {
        self.log.identity().format
    }

    /// Returns the head up to which the log has all bytes. Ignores later bytes, which a power loss may have damaged.
    fn whole(&mut self, newest: Option<Head>) -> Result<Option<Head>> {
        let Some(head) = newest else { return Ok(None) };
        let (whole, notes) = self.log.whole(head)?;
        for note in notes {
            self.upto = Some(whole.end);
            let file = format!("{EVENTS_DIR}/{}", whole.name);
            let seq = whole.last_seq + 1;
            self.warning(ProblemKind::UnsyncedTail, (&file, whole.end), seq, note);
        }
        Ok(Some(whole))
    }

    /// Reports an undamaged log that lacks the event of its witness.
    fn compare_with_witness(&mut self, newest: Option<&Head>) {
        let (log, head) = (self.log, newest.cloned().unwrap_or_default());
        let Some(witness) = self.witness.filter(|_| self.report.ok) else {
            return;
        };
        let counts = witness.counts_for(log.identity(), &head);
        if self.witnessed == Some(witness.id) || !counts {
            return;
        }
        let rollback = Rollback {
            last_seq: self.last.seq,
            ..witness.rollback(&head)
        };
        let message = log.rolled_back(rollback).to_string();
        self.error(
            ProblemKind::RolledBack,
            (LOCK_FILE, 0),
            witness.seq,
            message,
        );
    }

    /// Reads the head and the names of the segments, and repeats that if a writer rotated in between.
    fn look(&mut self) -> Result<(Slots, Vec<String>)> {
        let mut looks = 0;
        let (slots, listed) = loop {
            let log = self.log;
            let slots = head::read_slots(log.storage().as_ref(), log.dir(), log.identity().log)?;
            let listed = self.list()?;
            let names: Vec<String> = self.segment_names(&listed);
            looks += 1;
            if looks == LOOKS_MAX
                || slots
                    .newest
                    .as_ref()
                    .is_none_or(|head| ends_with(&names, head))
            {
                break (slots, listed);
            }
        };
        for name in &listed {
            if SegmentName::parse(name, self.format()).is_none() {
                let message = "this is no segment's name, so the file is ignored".to_string();
                let file = format!("{EVENTS_DIR}/{name}");
                self.warning(ProblemKind::UnknownFile, (&file, 0), None, message);
            }
        }
        Ok((slots, self.segment_names(&listed)))
    }

    fn list(&self) -> Result<Vec<String>> {
        let dir = self.log.dir().join(EVENTS_DIR);
        self.log.storage().named().list(&dir)
    }

    /// Returns the segment names among the file names, in order.
    fn segment_names(&self, listed: &[String]) -> Vec<String> {
        let names = SegmentName::sorted(listed, self.format());
        names.iter().map(|name| name.file(self.format())).collect()
    }

    /// Returns the total length of the files. The last file may have bytes after its last valid byte.
    fn bytes_of(&self, names: &[String]) -> Result<u64> {
        let mut total = 0;
        for name in names {
            let path = self.log.dir().join(EVENTS_DIR).join(name);
            let stat = self.log.storage().named().stat(&path)?;
            total += stat.map_or(0, |stat| stat.len);
        }
        Ok(total)
    }

    fn segments(
        &mut self,
        head: Option<&Head>,
        names: &[String],
        done: &mut dyn FnMut(u64),
    ) -> Result<()> {
        done(0);
        for (number, name) in (1..).zip(names) {
            self.segment(number, name, number as usize == names.len(), head)?;
            done(self.report.bytes);
        }
        self.held_against_head(head, names);
        Ok(())
    }

    fn segment(&mut self, number: u32, name: &str, last: bool, head: Option<&Head>) -> Result<()> {
        let file = format!("{EVENTS_DIR}/{name}");
        let path = self.log.dir().join(&file);
        let bytes = match last {
            false => self.log.storage().named().sealed(&path)?,
            true => self.active(&path)?,
        };
        self.report.segments += 1;
        self.report.bytes += bytes.len() as u64;
        let content = self.header(number, &file, path, &bytes)?;
        // The active segment may continue past the head. Every other segment must end where the next header says.
        let head_end = head
            .filter(|_| last)
            .and_then(|head| match head.name == name {
                true => Some(head.end),
                // A segment that a rotation has just started has no acknowledged events.
                false => head.rotating.then_some(content as u64),
            });
        let day = name.get(..10).unwrap_or(name);
        self.events(&file, &bytes, content, last, head_end, day);
        // The digest of the last segment is not in any header yet.
        if !last {
            self.previous = Some(codec::Predecessor::for_segment(name, &bytes));
        }
        Ok(())
    }

    /// Reads the last segment into memory. A map would be unsafe: a recovering writer may cut the segment, and touching a cut map
    /// kills the process.
    fn active(&self, path: &Path) -> Result<Bytes> {
        let file = self.log.storage().named().open(path, OpenMode::Read)?;
        let len = file.stat()?.len.min(self.upto.unwrap_or(u64::MAX));
        let mut bytes = file.read_up_to(len)?;
        let identity = self.log.identity();
        let header = SegmentHeader::decode(identity.format, &bytes).map_or(0, |(_, len)| len);
        bytes.truncate(written(identity, &bytes, header).len());
        Ok(Bytes::new(bytes))
    }

    /// Checks a header; returns where the events start.
    fn header(&mut self, number: u32, file: &str, path: PathBuf, bytes: &Bytes) -> Result<usize> {
        let (header, len) = match read_header(self.log.identity(), &path, bytes) {
            Ok(read) => read,
            Err(error @ Error::UnsupportedFormat { .. }) => return Err(error),
            Err(error) => {
                let kind = match error {
                    Error::ForeignFile { .. } => ProblemKind::ForeignSegment,
                    _ => ProblemKind::DamagedHeader,
                };
                self.error(kind, (file, 0), self.last.next(), error.to_string());
                return Ok(codec::next_candidate(self.format(), bytes, 0).unwrap_or(bytes.len()));
            }
        };
        if header.number != number {
            let missing = header.number.saturating_sub(number);
            let message = format!(
                "it is segment {}, but segment {number} is expected: {missing} missing",
                header.number
            );
            self.error(
                ProblemKind::MissingSegment,
                (file, 0),
                self.last.next(),
                message,
            );
        } else if header.previous != self.previous {
            let message =
                "its header does not describe the segment before it (name, length, digest)"
                    .to_string();
            self.error(
                ProblemKind::BrokenChain,
                (file, 0),
                header.first_seq,
                message,
            );
        }
        if header.first_seq != self.last.next() {
            let message = format!(
                "it starts with event {}, but the one before ends with event {}",
                header.first_seq, self.last.seq
            );
            self.error(
                ProblemKind::MissingEvents,
                (file, 0),
                self.last.next(),
                message,
            );
            self.last = LastEvent {
                seq: header.first_seq.saturating_sub(1),
                id: self.last.id,
            };
        }
        Ok(len)
    }

    /// Checks the events of a segment. After damage, continues at the next readable event.
    fn events(
        &mut self,
        file: &str,
        bytes: &[u8],
        from: usize,
        last: bool,
        head_end: Option<u64>,
        day: &str,
    ) {
        let mut at = from;
        while at < bytes.len() {
            let rest = bytes.get(at..).unwrap_or_default();
            let (mut events, mut misdated) = (0, None);
            // The start of the segment's day, computed from its events.
            let mut known = None;
            let witness_seq = self.witness.map(|witness| witness.seq);
            let mut witnessed = None;
            let tail = tail::read_tail(
                self.log.identity().into(),
                rest,
                at as u64,
                self.last,
                |place, frame| {
                    events += 1;
                    if Some(frame.event.seq) == witness_seq {
                        witnessed = Some(frame.event.id);
                    }
                    let of = Some(frame.event.created_at.day_start());
                    if misdated.is_none() && of != known {
                        match frame.event.created_at.day() == day {
                            true => known = of,
                            false => misdated = Some((place.offset, frame.event.seq)),
                        }
                    }
                },
            );
            self.report.events += events;
            self.witnessed = witnessed.or(self.witnessed);
            if let Some((offset, seq)) = misdated {
                self.error(
                    ProblemKind::MisplacedEvent,
                    (file, offset),
                    Some(seq),
                    format!("its day is not {day}"),
                );
            }
            if let Some(group) = tail.groups.last() {
                self.last = LastEvent {
                    seq: group.last_seq,
                    id: Some(group.last_id),
                };
                self.report.last_seq = group.last_seq;
            }
            let Some(broken) = tail.broken else { return };
            // In a log with a journal, a later group does not prove a sync.
            let proves_none = broken.later.is_none() || self.log.identity().journal.is_some();
            let unacknowledged =
                last && proves_none && head_end.is_some_and(|end| broken.start >= end);
            if unacknowledged {
                let message = format!(
                    "{} bytes of a write that was never acknowledged ({}); the next writer moves them to quarantine",
                    bytes.len() as u64 - broken.start,
                    broken.why
                );
                self.warning(
                    ProblemKind::TornTail,
                    (file, broken.start),
                    broken.seq,
                    message,
                );
                return;
            }
            let message = match broken.later {
                Some(later) => format!("{}; event {later} after it can be read", broken.why),
                None => broken.why.clone(),
            };
            self.error(
                ProblemKind::DamagedEvent,
                (file, broken.offset),
                broken.seq,
                message,
            );
            let Some(next) = self.next_readable(bytes, &broken) else {
                return;
            };
            assert!(
                next > at,
                "reading must go on behind byte {at}, not at {next}"
            );
            at = next;
        }
    }

    /// Returns the offset of the first readable frame after damage. Reading continues at this offset. The caller has reported
    /// the loss.
    fn next_readable(&mut self, bytes: &[u8], broken: &Broken) -> Option<usize> {
        let (start, frame) = codec::readable(
            self.log.identity().into(),
            bytes,
            broken.offset as usize + 1,
        )
        .find(|(_, frame)| frame.group.index == 0)?;
        self.last = LastEvent::before(frame.event.seq);
        Some(start)
    }

    fn held_against_head(&mut self, head: Option<&Head>, names: &[String]) {
        let Some(head) = head else {
            if !names.is_empty()
                && self
                    .report
                    .problems
                    .iter()
                    .all(|problem| problem.kind != ProblemKind::DamagedHead)
            {
                let message =
                    "the head is missing; the next writer rebuilds it if the log is clean"
                        .to_string();
                self.warning(ProblemKind::MissingHead, (HEAD_FILE, 0), None, message);
            }
            return;
        };
        let file = format!("{EVENTS_DIR}/{}", head.name);
        if let Some(last) = names.last().filter(|_| !ends_with(names, head)) {
            let message = format!(
                "it names segment {} ({:?}), but {last} is the last one: an older head was restored",
                head.segment, head.name
            );
            self.error(
                ProblemKind::StaleHead,
                (HEAD_FILE, 0),
                head.last_seq,
                message,
            );
        }
        if head.segment == 0 {
            return;
        }
        if !names.contains(&head.name) {
            let message = format!("the head names it as segment {}", head.segment);
            self.error(
                ProblemKind::MissingSegment,
                (&file, 0),
                head.last_seq,
                message,
            );
        } else if self.last.seq < head.last_seq {
            let message = format!(
                "the head says that event {} is durable, but the log ends with event {}",
                head.last_seq, self.last.seq
            );
            self.error(
                ProblemKind::LostEvents,
                (&file, head.end),
                self.last.next(),
                message,
            );
        }
    }

    fn held_against_receipt(&mut self, receipt: &Receipt) -> Result<()> {
        let file = format!("{EVENTS_DIR}/{}", receipt.segment);
        let seq = receipt.seq;
        // The earlier segments were already compared with the chain, byte by byte.
        match self.log.check_receipt_segment(receipt)? {
            ReceiptStatus::OtherLog => {
                let message = format!(
                    "the receipt is of log {}, this is log {}",
                    receipt.log,
                    self.log.identity().log
                );
                self.error(
                    ProblemKind::ReceiptOfAnotherLog,
                    (LOG_FILE, 0),
                    seq,
                    message,
                );
            }
            ReceiptStatus::Malformed => {
                let message = format!(
                    "the receipt names {:?}, which is no segment's name",
                    receipt.segment
                );
                self.error(ProblemKind::ReceiptMalformed, (LOG_FILE, 0), seq, message);
            }
            ReceiptStatus::RolledBack(_) | ReceiptStatus::Cut => {
                let message = format!(
                    "the receipt covers {} bytes and event {}, which are missing",
                    receipt.length, receipt.seq
                );
                self.error(
                    ProblemKind::CutBelowReceipt,
                    (&file, receipt.length),
                    seq,
                    message,
                );
            }
            ReceiptStatus::Changed | ReceiptStatus::ChangedBefore { .. } => {
                let message = format!(
                    "its first {} bytes differ from those that the receipt covers",
                    receipt.length
                );
                self.error(ProblemKind::ChangedSinceReceipt, (&file, 0), seq, message);
            }
            ReceiptStatus::Holds if self.last.seq < receipt.seq => {
                let message = format!(
                    "the receipt covers event {}, but the log ends with event {}",
                    receipt.seq, self.last.seq
                );
                self.error(
                    ProblemKind::CutBelowReceipt,
                    (&file, receipt.length),
                    seq,
                    message,
                );
            }
            ReceiptStatus::Holds => {}
        }
        Ok(())
    }
}

/// Returns true if the head's segment is the last segment, or if a rotation has just started the next segment.
fn ends_with(names: &[String], head: &Head) -> bool {
    let here = match head.segment {
        0 => 0,
        _ => match names.iter().position(|name| *name == head.name) {
            Some(index) => index + 1,
            // Another check reports a missing segment.
            None => return true,
        },
    };
    here == names.len() || (head.rotating && here + 1 == names.len())
}
