//! What a fold sees of the state and how it changes it, and the trait of folds.
//!
//! Namespaces (first byte of a key) belong to one projection each, so that each can fold on its own worker:
//! `0x10..` the team, `0x20..` and `0x80..` messages, `0x30..`, `0x44..0x45` and `0x90..` tasks,
//! `0x40..0x43` and `0xA0..` deliveries, `0x48..0x4B` and `0xB0..0xB1` threads, `0xB2..0xB3` the feed, `0x4C..0x4D` tokens, `0x4E..0x4F` artifacts,
//! `0x50..` the staff, `0x60..` answers under keys,
//! `0x70..0x77` modes, `0x78..` and `0xD0..` runs of the bootstrap; the postings are the engine's.

use crate::error::{Error, Result};
use crate::fact::Fact;
use rkyv::rancor::Fallible;
use rkyv::with::{ArchiveWith, DeserializeWith, SerializeWith};
use rkyv::{Archive, Place, Serialize};
use std::borrow::Cow;
use teamlog_engine::derived::{Changes, View, key};
use teamlog_engine::{Event, Timestamp};

/// An event with what it says.
#[derive(Debug, Clone, Copy)]
pub struct Recorded<'a> {
    /// The event.
    pub event: &'a Event<'a>,
    /// What it says.
    pub fact: &'a Fact,
}

/// A deterministic fold over the events of a team.
pub(crate) struct Projection {
    /// Raised whenever the same events would give other entries.
    pub version: u32,
    /// Folds one event. Pure: it reads and writes nothing but the keys of its own namespaces.
    pub apply: fn(&mut Tx<'_>, Recorded<'_>) -> Result<()>,
}

impl Projection {
    pub const fn new(
        version: u32,
        apply: fn(&mut Tx<'_>, Recorded<'_>) -> Result<()>,
    ) -> Projection {
        Projection { version, apply }
    }
}

/// A value of the derived store.
pub(crate) trait Row: Sized {
    /// Puts its bytes in the place of what `out` holds.
    fn encode(&self, out: &mut Vec<u8>);
    /// `None` for bytes that are no such row.
    fn decode(bytes: &[u8]) -> Option<Self>;
}

/// Makes a type that derives the traits of `rkyv` a [`Row`].
macro_rules! row {
    ($name:ty) => {
        impl $crate::tx::Row for $name {
            fn encode(&self, out: &mut Vec<u8>) {
                out.clear();
                // Into memory only allocation fails, which aborts anyway.
                *out = rkyv::api::high::to_bytes_in::<_, rkyv::rancor::Error>(
                    self,
                    std::mem::take(out),
                )
                .unwrap_or_default();
            }
            fn decode(bytes: &[u8]) -> Option<Self> {
                rkyv::from_bytes::<Self, rkyv::rancor::Error>(bytes).ok()
            }
        }
    };
}
pub(crate) use row;

impl Row for u64 {
    fn encode(&self, out: &mut Vec<u8>) {
        out.clear();
        out.extend_from_slice(&self.to_le_bytes());
    }
    fn decode(bytes: &[u8]) -> Option<u64> {
        bytes.try_into().ok().map(u64::from_le_bytes)
    }
}

/// Ordered reads of the state: typed rows over the engine's view.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a>(pub View<'a>);

impl<'a> Rows<'a> {
    pub fn get<T: Row>(self, key: &[u8]) -> Result<Option<T>> {
        match self.0.get(key)? {
            None => Ok(None),
            Some(value) => decoded(key, &value).map(Some),
        }
    }
    pub fn has(self, key: &[u8]) -> Result<bool> {
        Ok(self.0.get(key)?.is_some())
    }
    /// The entries whose keys begin with `prefix`; see [`Rows::walk`].
    pub fn prefix(
        self,
        prefix: &[u8],
        reverse: bool,
    ) -> impl Iterator<Item = Result<Entry<'a>>> + use<'a> {
        self.walk(prefix, &end_of(prefix), reverse)
    }
    /// The entries with `from <= key < to`, ascending, or descending if `reverse`.
    pub fn walk(
        self,
        from: &[u8],
        to: &[u8],
        reverse: bool,
    ) -> impl Iterator<Item = Result<Entry<'a>>> + use<'a> {
        self.0.scan(from, to, reverse).map(|entry| {
            let (key, value) = entry?;
            Ok(Entry { key, value })
        })
    }
    /// The newest `limit` numbers of a series before `before`, ascending.
    pub fn page(self, series: &[u8], before: Option<u64>, limit: usize) -> Result<SeqPage> {
        let end = match before {
            None => end_of(series),
            Some(seq) => [series, &seq.to_be_bytes()].concat(),
        };
        let mut page = SeqPage::default();
        for entry in self.walk(series, &end, true) {
            let seq = entry?.seq();
            if page.seqs.len() == limit {
                page.older = true;
                break;
            }
            page.seqs.push(seq);
        }
        page.seqs.reverse();
        Ok(page)
    }
}

/// Some events, oldest first, and whether older ones remain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SeqPage {
    /// Their seqs, ascending.
    pub seqs: Vec<u64>,
    /// Whether there are older ones.
    pub older: bool,
}

/// A key with its value.
pub(crate) struct Entry<'a> {
    pub key: Cow<'a, [u8]>,
    pub value: teamlog_engine::derived::Value<'a>,
}

impl Entry<'_> {
    pub fn row<T: Row>(&self) -> Result<T> {
        decoded(&self.key, &self.value)
    }
    /// What the key holds behind a prefix of that length.
    pub fn behind(&self, prefix: usize) -> &[u8] {
        self.key.get(prefix..).unwrap_or_default()
    }
    /// The number at the end of a key of a series.
    pub fn seq(&self) -> u64 {
        self.key
            .last_chunk::<8>()
            .map_or(0, |bytes| u64::from_be_bytes(*bytes))
    }
}

fn decoded<T: Row>(key: &[u8], value: &[u8]) -> Result<T> {
    T::decode(value).ok_or_else(|| {
        Error::Engine(teamlog_engine::Error::Derived {
            path: "derived".into(),
            why: format!("the value of {key:02x?} does not decode"),
        })
    })
}

/// Stores a time as microseconds: `#[rkyv(with = Micros)]`.
#[derive(Debug)]
pub struct Micros;

impl ArchiveWith<Timestamp> for Micros {
    type Archived = rkyv::Archived<i64>;
    type Resolver = rkyv::Resolver<i64>;
    fn resolve_with(at: &Timestamp, resolver: Self::Resolver, out: Place<Self::Archived>) {
        at.micros().resolve(resolver, out);
    }
}

impl<S: Fallible + ?Sized> SerializeWith<Timestamp, S> for Micros {
    fn serialize_with(at: &Timestamp, serializer: &mut S) -> Result<Self::Resolver, S::Error> {
        at.micros().serialize(serializer)
    }
}

impl<D: Fallible + ?Sized> DeserializeWith<rkyv::Archived<i64>, Timestamp, D> for Micros {
    fn deserialize_with(at: &rkyv::Archived<i64>, _: &mut D) -> Result<Timestamp, D::Error> {
        Ok(time(at.to_native()))
    }
}

/// A time as rows hold it.
pub(crate) fn time(micros: i64) -> Timestamp {
    Timestamp::from_micros(micros).unwrap_or_default()
}

/// The first key behind all that begin with `prefix`, which does not consist of 0xFF alone.
pub(crate) fn end_of(prefix: &[u8]) -> Vec<u8> {
    let mut end = prefix.to_vec();
    while let Some(last) = end.pop() {
        if let Some(next) = last.checked_add(1) {
            end.push(next);
            break;
        }
    }
    end
}

/// A key of a namespace below the series.
pub(crate) fn key_of(namespace: u8, name: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(name.len() + 1);
    key.push(namespace);
    key.extend_from_slice(name);
    key
}

/// A key of a series.
pub(crate) fn numbered(namespace: u8, name: &str, seq: u64) -> Vec<u8> {
    let mut key = key::series(namespace, name.as_bytes());
    key.extend_from_slice(&seq.to_be_bytes());
    key
}

/// Reads and writes of a fold: single keys of the state.
pub struct Tx<'a> {
    state: &'a mut dyn Changes,
    /// Where rows are encoded.
    buffer: Vec<u8>,
}

impl<'a> Tx<'a> {
    /// Reads and writes `state`.
    pub fn new(state: &'a mut dyn Changes) -> Tx<'a> {
        Tx {
            state,
            buffer: Vec::new(),
        }
    }
    pub(crate) fn get<T: Row>(&self, key: &[u8]) -> Result<Option<T>> {
        match self.state.get(key)? {
            None => Ok(None),
            Some(value) => decoded(key, &value).map(Some),
        }
    }
    pub(crate) fn has(&self, key: &[u8]) -> Result<bool> {
        Ok(self.state.get(key)?.is_some())
    }
    pub(crate) fn put(&mut self, key: &[u8], row: &impl Row) {
        row.encode(&mut self.buffer);
        self.state.put(key, &self.buffer);
    }
    /// Sets a key that says all by being there.
    pub(crate) fn mark(&mut self, key: &[u8]) {
        self.state.put(key, &[]);
    }
    pub(crate) fn delete(&mut self, key: &[u8]) {
        self.state.delete(key);
    }
}
