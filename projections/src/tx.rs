//! The view that a fold has of the state, and its changes to it.
//!
//! Namespaces (first byte of a key) belong to one projection each, so that each can fold on its own worker:
//! `0x10..` the team, `0x20..` and `0x80..` messages, `0x30..`, `0x44..0x45`, `0x68..0x69` and `0x90..` tasks,
//! `0x40..0x43` and `0xA0..` deliveries, `0x48..0x49` and `0xB0..0xB1` threads, `0x4B`, `0xB2..0xB3` and `0xB5` the feed, `0x4C..0x4D` tokens, `0x4E..0x4F` artifacts,
//! `0x46` and `0xB4` refused writes, `0x47` agents' tokens,
//! `0x50..` the staff, `0x60..` answers under keys,
//! `0x70..0x77` modes, `0x78..` and `0xD0..` runs of the bootstrap; the postings are the engine's.

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
    /// The entries whose keys begin with `prefix` and go on with a name behind `after`.
    pub fn behind(
        self,
        prefix: &[u8],
        after: Option<&str>,
    ) -> impl Iterator<Item = Result<Entry<'a>>> + use<'a> {
        let from = match after {
            None => prefix.to_vec(),
            // The next key there can be.
            Some(after) => [prefix, after.as_bytes(), &[0]].concat(),
        };
        self.walk(&from, &end_of(prefix), false)
    }
    /// A number behind the largest that [`Tx::raise`] kept.
    pub fn next_number(self, key: &[u8]) -> Result<u64> {
        let largest: u64 = self.get(key)?.unwrap_or_default();
        Ok(largest.saturating_add(1))
    }
    /// The first time in an index by time.
    pub fn first_time(self, index: u8) -> Result<Option<Timestamp>> {
        let first = self.prefix(&[index], false).next().transpose()?;
        Ok(first.and_then(|entry| entry.time()))
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
    pub value: teamlog_engine::internals::derived::Value<'a>,
}

impl Entry<'_> {
    pub fn row<T: Row>(&self) -> Result<T> {
        decoded(&self.key, &self.value)
    }
    /// What the key holds behind a prefix of that length.
    pub fn behind(&self, prefix: usize) -> &[u8] {
        self.key.get(prefix..).unwrap_or_default()
    }
    /// The same as a name.
    pub fn name(&self, prefix: usize) -> String {
        String::from_utf8_lossy(self.behind(prefix)).into_owned()
    }
    /// The time that the key holds behind its namespace.
    pub fn time(&self) -> Option<Timestamp> {
        let bytes = self.behind(1).first_chunk::<8>()?;
        Timestamp::from_micros(i64::from_be_bytes(*bytes))
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

/// Stores a field as a `T`: `#[rkyv(with = As<u64>)]` on the seq of an event that may be none.
#[derive(Debug)]
pub struct As<T>(PhantomData<T>);

/// A type that rows hold as a `T`.
pub trait Stored<T>: Sized {
    /// What is stored.
    fn stored(&self) -> T;
    /// What was stored.
    fn found(stored: T) -> Self;
}

/// The seq of an event, 0 for none.
impl Stored<u64> for Option<u64> {
    fn stored(&self) -> u64 {
        self.unwrap_or_default()
    }
    fn found(seq: u64) -> Option<u64> {
        (seq != 0).then_some(seq)
    }
}

/// The id of an event, zeros for none.
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
        // Rows pass a checksum, and hold the text of JSON only.
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

/// A namespace and a name with a zero byte behind it, so that no key is the beginning of another name's.
pub(crate) fn named(namespace: u8, name: &str) -> Vec<u8> {
    let mut key = key_of(namespace, name.as_bytes());
    key.push(0);
    key
}

/// Bytes of a key of an index by time before the name.
pub(crate) const TIMED_BYTES: usize = 9;

/// The key of an index by time. Times of a log are not before 1970, so the bytes sort as they do.
pub(crate) fn timed(index: u8, micros: i64, name: &[u8]) -> Vec<u8> {
    let mut key = key_of(index, &micros.to_be_bytes());
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
    /// Changes a row, which is the default where there is none.
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
    /// One more.
    pub(crate) fn increment(&mut self, key: &[u8]) -> Result<()> {
        self.change(key, |count: &mut u64| *count += 1)
    }
    /// Keeps the largest number.
    pub(crate) fn raise(&mut self, key: &[u8], number: u64) -> Result<()> {
        let largest: u64 = self.get(key)?.unwrap_or_default();
        if number > largest {
            self.put(key, &number);
        }
        Ok(())
    }
    /// Sets a key that says all by being there.
    pub(crate) fn mark(&mut self, key: &[u8]) {
        self.state.put(key, &[]);
    }
    pub(crate) fn delete(&mut self, key: &[u8]) {
        self.state.delete(key);
    }
}
