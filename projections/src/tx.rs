//! The access of a fold to the state: typed reads and writes.
//!
//! Each namespace (first byte of a key) belongs to one projection, so that each projection can fold on its own worker: `0x10..`
//! the team, `0x20..` and `0x80..` messages, `0x30..`, `0x44..0x45`, `0x68..0x6A` and `0x90..0x99` tasks, `0x40..0x43` and `0xA0..`
//! deliveries, `0x48..0x49`, `0xB0..0xB1` and `0xB6` threads, `0x4B`, `0xB2..0xB3` and `0xB5` the feed, `0x4C..0x4D` token usage,
//! `0x4E..0x4F` artifacts, `0x46` and `0xB4` refused writes, `0x47` agents' tokens, `0x4A` the floor of epochs after a loss, `0x50..` workers, `0x60..` stored responses, `0x6F` scripted projections,
//! `0x70..0x77` modes, `0x78..` and `0xD0..` bootstrap runs, `0xC0` the search. `0xF0..` are the engine's postings of refs, and
//! `0xF8..` the event index.

use crate::error::{Error, Result};
use rkyv::rancor::Fallible;
use rkyv::with::{ArchiveWith, DeserializeWith, SerializeWith};
use rkyv::{Archive, Deserialize, Place, Serialize};
use std::borrow::Cow;
use std::marker::PhantomData;
use teamlog_engine::internals::derived::{Changes, View, key};
use teamlog_engine::{EventId, Json, Timestamp};

/// A value of the derived store.
pub(crate) trait Row: Sized {
    /// Replaces the content of `out` by the row's bytes.
    fn encode(&self, out: &mut Vec<u8>);
    /// Decodes the row; returns `None` if the bytes are not a row of this type.
    fn decode(bytes: &[u8]) -> Option<Self>;
}

/// Makes a type that derives the traits of `rkyv` a [`Row`].
macro_rules! row {
    ($name:ty) => {
        impl $crate::tx::Row for $name {
            fn encode(&self, out: &mut Vec<u8>) {
                out.clear();
                // Writing to memory fails only if allocation fails, which aborts anyway.
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

row!(String);

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
    /// Returns the entries whose keys begin with `prefix`; see [`Rows::walk`].
    pub fn prefix(
        self,
        prefix: &[u8],
        reverse: bool,
    ) -> impl Iterator<Item = Result<Entry<'a>>> + use<'a> {
        self.walk(prefix, &end_of(prefix), reverse)
    }
    /// Returns the entries with `from <= key < to`, ascending, or descending if `reverse`.
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
    /// Returns the entries whose keys begin with `prefix` and continue with a name after `after`.
    pub fn behind(
        self,
        prefix: &[u8],
        after: Option<&str>,
    ) -> impl Iterator<Item = Result<Entry<'a>>> + use<'a> {
        let from = match after {
            None => prefix.to_vec(),
            // Start at the smallest key after `after`.
            Some(after) => [prefix, after.as_bytes(), &[0]].concat(),
        };
        self.walk(&from, &end_of(prefix), false)
    }
    /// Returns the number after the largest number stored by [`Tx::raise`].
    pub fn next_number(self, key: &[u8]) -> Result<u64> {
        let largest: u64 = self.get(key)?.unwrap_or_default();
        Ok(largest.saturating_add(1))
    }
    /// Returns the first time in an index by time.
    pub fn first_time(self, index: u8) -> Result<Option<Timestamp>> {
        let first = self.prefix(&[index], false).next().transpose()?;
        Ok(first.and_then(|entry| entry.time()))
    }
    /// Returns the newest `limit` numbers of a series that are below `before`, ascending.
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

/// A page of events, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SeqPage {
    /// Seqs of the events, ascending.
    pub seqs: Vec<u64>,
    /// True if there are older events.
    pub older: bool,
}

/// A key and its value.
pub(crate) struct Entry<'a> {
    pub key: Cow<'a, [u8]>,
    pub value: teamlog_engine::internals::derived::Value<'a>,
}

impl Entry<'_> {
    pub fn row<T: Row>(&self) -> Result<T> {
        decoded(&self.key, &self.value)
    }
    /// Returns the part of the key after a prefix of the given length.
    pub fn behind(&self, prefix: usize) -> &[u8] {
        self.key.get(prefix..).unwrap_or_default()
    }
    /// Returns the part of the key after a prefix, as a name.
    pub fn name(&self, prefix: usize) -> String {
        String::from_utf8_lossy(self.behind(prefix)).into_owned()
    }
    /// Returns the time in the key after its namespace.
    pub fn time(&self) -> Option<Timestamp> {
        let bytes = self.behind(1).first_chunk::<8>()?;
        Timestamp::from_micros(i64::from_be_bytes(*bytes))
    }
    /// Returns the number at the end of a series' key.
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

/// Stores a field as a `T`: `#[rkyv(with = As<u64>)]` for the seq of an optional event.
#[derive(Debug)]
pub struct As<T>(PhantomData<T>);

/// A type that rows store as a `T`.
pub trait Stored<T>: Sized {
    /// Returns the stored form.
    fn stored(&self) -> T;
    /// Returns the value of a stored form.
    fn found(stored: T) -> Self;
}

/// Seq of an event, 0 for `None`.
impl Stored<u64> for Option<u64> {
    fn stored(&self) -> u64 {
        self.unwrap_or_default()
    }
    fn found(seq: u64) -> Option<u64> {
        (seq != 0).then_some(seq)
    }
}

/// Id of an event, zeros for `None`.
impl Stored<[u8; 16]> for Option<EventId> {
    fn stored(&self) -> [u8; 16] {
        self.map_or([0; 16], |id| id.bytes())
    }
    fn found(bytes: [u8; 16]) -> Option<EventId> {
        EventId::from_bytes(bytes)
    }
}

impl Stored<String> for Json {
    fn stored(&self) -> String {
        self.as_str().to_owned()
    }
    fn found(text: String) -> Json {
        // Rows have a checksum, and the field is always valid JSON.
        Json::parse(&text).unwrap_or_else(|_| Json::from_canonical("null".to_owned()))
    }
}

impl Stored<String> for Option<String> {
    fn stored(&self) -> String {
        self.clone().unwrap_or_default()
    }
    fn found(text: String) -> Option<String> {
        Some(text).filter(|text| !text.is_empty())
    }
}

impl Stored<i64> for Option<Timestamp> {
    fn stored(&self) -> i64 {
        self.unwrap_or_default().micros()
    }
    fn found(micros: i64) -> Option<Timestamp> {
        Some(time(micros))
    }
}

impl<T, F: Stored<T>> Stored<Option<T>> for Option<F> {
    fn stored(&self) -> Option<T> {
        self.as_ref().map(F::stored)
    }
    fn found(stored: Option<T>) -> Option<F> {
        stored.map(F::found)
    }
}

impl<T: Archive, F: Stored<T>> ArchiveWith<F> for As<T> {
    type Archived = T::Archived;
    type Resolver = T::Resolver;
    fn resolve_with(field: &F, resolver: T::Resolver, out: Place<T::Archived>) {
        field.stored().resolve(resolver, out);
    }
}

impl<T: Serialize<S>, F: Stored<T>, S: Fallible + ?Sized> SerializeWith<F, S> for As<T> {
    fn serialize_with(field: &F, serializer: &mut S) -> Result<T::Resolver, S::Error> {
        field.stored().serialize(serializer)
    }
}

impl<T: Archive, F: Stored<T>, D: Fallible + ?Sized> DeserializeWith<T::Archived, F, D> for As<T>
where
    T::Archived: Deserialize<T, D>,
{
    fn deserialize_with(stored: &T::Archived, deserializer: &mut D) -> Result<F, D::Error> {
        stored.deserialize(deserializer).map(F::found)
    }
}

/// Returns a stored time.
pub(crate) fn time(micros: i64) -> Timestamp {
    Timestamp::from_micros(micros).unwrap_or_default()
}

/// Returns the first key after all keys that begin with `prefix`. The prefix must not consist of 0xFF only.
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

/// Returns a key of a namespace that is no series.
pub(crate) fn key_of(namespace: u8, name: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(name.len() + 1);
    key.push(namespace);
    key.extend_from_slice(name);
    key
}

/// Returns a namespace and a name with a zero byte after it, so that no key is a prefix of another name's key.
pub(crate) fn named(namespace: u8, name: &str) -> Vec<u8> {
    let mut key = key_of(namespace, name.as_bytes());
    key.push(0);
    key
}

/// Bytes before the name in a key of an index by time.
pub(crate) const TIMED_BYTES: usize = 9;

/// Returns the key of an index by time. Times of a log are not before 1970, so the bytes sort like the times.
pub(crate) fn timed(index: u8, micros: i64, name: &[u8]) -> Vec<u8> {
    let mut key = key_of(index, &micros.to_be_bytes());
    key.extend_from_slice(name);
    key
}

/// Returns a key of a series.
pub(crate) fn numbered(namespace: u8, name: &str, seq: u64) -> Vec<u8> {
    let mut key = key::series(namespace, name.as_bytes());
    key.extend_from_slice(&seq.to_be_bytes());
    key
}

/// Reads and writes of a fold: single keys of the state.
pub struct Tx<'a> {
    state: &'a mut dyn Changes,
    /// Buffer for encoded rows.
    buffer: Vec<u8>,
}

impl<'a> Tx<'a> {
    /// Creates the access to `state`.
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
    /// Changes a row; a missing row starts with the default.
    pub(crate) fn change<T: Row + Default>(
        &mut self,
        key: &[u8],
        change: impl FnOnce(&mut T),
    ) -> Result<()> {
        let mut row: T = self.get(key)?.unwrap_or_default();
        change(&mut row);
        self.put(key, &row);
        Ok(())
    }
    /// Adds one to a counter.
    pub(crate) fn increment(&mut self, key: &[u8]) -> Result<()> {
        self.change(key, |count: &mut u64| *count += 1)
    }
    /// Stores the larger of the old and the given number.
    pub(crate) fn raise(&mut self, key: &[u8], number: u64) -> Result<()> {
        let largest: u64 = self.get(key)?.unwrap_or_default();
        if number > largest {
            self.put(key, &number);
        }
        Ok(())
    }
    /// Stores a key without a value, as a marker.
    pub(crate) fn mark(&mut self, key: &[u8]) {
        self.state.put(key, &[]);
    }
    pub(crate) fn delete(&mut self, key: &[u8]) {
        self.state.delete(key);
    }
}
