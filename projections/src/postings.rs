//! Reading postings from the newest backward: series, unions of series, and the prefixes of words.

use crate::common::*;
use crate::tx::{Entry, Rows, end_of};

/// Number of postings that are skipped one by one before the series is opened again at the wanted posting.
const STEPS_MAX: usize = 8;
/// Largest number of words of a prefix that are read from the index. For more words, the texts are examined.
const PREFIX_WORDS_MAX: usize = 128;

type Walk<'a> = Box<dyn Iterator<Item = Result<Entry<'a>>> + 'a>;

/// The postings of one series, read backward.
struct Series<'a> {
    name: Vec<u8>,
    walk: Option<Walk<'a>>,
    head: Option<u64>,
    is_over: bool,
}

impl<'a> Series<'a> {
    fn new(name: Vec<u8>) -> Series<'a> {
        Series {
            name,
            walk: None,
            head: None,
            is_over: false,
        }
    }

    /// Returns the newest posting that is at most `seq`. Calls have descending numbers.
    fn at_most(&mut self, rows: Rows<'a>, seq: u64) -> Result<Option<u64>> {
        for _ in 0..STEPS_MAX {
            match self.head {
                Some(head) if head <= seq => return Ok(self.head),
                _ if self.is_over => return Ok(None),
                _ if self.walk.is_none() => break,
                _ => self.step()?,
            }
        }
        let end = match seq.checked_add(1) {
            Some(next) => [&*self.name, &next.to_be_bytes()].concat(),
            None => end_of(&self.name),
        };
        self.walk = Some(Box::new(rows.walk(&self.name, &end, true)));
        self.step()?;
        Ok(self.head)
    }

    fn step(&mut self) -> Result<()> {
        let next = self.walk.as_mut().and_then(Iterator::next).transpose()?;
        self.head = next.map(|entry| entry.seq());
        self.is_over = self.head.is_none();
        Ok(())
    }
}

/// The union of some series, read backward.
pub(crate) struct Stream<'a> {
    rows: Rows<'a>,
    series: Vec<Series<'a>>,
    /// A posting beside those of the series.
    single: Option<u64>,
}

impl<'a> Stream<'a> {
    /// Creates the union of series by their names.
    pub fn new(rows: Rows<'a>, names: impl IntoIterator<Item = Vec<u8>>) -> Stream<'a> {
        Stream {
            rows,
            series: names.into_iter().map(Series::new).collect(),
            single: None,
        }
    }

    /// Creates a stream of at most one posting.
    pub fn single(rows: Rows<'a>, seq: Option<u64>) -> Stream<'a> {
        Stream {
            single: seq,
            ..Stream::new(rows, [])
        }
    }

    /// Returns the newest posting that is at most `seq`. Calls have descending numbers.
    pub fn at_most(&mut self, seq: u64) -> Result<Option<u64>> {
        let mut newest = self.single.filter(|single| *single <= seq);
        for series in &mut self.series {
            newest = newest.max(series.at_most(self.rows, seq)?);
        }
        Ok(newest)
    }
}

/// Returns the series of the words that begin with a prefix; `None` if there are too many.
pub(crate) fn prefixed(rows: Rows<'_>, prefix: &[u8]) -> Result<Option<Vec<Vec<u8>>>> {
    let end = end_of(prefix);
    let (mut from, mut names) = (prefix.to_vec(), Vec::new());
    while let Some(entry) = rows.walk(&from, &end, false).next() {
        let key = entry?.key;
        if names.len() == PREFIX_WORDS_MAX {
            return Ok(None);
        }
        // The name of a series ends with a zero byte, and a seq of eight bytes follows.
        let name = key.get(..key.len().saturating_sub(8)).unwrap_or_default();
        from = end_of(name);
        names.push(name.to_vec());
    }
    Ok(Some(names))
}
