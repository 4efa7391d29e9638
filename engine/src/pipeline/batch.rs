//! Decoded events of one span.

use crate::codec::Frame;
use crate::prelude::*;
use crate::reader::{LocatedFrame, Span};

/// The events of one span, each with the value `T` that the caller decoded from it.
pub struct Batch<T> {
    pub(super) span: Span,
    pub(super) located: Vec<LocatedFrame<'static>>,
    decoded: Vec<T>,
}

impl<T> Batch<T> {
    pub(super) fn decode<E: From<Error>>(
        span: Span,
        decode: &impl Fn(&Event<'_>) -> Result<T, E>,
    ) -> Result<Batch<T>, E> {
        let located: Vec<LocatedFrame<'static>> = span.decode()?.into_iter().map(owned).collect();
        let decoded = located
            .iter()
            .map(|located| decode(&located.frame.event))
            .collect::<Result<_, E>>()?;
        Ok(Batch {
            span,
            located,
            decoded,
        })
    }
    /// Returns the events with their decoded values.
    pub fn events(&self) -> impl Iterator<Item = (&Event<'static>, &T)> {
        self.located
            .iter()
            .map(|located| &located.frame.event)
            .zip(&self.decoded)
    }
}

fn owned(located: LocatedFrame<'_>) -> LocatedFrame<'static> {
    let LocatedFrame { frame, place } = located;
    let frame = Frame {
        event: frame.event.into_owned(),
        group: frame.group,
        len: frame.len,
        crc: frame.crc,
    };
    LocatedFrame { frame, place }
}
