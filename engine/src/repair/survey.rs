//! Reads a whole log that may be damaged: every complete group in order, and the losses between them.

use crate::codec::{self, Frame, FrameError};
use crate::identity::FORMAT_VERSION;
use crate::prelude::*;
use crate::refs::Ref;
use crate::segment::written;
use crate::tail::{Broken, read_tail};
use std::ops::ControlFlow;

/// Bytes or events that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Lost {
    /// The file, relative to the log's directory.
    pub file: String,
    /// Offset of the unreadable bytes.
    pub offset: u64,
    /// Number of unreadable bytes; 0 if events are missing without a trace.
    pub length: u64,
    /// Seq of the first lost event, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_seq: Option<u64>,
    /// Seq of the last lost event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to_seq: Option<u64>,
    /// Description of the damage, for people.
    pub why: String,
}

impl Lost {
    /// Returns the number of lost events.
    pub fn events(&self) -> u64 {
        match (self.from_seq, self.to_seq) {
            (Some(from), Some(to)) => to.saturating_sub(from) + 1,
            _ => 0,
        }
    }
}

/// A whole group, or one independent event of a damaged group.
pub(crate) struct Group<'a> {
    /// Number of the segment, by its place among the names.
    pub segment: u32,
    /// File name of the segment.
    pub name: &'a str,
    /// Start and end of the group in the segment.
    pub start: u64,
    pub end: u64,
    pub frames: Vec<Frame<'a>>,
    /// True if everything before the group is valid, including headers and their digests.
    pub clean: bool,
    /// The damaged group of the event.
    pub part_of: Option<Damaged>,
}

/// Seqs of a damaged group, from its readable events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Damaged {
    pub first: u64,
    pub last: u64,
}

impl Damaged {
    /// Returns the group that a frame names; `None` if its numbers are impossible.
    fn from_frame(frame: &Frame<'_>) -> Option<Damaged> {
        let first = frame.event.seq.checked_sub(u64::from(frame.group.index))?;
        let last = first.checked_add(u64::from(frame.group.len).checked_sub(1)?)?;
        Some(Damaged { first, last })
    }
}

impl Group<'_> {
    /// Returns the seqs of the group's first and last event.
    pub fn seqs(&self) -> (u64, u64) {
        let seq = |frame: Option<&Frame<'_>>| frame.map_or(0, |frame| frame.event.seq);
        (seq(self.frames.first()), seq(self.frames.last()))
    }
    /// Returns the id of the group's last event.
    pub fn last_id(&self) -> Option<EventId> {
        self.frames.last().map(|frame| frame.event.id)
    }
}

/// Returns true if an event of a damaged group has the same meaning without the other events. The event must be foreign, so
/// that the event changes no state. The event must have no link of causes within the group: no readable event of the group
/// names it as cause, and its own cause is older than the group. No event that changes state, such as a recorded answer, has
/// the same key.
fn stands_alone(
    frame: &Frame<'_>,
    readable: &[(usize, Frame<'_>)],
    before: Option<EventId>,
) -> bool {
    let event = &frame.event;
    let others = readable.iter().map(|(_, other)| other).filter(|other| {
        Damaged::from_frame(other) == Damaged::from_frame(frame) && other.event.seq != event.seq
    });
    let key = event.refs.get(Ref::KEY);
    let tied = |other: &Frame<'_>| {
        let other = &other.event;
        let answered = key.is_some() && other.refs.get(Ref::KEY) == key && !other.foreign;
        other.refs.cause == Some(event.id) || answered
    };
    let caused_within = event
        .refs
        .cause
        .is_some_and(|cause| before.is_none_or(|id| cause > id));
    event.foreign && !caused_within && !others.into_iter().any(tied)
}

/// A finding of a survey.
pub(crate) enum Finding<'a> {
    Group(Group<'a>),
    Lost(Lost),
}

/// A survey of a whole log.
pub(crate) struct Survey<'a> {
    pub storage: &'a dyn Storage,
    pub dir: &'a Path,
    pub identity: &'a Identity,
    /// Seq of the last event that the head names; `None` without a head.
    pub head_seq: Option<u64>,
}

impl Survey<'_> {
    /// Returns the names of the segments, in order.
    pub fn names(&self) -> Result<Vec<String>> {
        let format = self.identity.format;
        let names = SegmentName::list(self.storage, self.dir, format)?;
        Ok(names.iter().map(|name| name.file(format)).collect())
    }

    /// Calls `see` with every finding in order, until `see` breaks.
    ///
    /// # Errors
    /// `UnsupportedFormat`, I/O, and errors of `see`. Damage is a finding, not an error.
    pub fn walk(&self, see: &mut dyn FnMut(Finding<'_>) -> Result<ControlFlow<()>>) -> Result<()> {
        let mut walk = Walk {
            survey: self,
            see,
            last: LastEvent::default(),
            clean: true,
            previous: None,
            sealed: false,
            open: None,
            over: false,
        };
        let names = self.names()?;
        for (index, name) in names.iter().enumerate() {
            walk.segment(index as u32 + 1, name, index + 1 < names.len())?;
            if walk.over {
                return Ok(());
            }
        }
        walk.end()
    }
}

struct Walk<'a, 'see> {
    survey: &'a Survey<'a>,
    see: &'see mut dyn FnMut(Finding<'_>) -> Result<ControlFlow<()>>,
    /// The last event read.
    last: LastEvent,
    clean: bool,
    previous: Option<Predecessor>,
    /// True if another segment follows the current one.
    sealed: bool,
    /// The last loss; its number of events is known once the next event is read.
    open: Option<Lost>,
    over: bool,
}

impl Walk<'_, '_> {
    fn show(&mut self, finding: Finding<'_>) -> Result<()> {
        if !self.over && (self.see)(finding)?.is_break() {
            self.over = true;
        }
        Ok(())
    }

    /// Starts a new loss, and reports the previous loss.
    fn lose(&mut self, file: &str, offset: u64, length: u64, why: String) -> Result<()> {
        self.clean = false;
        self.close(None)?;
        self.open = Some(Lost {
            file: file.to_owned(),
            offset,
            length,
            from_seq: None,
            to_seq: None,
            why,
        });
        Ok(())
    }

    /// Reports the last loss, with the missing events before `next`.
    fn close(&mut self, next: Option<u64>) -> Result<()> {
        let Some(mut lost) = self.open.take() else {
            return Ok(());
        };
        if let Some(next) = next.filter(|next| *next > self.last.next()) {
            lost.from_seq = Some(self.last.next());
            lost.to_seq = Some(next - 1);
        }
        self.show(Finding::Lost(lost))
    }

    fn segment(&mut self, number: u32, name: &str, sealed: bool) -> Result<()> {
        self.sealed = sealed;
        let file = format!("{EVENTS_DIR}/{name}");
        let path = self.survey.dir.join(&file);
        let format = self.survey.identity.format;
        let storage = self.survey.storage;
        let bytes = storage.named().sealed(&path)?;
        let identity = self.survey.identity;
        let header = SegmentHeader::decode(format, &bytes);
        let bytes = match sealed {
            true => &*bytes,
            false => written(identity, &bytes, header.as_ref().map_or(0, |(_, len)| *len)),
        };
        let content = match header {
            Ok((header, len)) => {
                if header.log != identity.log.0 || header.name != identity.name {
                    let why = format!("it is of log {}", LogId(header.log));
                    return self.lose(&file, 0, bytes.len() as u64, why);
                }
                let follows = header.number == number && header.first_seq == self.last.next();
                if follows && header.previous != self.previous {
                    let before = header.previous.map(|previous| previous.name);
                    let before = before.unwrap_or_else(|| name.to_owned());
                    let why = format!(
                        "it differs from its description in the header of {name}: an event in it may have been changed"
                    );
                    self.lose(&format!("{EVENTS_DIR}/{before}"), 0, 0, why)?;
                }
                self.clean &= follows;
                len
            }
            Err(FrameError::Newer(found)) => {
                return Err(Error::unsupported(path, found, FORMAT_VERSION));
            }
            Err(error) => {
                let events = codec::next_candidate(format, bytes, 0).unwrap_or(bytes.len());
                self.lose(&file, 0, events as u64, format!("its header: {error}"))?;
                events
            }
        };
        self.events(number, name, &file, bytes, content)?;
        self.previous = sealed.then(|| Predecessor::for_segment(name, bytes));
        Ok(())
    }

    fn events(
        &mut self,
        number: u32,
        name: &str,
        file: &str,
        bytes: &[u8],
        from: usize,
    ) -> Result<()> {
        let encoding = self.survey.identity.into();
        let (mut at, mut position) = (from, self.last);
        while at < bytes.len() && !self.over {
            let rest = bytes.get(at..).unwrap_or_default();
            let mut groups: Vec<(u64, Vec<Frame<'_>>)> = Vec::new();
            let tail = read_tail(
                encoding,
                rest,
                at as u64,
                position,
                |place, frame| match groups.last_mut().filter(|_| frame.group.index > 0) {
                    Some((_, frames)) => frames.push(frame.clone()),
                    None => groups.push((place.offset, vec![frame.clone()])),
                },
            );
            for ((start, frames), read) in groups.into_iter().zip(&tail.groups) {
                let group = Group {
                    segment: number,
                    name,
                    start,
                    end: read.end,
                    frames,
                    clean: true,
                    part_of: None,
                };
                self.group(file, group)?;
            }
            let Some(broken) = tail.broken else {
                return Ok(());
            };
            let expected = tail
                .groups
                .last()
                .map_or(position.next(), |group| group.last_seq + 1);
            // Find the first event of a later group, with any seq. This event may start right here, if only its seq is wrong.
            let here = broken.start as usize;
            let next = self
                .next_start(bytes, here)
                .filter(|next| *next != (here, expected))
                .or_else(|| self.next_start(bytes, here + 1));
            let end = next.as_ref().map_or(bytes.len(), |(start, _)| *start);
            // If there are no broken bytes, only a seq is missing, and the events here are read as usual.
            if end > here {
                self.damaged((number, name, file), bytes, here..end, &broken)?;
            }
            let Some((start, seq)) = next else {
                return Ok(());
            };
            at = start;
            position = LastEvent::before(seq);
        }
        Ok(())
    }

    /// Reports independent events in the bytes of damaged groups, and the losses between them.
    fn damaged(
        &mut self,
        (number, name, file): (u32, &str, &str),
        bytes: &[u8],
        region: Range<usize>,
        broken: &Broken,
    ) -> Result<()> {
        assert!(
            region.start < region.end,
            "damage must have bytes, but {region:?} has none"
        );
        self.clean = false;
        let within = bytes.get(..region.end).unwrap_or_default();
        let readable: Vec<_> =
            codec::readable(self.survey.identity.into(), within, region.start).collect();
        let before = self.last.id;
        let torn = match self.sealed || region.end < bytes.len() {
            true => None,
            false => self.torn(&readable),
        };
        let mut at = region.start;
        for (start, frame) in &readable {
            let unacknowledged = torn.is_some() && Damaged::from_frame(frame) == torn;
            if unacknowledged || !stands_alone(frame, &readable, before) {
                continue;
            }
            if *start > at {
                self.lose_between(file, at..*start, &readable, broken)?;
            }
            at = start + frame.len;
            let alone = Group {
                segment: number,
                name,
                start: *start as u64,
                end: at as u64,
                part_of: Damaged::from_frame(frame),
                frames: vec![frame.clone()],
                clean: false,
            };
            self.group(file, alone)?;
        }
        if region.end > at {
            self.lose_between(file, at..region.end, &readable, broken)?;
        }
        Ok(())
    }

    /// Returns the damaged group at the end of the log, if it starts past the head. Such a group was never acknowledged,
    /// because nothing proves that the whole group was written. Returns `None` if there is no head.
    fn torn(&self, readable: &[(usize, Frame<'_>)]) -> Option<Damaged> {
        let (_, last) = readable.last()?;
        let head = self.survey.head_seq?;
        Damaged::from_frame(last).filter(|group| group.first > head)
    }

    /// Reports bytes of damaged groups as lost, with the reason at their start.
    fn lose_between(
        &mut self,
        file: &str,
        lost: Range<usize>,
        readable: &[(usize, Frame<'_>)],
        broken: &Broken,
    ) -> Result<()> {
        let bound = readable
            .iter()
            .find(|(start, _)| *start == lost.start)
            .filter(|_| !lost.contains(&(broken.offset as usize)));
        let why = match bound {
            Some(_) => {
                "its group is damaged, and it depends on other events of that group".to_owned()
            }
            None => broken.why.clone(),
        };
        self.lose(file, lost.start as u64, lost.len() as u64, why)
    }

    fn next_start(&self, bytes: &[u8], from: usize) -> Option<(usize, u64)> {
        codec::readable(self.survey.identity.into(), bytes, from)
            .find(|(_, frame)| frame.group.index == 0)
            .map(|(start, frame)| (start, frame.event.seq))
    }

    fn group(&mut self, file: &str, mut group: Group<'_>) -> Result<()> {
        let (first, last) = group.seqs();
        debug_assert!(
            group.start < group.end,
            "the group of event {first} must have bytes, from {} to {}",
            group.start,
            group.end
        );
        let id = group.frames.first().map(|frame| frame.event.id);
        if first <= self.last.seq || (self.last.id.is_some() && id <= self.last.id) {
            let why = format!(
                "events {first} to {last} come after event {}",
                self.last.seq
            );
            return self.lose(file, group.start, group.end - group.start, why);
        }
        if first > self.last.next() && self.open.is_none() {
            let why = "events are missing without a trace".to_owned();
            self.lose(file, group.start, 0, why)?;
        }
        self.close(Some(first))?;
        group.clean = self.clean;
        self.last = LastEvent {
            seq: last,
            id: group.last_id(),
        };
        self.show(Finding::Group(group))
    }

    /// Reports events that the head names but no segment holds.
    fn end(&mut self) -> Result<()> {
        let head = self.survey.head_seq.unwrap_or(0);
        if head > self.last.seq && self.open.is_none() {
            let why = "the head names events that are missing".to_owned();
            self.lose(HEAD_FILE, 0, 0, why)?;
        }
        self.close((head > self.last.seq).then(|| head.saturating_add(1)))
    }
}
