//! Reading a whole log, damage and all: every group that is whole, in order, and what lies between them.

use crate::codec::{self, Frame, FrameError, Predecessor, SegmentHeader};
use crate::error::{Error, Result};
use crate::event_id::EventId;
use crate::identity::{FORMAT_VERSION, Identity, LogId};
use crate::recovery::tail::{Position, read_tail};
use crate::segment::{EVENTS_DIR, SegmentName};
use crate::storage::Storage;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use std::path::Path;

/// Bytes or events that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Lost {
    /// The file, relative to the team's directory.
    pub file: String,
    /// Where the unreadable bytes start.
    pub offset: u64,
    /// How many they are; 0 where events are missing without a trace.
    pub length: u64,
    /// The first event that is lost, where one is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_seq: Option<u64>,
    /// The last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to_seq: Option<u64>,
    /// What is wrong, for people.
    pub why: String,
}

impl Lost {
    /// How many events that are.
    pub fn events(&self) -> u64 {
        match (self.from_seq, self.to_seq) {
            (Some(from), Some(to)) => to.saturating_sub(from) + 1,
            _ => 0,
        }
    }
}

/// A group that is whole.
pub(crate) struct Group<'a> {
    /// The number that its segment has by its place among the names.
    pub segment: u32,
    /// File name of the segment.
    pub name: &'a str,
    /// Where the group starts and ends in it.
    pub start: u64,
    pub end: u64,
    pub frames: Vec<Frame<'a>>,
    /// Everything before it checks, headers and their digests included.
    pub clean: bool,
}

impl Group<'_> {
    /// The seqs of its first and last event.
    pub fn seqs(&self) -> (u64, u64) {
        let seq = |frame: Option<&Frame<'_>>| frame.map_or(0, |frame| frame.event.seq);
        (seq(self.frames.first()), seq(self.frames.last()))
    }
    /// The id of its last event.
    pub fn last_id(&self) -> Option<EventId> {
        self.frames.last().map(|frame| frame.event.id)
    }
}

/// What a survey shows.
pub(crate) enum Sight<'a> {
    Group(Group<'a>),
    Lost(Lost),
}

/// Where a survey looks.
pub(crate) struct Survey<'a> {
    pub storage: &'a dyn Storage,
    pub dir: &'a Path,
    pub identity: &'a Identity,
    /// The last event that the head names; 0 without one.
    pub head_seq: u64,
}

impl Survey<'_> {
    /// The names of the segments, in order.
    pub fn names(&self) -> Result<Vec<String>> {
        let (dir, format) = (self.dir.join(EVENTS_DIR), self.identity.format);
        let listed = self.storage.list(&dir).map_err(Error::io("list", dir))?;
        let mut names: Vec<SegmentName> = listed
            .iter()
            .filter_map(|name| SegmentName::parse(name, format))
            .collect();
        names.sort();
        Ok(names.iter().map(|name| name.file(format)).collect())
    }

    /// Shows everything in order, until `see` breaks off.
    ///
    /// # Errors
    /// `UnsupportedFormat`, I/O, and what `see` gives. Damage is shown, not an error.
    pub fn walk(&self, see: &mut dyn FnMut(Sight<'_>) -> Result<ControlFlow<()>>) -> Result<()> {
        let mut walk = Walk {
            survey: self,
            see,
            last: Position { seq: 0, id: None },
            clean: true,
            previous: None,
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
    see: &'see mut dyn FnMut(Sight<'_>) -> Result<ControlFlow<()>>,
    /// The last event that was read.
    last: Position,
    clean: bool,
    previous: Option<Predecessor>,
    /// What was lost last; how many events went with it is known at the next one that can be read.
    open: Option<Lost>,
    over: bool,
}

impl Walk<'_, '_> {
    fn show(&mut self, sight: Sight<'_>) -> Result<()> {
        if !self.over && (self.see)(sight)?.is_break() {
            self.over = true;
        }
        Ok(())
    }

    /// Notes something lost; what was lost before it is complete then.
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

    /// Shows what was lost last, with the events before `next` that went with it.
    fn close(&mut self, next: Option<u64>) -> Result<()> {
        let Some(mut lost) = self.open.take() else {
            return Ok(());
        };
        if let Some(next) = next.filter(|next| *next > self.last.next()) {
            lost.from_seq = Some(self.last.next());
            lost.to_seq = Some(next - 1);
        }
        self.show(Sight::Lost(lost))
    }

    fn segment(&mut self, number: u32, name: &str, sealed: bool) -> Result<()> {
        let file = format!("{EVENTS_DIR}/{name}");
        let path = self.survey.dir.join(&file);
        let format = self.survey.identity.format;
        let storage = self.survey.storage;
        let bytes = storage.sealed(&path).map_err(Error::io("read", &path))?;
        let content = match SegmentHeader::decode(format, &bytes) {
            Ok((header, len)) => {
                let identity = self.survey.identity;
                if header.log != identity.log.0 || header.team != identity.team {
                    let why = format!("it is of log {}", LogId(header.log));
                    return self.lose(&file, 0, bytes.len() as u64, why);
                }
                self.clean &= header.number == number
                    && header.first_seq == self.last.next()
                    && header.previous == self.previous;
                len
            }
            Err(FrameError::Newer(found)) => {
                return Err(Error::UnsupportedFormat {
                    path,
                    found,
                    known: FORMAT_VERSION,
                });
            }
            Err(error) => {
                let events = codec::next_candidate(format, &bytes, 0).unwrap_or(bytes.len());
                self.lose(&file, 0, events as u64, format!("its header: {error}"))?;
                events
            }
        };
        self.events(number, name, &file, &bytes, content)?;
        self.previous = sealed.then(|| Predecessor {
            name: name.to_owned(),
            len: bytes.len() as u64,
            digest: *blake3::hash(&bytes).as_bytes(),
        });
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
        let format = self.survey.identity.format;
        let (mut at, mut position) = (from, self.last);
        while at < bytes.len() && !self.over {
            let rest = bytes.get(at..).unwrap_or_default();
            let mut groups: Vec<(u64, Vec<Frame<'_>>)> = Vec::new();
            let tail = read_tail(
                format,
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
            // The first event that opens a group behind the damage, whatever its number. It may stand right here, where
            // all that is wrong is its number.
            let here = broken.start as usize;
            let next = self
                .next_start(bytes, here)
                .filter(|next| *next != (here, expected))
                .or_else(|| self.next_start(bytes, here + 1));
            let end = next.as_ref().map_or(bytes.len(), |(start, _)| *start);
            // Nothing but a gap: the bytes are those of events that are to be taken.
            if end as u64 > broken.start {
                self.lose(file, broken.start, end as u64 - broken.start, broken.why)?;
            }
            let Some((start, seq)) = next else {
                return Ok(());
            };
            at = start;
            position = Position {
                seq: seq.saturating_sub(1),
                id: None,
            };
        }
        Ok(())
    }

    fn next_start(&self, bytes: &[u8], from: usize) -> Option<(usize, u64)> {
        let format = self.survey.identity.format;
        let mut at = from;
        while let Some(candidate) = codec::next_candidate(format, bytes, at) {
            match codec::decode(format, bytes.get(candidate..)?) {
                Ok(frame) if frame.group.index == 0 => {
                    return Some((candidate, frame.event.seq));
                }
                Ok(frame) => at = candidate + frame.len,
                Err(_) => at = candidate + 1,
            }
        }
        None
    }

    fn group(&mut self, file: &str, mut group: Group<'_>) -> Result<()> {
        let (first, last) = group.seqs();
        let id = group.frames.first().map(|frame| frame.event.id);
        if first <= self.last.seq || (self.last.id.is_some() && id <= self.last.id) {
            let why = format!(
                "events {first} to {last} stand behind event {}",
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
        self.last = Position {
            seq: last,
            id: group.last_id(),
        };
        self.show(Sight::Group(group))
    }

    /// What the head names and nothing holds is lost too.
    fn end(&mut self) -> Result<()> {
        let head = self.survey.head_seq;
        if head > self.last.seq && self.open.is_none() {
            let why = "the head names events that are no longer there".to_owned();
            self.lose(crate::head::HEAD_FILE, 0, 0, why)?;
        }
        self.close((head > self.last.seq).then(|| head.saturating_add(1)))
    }
}
