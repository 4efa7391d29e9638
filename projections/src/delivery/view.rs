//! `dead-letter/YYYY-MM-DD.jsonl`: one line per dead letter of that UTC day, append-only.
//!
//! Before appending, a writer compares the last line of the file with the preceding dead letter. If they differ, the writer
//! rebuilds the file. A later ack or requeue of a dead letter appears in answers, but not in the file.

use crate::delivery::{self, DeadLetter};
use crate::event::envelope;
use crate::files::{Home, Take, ViewUpdate, Walk, failed, in_pieces};
use crate::prelude::*;
use teamlog_engine::storage::{File, OpenMode};

pub(crate) const DIR: &str = "dead-letter";

/// Temporary directory in which a missing directory of dead letters is built, before the rename to its place.
const ASIDE: &str = "dead-letter.new";

/// Number of bytes that are read at once to find the last line of a file.
const PIECE_BYTES: usize = 64 << 10;

fn file_name(day: &str) -> String {
    format!("{day}.jsonl")
}

/// Appends a dead letter's line: the event's seq, the fields, the message.
fn line(
    live: &TeamState,
    reader: &Reader,
    team: &str,
    letter: &DeadLetter,
    out: &mut Vec<u8>,
) -> Result<()> {
    // Lines never change, so a line has only the fields that are known when it is written.
    let message = live.message(&letter.message_id)?;
    let message = match message.filter(|message| message.seq < letter.seq) {
        Some(message) => live.event(reader, message.seq)?,
        None => None,
    };
    let envelope = match &message {
        Some(event) => RawValue::from_string(envelope(event)?.to_owned()).ok(),
        None => None,
    };
    let text = letter.json(team, Some(letter.seq), envelope.as_deref());
    out.extend_from_slice(text.as_bytes());
    out.push(b'\n');
    Ok(())
}

/// Appends the dead letters that events recorded.
pub(crate) fn append(
    live: &TeamState,
    reader: &Reader,
    home: &Home,
    seqs: &[u64],
) -> Result<ViewUpdate> {
    if !home.exists(DIR)? {
        return mend(live, reader, home);
    }
    let mut days: BTreeMap<String, Vec<DeadLetter>> = BTreeMap::new();
    for seq in seqs {
        if let Some(letter) = live.dead_letter_at(*seq)? {
            days.entry(letter.created_at.day())
                .or_default()
                .push(letter);
        }
    }
    for (day, letters) in &days {
        if !extend(live, reader, home, day, letters)? {
            let path = home.path(DIR).join(file_name(day));
            home.build(&path, |take| each_piece(live, reader, home, day, take))?;
        }
    }
    Ok(ViewUpdate::written(days.len()))
}

/// Appends lines to a file. Returns `false` if the file does not end with the preceding dead letter, or cannot be trusted.
fn extend(
    live: &TeamState,
    reader: &Reader,
    home: &Home,
    day: &str,
    letters: &[DeadLetter],
) -> Result<bool> {
    let Some(first) = letters.first() else {
        return Ok(true);
    };
    if home.is_suspect() {
        return Ok(false);
    }
    let before = delivery::of_day(live.rows(), day, first.seq, true)?.next();
    let before = before.transpose()?.map(|letter| letter.seq);
    let path = home.path(DIR).join(file_name(day));
    let file = home.open(&path, OpenMode::Create)?;
    let len = file.stat().map_err(failed("look at", &path))?.len;
    let there = match len {
        0 => None,
        _ => match last_seq(file.as_ref(), len, &path)? {
            Some(seq) => Some(seq),
            None => return Ok(false),
        },
    };
    let known = there == before || letters.iter().any(|letter| Some(letter.seq) == there);
    if !known {
        return Ok(false);
    }
    let mut text = Vec::new();
    for letter in letters.iter().filter(|letter| Some(letter.seq) > there) {
        line(live, reader, &home.team, letter, &mut text)?;
    }
    file.write_all_at(&text, len)
        .map_err(failed("write", &path))?;
    Ok(true)
}

/// Returns the seq in the last line of a file; `None` if the line is incomplete, or was not written by teamlog.
fn last_seq(file: &dyn File, len: u64, path: &Path) -> Result<Option<u64>> {
    let mut want = PIECE_BYTES as u64;
    loop {
        let start = len.saturating_sub(want);
        let mut tail = vec![0; (len - start) as usize];
        file.read_exact_at(&mut tail, start)
            .map_err(failed("read", path))?;
        let Some((b'\n', lines)) = tail.split_last() else {
            return Ok(None);
        };
        let begin = lines
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map(|at| at + 1);
        match begin {
            None if start > 0 => want = want.saturating_mul(2),
            begin => return Ok(seq_of(lines.get(begin.unwrap_or(0)..).unwrap_or_default())),
        }
    }
}

fn seq_of(line: &[u8]) -> Option<u64> {
    let rest = line.strip_prefix(b"{\"seq\":")?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(rest.get(..digits)?).ok()?.parse().ok()
}

/// Updates all files. A missing directory is built under another name and renamed.
pub(crate) fn mend(live: &TeamState, reader: &Reader, home: &Home) -> Result<ViewUpdate> {
    let days = delivery::days(live.rows())?;
    if home.exists(DIR)? || days.is_empty() {
        return Walk::mend(home, |to| walk(live, reader, to));
    }
    let dir = home.fresh_dir(ASIDE)?;
    for day in &days {
        let path = dir.join(file_name(day));
        home.build(&path, |take| each_piece(live, reader, home, day, take))?;
    }
    home.rename(&dir, &home.path(DIR))?;
    Ok(ViewUpdate::written(days.len()))
}

pub(crate) fn walk(live: &TeamState, reader: &Reader, to: &mut Walk<'_>) -> Result<()> {
    let home = to.home;
    for day in delivery::days(live.rows())? {
        to.lines(DIR, &file_name(&day), |take| {
            each_piece(live, reader, home, &day, take)
        })?;
    }
    to.end(DIR)
}

/// Passes the text of a day's file to `take`, in pieces.
fn each_piece(
    live: &TeamState,
    reader: &Reader,
    home: &Home,
    day: &str,
    take: Take<'_>,
) -> Result<()> {
    let letters = delivery::of_day(live.rows(), day, u64::MAX, false)?;
    in_pieces(letters, take, |letter, text| {
        line(live, reader, &home.team, &letter, text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use teamlog_engine::storage::{Memory, Storage};

    #[test]
    fn the_last_line_is_found_however_long_it_is() {
        let memory = Memory::new();
        let path = Path::new("file");
        let file = memory.open(path, OpenMode::Create).unwrap();
        let last = |text: &str| {
            file.set_len(0).unwrap();
            file.write_all_at(text.as_bytes(), 0).unwrap();
            last_seq(file.as_ref(), text.len() as u64, path).unwrap()
        };
        assert_eq!(last("{\"seq\":7,\"id\":1}\n"), Some(7));
        assert_eq!(last("{\"seq\":7}\n{\"seq\":12,\"id\":1}\n"), Some(12));
        let long = "x".repeat(3 * PIECE_BYTES);
        assert_eq!(
            last(&format!("{{\"seq\":7}}\n{{\"seq\":9,\"m\":\"{long}\"}}\n")),
            Some(9)
        );
        assert_eq!(last("{\"seq\":7}\n{\"seq\":12"), None, "a torn line");
        assert_eq!(last("\n"), None);
        assert_eq!(last("{\"seq\":99999999999999999999999}\n"), None);
    }
}
