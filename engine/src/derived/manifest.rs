//! The manifest: a small text file that names the runs, oldest first. Only its rename makes a run part of the store.
//!
//! A first line with the version, one line for each run (name, length, level, first seq, then the last event: seq, id,
//! segment, offset, length, CRC), and a line with the CRC-32 of all lines before it. A manifest that is
//! damaged, of another version, or whose runs leave a gap counts as none.

use super::store::{Anchor, RunMeta};
use crate::event_id::EventId;
use crate::place::Place;
use std::fmt::Write;
use std::str::FromStr;

/// Its file name.
pub const NAME: &str = "manifest";
/// A longer file is no manifest.
pub const BYTES_MAX: u64 = 1 << 20;
const HEADING: &str = "teamlog derived 1\n";

/// The text of a manifest.
pub fn encode<'a>(runs: impl Iterator<Item = &'a RunMeta>) -> Vec<u8> {
    let mut text = HEADING.to_owned();
    for run in runs {
        let Anchor {
            seq,
            id,
            place,
            crc,
        } = run.last;
        let id = u128::from_be_bytes(id.bytes());
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "run {} {} {} {} {seq} {id:032x} {} {} {} {crc:08x}",
            run.name, run.len, run.level, run.first_seq, place.segment, place.offset, place.len,
        );
    }
    let crc = crc32fast::hash(text.as_bytes());
    let _ = writeln!(text, "crc {crc:08x}");
    text.into_bytes()
}

/// The runs that a manifest names; `None` where it is no sound manifest.
pub fn decode(bytes: &[u8]) -> Option<Vec<RunMeta>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let (body, crc) = text.strip_suffix('\n')?.rsplit_once("\ncrc ")?;
    let body = text.get(..body.len() + 1)?;
    if hex(crc, 8)? != u128::from(crc32fast::hash(body.as_bytes())) {
        return None;
    }
    let mut runs: Vec<RunMeta> = Vec::new();
    for line in body.strip_prefix(HEADING)?.lines() {
        let run = decode_run(line)?;
        let next = runs
            .last()
            .map_or(Some(1), |run| run.last.seq.checked_add(1));
        if Some(run.first_seq) != next || run.last.seq < run.first_seq {
            return None;
        }
        runs.push(run);
    }
    Some(runs)
}

fn decode_run(line: &str) -> Option<RunMeta> {
    let mut words = line.strip_prefix("run ")?.split(' ');
    let run = RunMeta {
        name: words.next()?.to_owned(),
        len: number(words.next()?)?,
        level: number(words.next()?)?,
        first_seq: number(words.next()?)?,
        last: Anchor {
            seq: number(words.next()?)?,
            id: EventId::from_bytes(hex(words.next()?, 32)?.to_be_bytes())?,
            place: Place {
                segment: number(words.next()?)?,
                offset: number(words.next()?)?,
                len: number(words.next()?)?,
            },
            crc: u32::try_from(hex(words.next()?, 8)?).ok()?,
        },
    };
    let plain = number_of(&run.name).is_some() && words.next().is_none();
    plain.then_some(run)
}

/// The file name of the run with that number.
pub fn run_name(number: u64) -> String {
    format!("{number:08}.run")
}

/// The number in a run's file name.
pub fn number_of(name: &str) -> Option<u64> {
    let number = number(name.strip_suffix(".run")?)?;
    (run_name(number) == name).then_some(number)
}

fn number<T: FromStr>(word: &str) -> Option<T> {
    word.parse().ok()
}

fn hex(word: &str, digits: usize) -> Option<u128> {
    let plain = word.len() == digits
        && word
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    plain.then(|| u128::from_str_radix(word, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timestamp::Timestamp;

    fn run(first_seq: u64, last: u64) -> RunMeta {
        RunMeta {
            name: run_name(first_seq),
            len: 16_384,
            first_seq,
            last: Anchor {
                seq: last,
                id: EventId::new(Timestamp::from_micros(1_700_000_000_000_000).unwrap(), last),
                place: Place {
                    segment: 3,
                    offset: 1 << 33,
                    len: 400,
                },
                crc: 0xab,
            },
            level: 2,
        }
    }

    #[test]
    fn reads_what_it_writes() {
        for runs in [
            vec![],
            vec![run(1, 7)],
            vec![run(1, 7), run(8, 8), run(9, 500)],
        ] {
            assert_eq!(decode(&encode(runs.iter())), Some(runs));
        }
    }

    #[test]
    fn a_gap_or_an_overlap_counts_as_none() {
        for runs in [
            vec![run(2, 7)],
            vec![run(1, 7), run(9, 9)],
            vec![run(1, 7), run(7, 9)],
            vec![run(1, 0)],
        ] {
            assert_eq!(decode(&encode(runs.iter())), None, "{runs:?}");
        }
    }

    #[test]
    fn a_name_that_leads_elsewhere_counts_as_none() {
        for name in ["../1.run", "1.run", "00000001", "00000001.runs", ""] {
            let runs = [RunMeta {
                name: name.to_owned(),
                ..run(1, 7)
            }];
            assert_eq!(decode(&encode(runs.iter())), None, "{name}");
        }
        assert_eq!(number_of(&run_name(u64::MAX)), Some(u64::MAX));
    }

    #[test]
    fn text_without_meaning_counts_as_none() {
        let sound = String::from_utf8(encode([run(1, 7)].iter())).unwrap();
        for text in [
            "",
            "\n",
            "crc 00000000\n",
            "\ncrc 00000000\n",
            &sound[1..],
            sound.trim_end(),
        ] {
            assert_eq!(decode(text.as_bytes()), None, "{text:?}");
        }
        assert_eq!(decode(&[0xff; 100]), None);
    }
}
