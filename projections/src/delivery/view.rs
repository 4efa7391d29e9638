//! `dead-letter/YYYY-MM-DD.jsonl`: one line per dead letter of that UTC day, only ever growing.
//!
//! A line goes behind the one before it: a writer looks at the last line of the file, and a file that ends otherwise
//! than it should is built anew. What becomes of a dead letter later is not in the file but in answers.

use crate::delivery::{self, DeadLetter};
use crate::fact;
use crate::prelude::*;
use crate::views::mend::remove_others;
use crate::views::{Home, Mended, failed};
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::path::Path;
use teamlog_engine::storage::{File, Open};

pub(crate) const DIR: &str = "dead-letter";

/// Where the directory is built that is missing.
const ASIDE: &str = "dead-letter.new";

/// A file is written and compared in pieces of about this size, and its last line is looked for in steps of it.
const PIECE_BYTES: usize = 64 << 10;

pub(crate) fn file_name(day: &str) -> String {
    format!("{day}.jsonl")
}

/// Appends a dead letter's line: its event's seq, its fields, its message.
fn line(
    live: &Live,
    reader: &Reader,
    team: &str,
    letter: &DeadLetter,
    out: &mut Vec<u8>,
) -> Result<()> {
    // A line says what was known when it was written, or it could not stay as it is.
    let message = live.message(&letter.message_id)?;
    let message = match message.filter(|message| message.seq < letter.seq) {
        Some(message) => live.event(reader, message.seq)?,
        None => None,
    };
    let envelope = match &message {
        Some(event) => RawValue::from_string(fact::envelope(event)?.to_owned()).ok(),
        None => None,
    };
    let text = letter.json(team, Some(letter.seq), envelope.as_deref());
    out.extend_from_slice(text.as_bytes());
    out.push(b'\n');
    Ok(())
}

/// Adds the dead letters that those events recorded.
pub(crate) fn append(live: &Live, reader: &Reader, home: &Home, seqs: &[u64]) -> Result<Mended> {
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
    let mut mended = Mended::default();
    for (day, letters) in &days {
        if !extend(live, reader, home, day, letters)? {
            rebuild(live, reader, home, &home.path(DIR), day)?;
        }
        mended.written += 1;
    }
    Ok(mended)
}

/// Puts lines behind those of the file. `false` where it does not end with the dead letter before them.
fn extend(
    live: &Live,
    reader: &Reader,
    home: &Home,
    day: &str,
    letters: &[DeadLetter],
) -> Result<bool> {
    let Some(first) = letters.first() else {
        return Ok(true);
    };
    let before = delivery::of_day(live.rows(), day, first.seq, true)?.next();
    let before = before.transpose()?.map(|letter| letter.seq);
    let path = home.path(DIR).join(file_name(day));
    let file = home
        .storage
        .open(&path, Open::Create)
        .map_err(failed("open", &path))?;
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

/// The seq of the last line of a file; `None` where that is no whole line of ours.
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

/// Brings all files in line; where the directory is missing, it is built beside and renamed whole.
pub(crate) fn mend(live: &Live, reader: &Reader, home: &Home) -> Result<Mended> {
    let days = delivery::days(live.rows())?;
    let mut mended = Mended::default();
    let there = home.exists(DIR)?;
    if !there && days.is_empty() {
        return Ok(mended);
    }
    let dir = home.path(if there { DIR } else { ASIDE });
    if !there {
        match home.storage.remove_dir_all(&dir) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(failed("remove", &dir)(error));
            }
            _ => {}
        }
        home.storage
            .create_dir(&dir)
            .map_err(failed("create", &dir))?;
    }
    for day in &days {
        let same = there && is_whole(live, reader, home, &dir, day)?;
        if !same {
            rebuild(live, reader, home, &dir, day)?;
        }
        mended.add(Mended::one(!same));
    }
    match there {
        true => {
            let names: BTreeSet<String> = days.iter().map(|day| file_name(day)).collect();
            mended.removed += remove_others(home, DIR, &names)?;
        }
        false => {
            let to = home.path(DIR);
            home.storage
                .rename(&dir, &to)
                .map_err(failed("rename", &dir))?;
        }
    }
    Ok(mended)
}

/// Shows the text of a day's file, piece by piece.
fn each_piece(
    live: &Live,
    reader: &Reader,
    home: &Home,
    day: &str,
    mut piece: impl FnMut(&[u8]) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let mut text = Vec::new();
    for letter in delivery::of_day(live.rows(), day, u64::MAX, false)? {
        line(live, reader, &home.team, &letter?, &mut text)?;
        if text.len() >= PIECE_BYTES {
            if piece(&text)?.is_break() {
                return Ok(());
            }
            text.clear();
        }
    }
    piece(&text).map(|_| ())
}

/// Whether a file is what it should be.
pub(crate) fn is_whole(
    live: &Live,
    reader: &Reader,
    home: &Home,
    dir: &Path,
    day: &str,
) -> Result<bool> {
    let path = dir.join(file_name(day));
    let file = match home.storage.open(&path, Open::Read) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        opened => opened.map_err(failed("open", &path))?,
    };
    let len = file.stat().map_err(failed("look at", &path))?.len;
    let (mut at, mut same) = (0, true);
    each_piece(live, reader, home, day, |text| {
        let mut there = vec![0; text.len()];
        same = file.read_exact_at(&mut there, at).is_ok() && there == text;
        at += text.len() as u64;
        Ok(match same {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        })
    })?;
    Ok(same && at == len)
}

/// Builds a day's file anew, beside and renamed whole.
fn rebuild(live: &Live, reader: &Reader, home: &Home, dir: &Path, day: &str) -> Result<()> {
    let path = dir.join(file_name(day));
    let aside = dir.join(format!("{day}.jsonl.tmp"));
    let file = home
        .storage
        .open(&aside, Open::Create)
        .map_err(failed("open", &aside))?;
    file.set_len(0).map_err(failed("cut", &aside))?;
    let mut at = 0;
    each_piece(live, reader, home, day, |text| {
        file.write_all_at(text, at)
            .map_err(failed("write", &aside))?;
        at += text.len() as u64;
        Ok(ControlFlow::Continue(()))
    })?;
    home.storage
        .rename(&aside, &path)
        .map_err(failed("rename", &aside))
}

#[cfg(test)]
mod tests {
    use super::*;
    use teamlog_engine::storage::{Memory, Storage};

    #[test]
    fn the_last_line_is_found_however_long_it_is() {
        let memory = Memory::new();
        let path = Path::new("file");
        let file = memory.open(path, Open::Create).unwrap();
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
