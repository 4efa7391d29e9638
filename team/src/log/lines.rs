//! Numbered lines of an input, read in bounded memory.

use crate::operation::prelude::*;
use std::io::{self, BufRead, Read};
use teamlog_engine::limits::EVENT_BYTES_MAX;

/// Maximum length of a line in bytes. This length leaves room for an event of maximum size with
/// spaces and escapes.
pub const LINE_BYTES_MAX: usize = 4 * EVENT_BYTES_MAX;

/// Byte order mark. Some programs write this mark at the start of a text.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// A line that is not blank.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// Line number; the first line has number 1.
    pub number: u64,
    /// Byte offset in the input.
    pub offset: u64,
    /// Text without the newline.
    pub text: String,
}

pub(crate) struct Lines<R> {
    source: R,
    number: u64,
    offset: u64,
}

impl<R: BufRead> Lines<R> {
    pub fn new(source: R) -> Lines<R> {
        Lines {
            source,
            number: 0,
            offset: 0,
        }
    }

    /// Returns the next line that is not blank; `None` at the end.
    ///
    /// # Errors
    /// `too_large`; `invalid_input` for a line that is not UTF-8. Both contain the line number, and the next call continues after
    /// that line. Errors of the source.
    pub fn next(&mut self) -> Result<Option<Line>> {
        loop {
            let offset = self.offset;
            let mut bytes = Vec::new();
            let read = (&mut self.source)
                .take(LINE_BYTES_MAX as u64 + 1)
                .read_until(b'\n', &mut bytes)
                .map_err(unreadable)?;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            self.offset += read as u64;
            if bytes.last() == Some(&b'\n') {
                bytes.pop();
            } else if bytes.len() > LINE_BYTES_MAX {
                self.skip_rest()?;
                let refusal = self.refusal(Code::TooLarge, "the line must have at most 4 MiB");
                return Err(refusal.into());
            }
            if bytes.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            if self.number == 1 && bytes.starts_with(BYTE_ORDER_MARK) {
                bytes.drain(..BYTE_ORDER_MARK.len());
            }
            let text = String::from_utf8(bytes)
                .map_err(|_| self.refusal(Code::InvalidInput, "the line must be UTF-8"))?;
            let number = self.number;
            return Ok(Some(Line {
                number,
                offset,
                text,
            }));
        }
    }

    pub fn number(&self) -> u64 {
        self.number
    }

    fn skip_rest(&mut self) -> Result<()> {
        loop {
            let chunk = self.source.fill_buf().map_err(unreadable)?;
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let (used, done) = end.map_or((chunk.len(), chunk.is_empty()), |at| (at + 1, true));
            self.source.consume(used);
            self.offset += used as u64;
            if done {
                return Ok(());
            }
        }
    }

    fn refusal(&self, code: Code, message: &str) -> Refusal {
        Refusal::new(code, message).detail("line", self.number)
    }
}

pub(crate) fn unreadable(error: io::Error) -> Failure {
    Error::io("read", "the input")(error).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_lines_count_but_are_not_handed_out() {
        let mut lines = Lines::new(&b"a\n\n \t\r\nb"[..]);
        let first = lines.next().unwrap().unwrap();
        assert_eq!((first.number, first.offset, &*first.text), (1, 0, "a"));
        let second = lines.next().unwrap().unwrap();
        assert_eq!((second.number, second.offset, &*second.text), (4, 7, "b"));
        assert_eq!(lines.next().unwrap(), None);
    }

    #[test]
    fn a_line_that_is_too_long_is_refused_and_the_next_one_is_read() {
        let mut input = vec![b'x'; LINE_BYTES_MAX + 10];
        input.extend_from_slice(b"\nnext\n");
        let mut lines = Lines::new(&input[..]);
        let failure = lines.next().unwrap_err();
        let refusal = failure.refusal().unwrap();
        assert_eq!(refusal.code, Code::TooLarge);
        assert_eq!(refusal.details["line"], 1);
        let next = lines.next().unwrap().unwrap();
        assert_eq!((next.number, &*next.text), (2, "next"));
        assert_eq!(next.offset, LINE_BYTES_MAX as u64 + 11);
    }

    #[test]
    fn a_line_of_the_largest_size_is_read_with_and_without_its_newline() {
        for end in ["", "\n"] {
            let input = "x".repeat(LINE_BYTES_MAX) + end;
            let line = Lines::new(input.as_bytes()).next().unwrap().unwrap();
            assert_eq!(line.text.len(), LINE_BYTES_MAX);
        }
    }

    #[test]
    fn what_is_no_utf8_is_refused_with_its_line() {
        let mut lines = Lines::new(&b"ok\n\xff\nok\n"[..]);
        lines.next().unwrap();
        let failure = lines.next().unwrap_err();
        assert_eq!(failure.refusal().unwrap().details["line"], 2);
        assert_eq!(lines.next().unwrap().unwrap().number, 3);
    }
}
