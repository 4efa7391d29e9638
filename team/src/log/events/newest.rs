//! Pages of the log backward, from its end or from a seq.
//!
//! Without a ref, a page reads blocks of the log; one look-up in the index finds each block. With a ref, a page reads the
//! postings of that ref. In both cases a page examines a bounded number of events, regardless of the length of the log.

use super::{EVENTS, EVENTS_MAX, EXAMINED, Events, EventsAnswer, PAGE_BYTES, ahead};
use crate::log::recorded::Recorded;
use crate::log::replay::Replay;
use crate::operation::prelude::*;
use crate::projections::event_index::IndexQuery;
use std::collections::VecDeque;
use teamlog_engine::Place;

/// Number of events in the first and in the largest block.
const BLOCK: (u64, u64) = (64, 4_096);
/// Number of postings per look-up.
const POSTINGS: u64 = 1_024;
/// Number of look-ups in the index that count as one examined event.
const STEPS: u64 = 8;

pub(super) fn page(team: &mut Team, asked: &Events) -> Result<EventsAnswer> {
    let (filter, after) = (asked.filter(), asked.after.unwrap_or(0));
    let head = team.query(|_, reader| Ok(reader.head().last_seq))?;
    if after > head {
        return Err(ahead("after", after, head).into());
    }
    let before = asked.before.map(|before| before.saturating_sub(1));
    let newest = before.map_or(head, |newest| head.min(newest));
    let mut page = Page {
        limit: page::at_most(asked.limit, EVENTS, EVENTS_MAX),
        events: Vec::new(),
        bytes: 0,
        after,
        end: newest,
        left: EXAMINED,
    };
    let mut block = BLOCK.0;
    while page.continues() {
        match filter.index_query(true) {
            Some(query) => page.look_up(team, &filter, &query)?,
            None => page.read_back(team, &filter, block)?,
        }
        block = BLOCK.1.min(block * 2);
    }
    let next = Some(page.end + 1).filter(|_| page.end > after);
    Ok(EventsAnswer {
        count: page.events.len(),
        events: page.events,
        next_after: newest,
        last_seq: head,
        more: next.is_some(),
        next_before: Some(next),
    })
}

struct Page {
    limit: usize,
    events: Vec<Recorded>,
    bytes: usize,
    /// Seq of the last event before the range.
    after: u64,
    /// Highest seq that was not examined yet.
    end: u64,
    /// Number of events that may still be examined.
    left: u64,
}

impl Page {
    fn has_room(&self) -> bool {
        self.events.len() < self.limit && self.bytes < PAGE_BYTES
    }

    fn continues(&self) -> bool {
        self.end > self.after && self.left > 0 && self.has_room()
    }

    /// Adds an event to the page, and marks all newer events as examined.
    fn take(&mut self, event: Event<'static>) {
        self.end = event.seq - 1;
        self.bytes += event.payload.len();
        self.events.push(Recorded::plain(event));
    }

    /// Reads a block of at most `block` events that ends at the page's position.
    fn read_back(&mut self, team: &mut Team, filter: &Replay, block: u64) -> Result<()> {
        let count = block.min(self.left).min(self.end - self.after);
        let (first, end) = (self.end - count + 1, self.end);
        // Reads the log outside the query, because a query blocks the open writer.
        let (reader, behind) = team.query(|live, reader| {
            let behind = match first {
                1 => None,
                first => Some(found(live, first - 1)?),
            };
            Ok((reader.clone(), behind))
        })?;
        let mut wanted = VecDeque::new();
        let (mut bytes, mut dropped) = (self.bytes, false);
        reader.each(behind, |located| {
            let event = &located.frame.event;
            if event.seq > end {
                return Ok::<_, Failure>(ControlFlow::Break(()));
            }
            if filter.matches(event) {
                bytes += event.payload.len();
                wanted.push_back(event.clone().into_owned());
            }
            // If the page has no room, drops the oldest events of the block.
            while wanted.len() + self.events.len() > self.limit
                || (bytes > PAGE_BYTES && wanted.len() > 1)
            {
                dropped = true;
                let oldest: Option<Event<'_>> = wanted.pop_front();
                bytes -= oldest.map_or(0, |event| event.payload.len());
            }
            Ok(ControlFlow::Continue(()))
        })?;
        for event in wanted.into_iter().rev() {
            self.take(event);
        }
        // The next page examines the dropped events again.
        if !dropped {
            self.end = first - 1;
        }
        self.left -= count;
        Ok(())
    }

    fn look_up(&mut self, team: &mut Team, filter: &Replay, query: &IndexQuery<'_>) -> Result<()> {
        let count = POSTINGS.min(self.left);
        let range = (self.after + 1, self.end);
        let (reader, places, before) = team.query(|live, reader| {
            let size = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
            let found_page = live.indexed(query, range, size(count), size(count * STEPS))?;
            let places = found_page.seqs.iter().map(|seq| found(live, *seq));
            let places = places.collect::<Result<Vec<Place>>>()?;
            Ok((reader.clone(), places, found_page.before))
        })?;
        for place in places {
            let event = reader.at(place)?;
            if filter.matches(&event) {
                self.take(event.into_owned());
            }
            if !self.has_room() {
                return Ok(());
            }
        }
        self.end = before.map_or(self.after, |before| before - 1);
        self.left -= count;
        Ok(())
    }
}

fn found(live: &Live, seq: u64) -> Result<Place> {
    let place = live.place(seq)?;
    Ok(place.ok_or_else(|| page::missing(seq))?)
}
