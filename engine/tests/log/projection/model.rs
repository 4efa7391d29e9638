//! Projections for tests, and a plain fold of the same rules into a map.

use crate::support::*;
use std::collections::BTreeMap;
use teamlog_engine::Event;
use teamlog_engine::projection::{
    Projection, ProjectionError, ProjectionOptions, ProjectionRows, Projections, RowChanges,
};

/// Rows of all projections: name and key, value.
pub type Rows = BTreeMap<(String, Vec<u8>), Vec<u8>>;

/// Keeps texts under keys: `put KEY TEXT`, `append KEY TEXT`, `delete KEY`. Refuses `refuse`.
pub struct Texts(pub u64);

/// Counts events of each first letter; sees only some of the events.
pub struct Letters;

impl Projection for Texts {
    fn name(&self) -> &str {
        "texts"
    }
    fn version(&self) -> u64 {
        self.0
    }
    fn apply(&self, rows: &mut RowChanges<'_>, event: &Event<'_>) -> Result<(), ProjectionError> {
        let text = text(event);
        let mut words = text.splitn(3, ' ');
        let (rule, key) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
        let rest = words.next().unwrap_or("");
        match rule {
            "put" => rows.put(key.as_bytes(), rest.as_bytes()),
            "append" => {
                let mut value = rows.get(key.as_bytes())?.unwrap_or_default().into_owned();
                value.extend_from_slice(rest.as_bytes());
                rows.put(key.as_bytes(), &value)
            }
            "delete" => {
                rows.delete(key.as_bytes());
                Ok(())
            }
            "refuse" => {
                rows.put(b"half", b"applied")?;
                Err(ProjectionError::new("it says refuse"))
            }
            _ => Ok(()),
        }
    }
}

impl Projection for Letters {
    fn name(&self) -> &str {
        "letters"
    }
    fn version(&self) -> u64 {
        1
    }
    fn wants(&self, event: &Event<'_>) -> bool {
        !event.seq.is_multiple_of(3)
    }
    fn apply(&self, rows: &mut RowChanges<'_>, event: &Event<'_>) -> Result<(), ProjectionError> {
        let text = text(event);
        rows.add(text.get(..1).unwrap_or("").as_bytes(), 1)
    }
}

pub fn projections() -> Vec<Arc<dyn Projection>> {
    vec![Arc::new(Texts(1)), Arc::new(Letters)]
}

/// Folds the first `upto` texts of a log into a map.
pub fn fold(texts: &[String], upto: usize) -> Rows {
    let mut rows = Rows::new();
    for (index, text) in texts.iter().take(upto).enumerate() {
        let mut words = text.splitn(3, ' ');
        let (rule, key) = (words.next().unwrap(), words.next().unwrap_or(""));
        let rest = words.next().unwrap_or("").as_bytes();
        let at = ("texts".to_owned(), key.as_bytes().to_vec());
        match rule {
            "put" => drop(rows.insert(at, rest.to_vec())),
            "append" => rows.entry(at).or_default().extend_from_slice(rest),
            "delete" => drop(rows.remove(&at)),
            _ => {}
        }
        if !(index + 1).is_multiple_of(3) {
            let letter = text.get(..1).unwrap_or("").as_bytes().to_vec();
            let count = rows
                .entry(("letters".to_owned(), letter))
                .or_insert(vec![0; 8]);
            let number = i64::from_le_bytes(count.as_slice().try_into().unwrap()) + 1;
            *count = number.to_le_bytes().to_vec();
        }
    }
    rows
}

/// Returns all rows, read in both directions, by key and by scan.
pub fn rows(read: &ProjectionRows) -> Rows {
    try_rows(read).unwrap()
}

pub fn try_rows(read: &ProjectionRows) -> Result<Rows, Error> {
    let mut rows = Rows::new();
    for projection in ["letters", "texts"] {
        let scan = |reverse| {
            let scan = read.scan(projection, .., reverse)?;
            scan.collect::<Result<Vec<_>, _>>()
        };
        let (ascending, mut descending) = (scan(false)?, scan(true)?);
        descending.reverse();
        assert_eq!(ascending, descending);
        assert!(ascending.is_sorted_by(|(one, _), (two, _)| one < two));
        for (key, value) in ascending {
            let got = read.get(projection, &key)?;
            assert_eq!(got.as_ref(), Some(&value));
            rows.insert((projection.to_owned(), key), value);
        }
    }
    Ok(rows)
}

pub fn options() -> ProjectionOptions {
    let mut options = ProjectionOptions::default();
    (options.tail_events, options.alone_max, options.run_bytes) = (8, 16, 4_000);
    options
}

pub fn opened(log: &Log) -> Projections {
    Projections::open(log, "demo", projections(), options()).unwrap()
}

/// The directory of the set `demo`.
pub fn home() -> PathBuf {
    dir().join("projections/demo")
}

/// Returns the digest of a fold from the beginning, on a copy of the log without the stored rows.
pub fn fresh_digest(memory: &Memory) -> String {
    let copy = arc(&memory.snapshot());
    let _ = copy.remove_dir_all(&dir().join("projections"));
    let log = open(&copy, &crate::support::options().1);
    let mut projections = opened(&log);
    projections.catch_up().unwrap();
    projections.digest().unwrap()
}
