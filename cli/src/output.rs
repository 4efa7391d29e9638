//! Standard output, which gets the answer only.
//!
//! Invariants: each JSON value is one compact line and its bytes are unchanged, except on a terminal; a terminal gets no
//! hidden characters except line ends, tabs and colours; after the reader closed the pipe, further output is dropped
//! silently and the command keeps its exit code.

use crate::env::ProcessEnv;
use crate::exit::CommandError;
use crate::render::escape::{bytes_for_terminal, for_terminal, visible_json};
use crate::render::style::Paint;
use serde::Serialize;
use std::borrow::Cow;
use std::io::{self, BufWriter, Write};
use teamlog_team::projections::hidden::one_line_of_json;

#[derive(Debug)]
pub struct Output {
    out: BufWriter<io::Stdout>,
    json: bool,
    terminal: bool,
    paint: Paint,
    reader_left: bool,
}

/// Adapts standard output for a serialiser. Keeps the error of a failed write, so that the full error can be reported.
struct JsonWriter<'a> {
    output: &'a mut Output,
    failed: Option<CommandError>,
}

impl Write for JsonWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.output.write_json(bytes) {
            Ok(()) => Ok(bytes.len()),
            Err(error) => {
                self.failed = Some(error);
                Err(io::ErrorKind::Other.into())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Output {
    /// Opens standard output. `json` is true if programs read the output.
    pub fn stdout(json: bool, env: &ProcessEnv) -> Output {
        Output {
            terminal: env.terminals().stdout,
            paint: env.paint_out(),
            out: BufWriter::with_capacity(64 << 10, env.stdout()),
            json,
            reader_left: false,
        }
    }

    pub fn is_json(&self) -> bool {
        self.json
    }

    pub fn paint(&self) -> Paint {
        self.paint
    }

    /// Returns true if the reader closed the pipe. The rest of a long answer can then be left out.
    pub fn reader_left(&self) -> bool {
        self.reader_left
    }

    /// Prints one JSON value as one line.
    pub fn json(&mut self, value: &impl Serialize) -> Result<(), CommandError> {
        self.json_line(json_text(value)?.as_bytes())
    }

    /// Prints one long JSON value as one line. The text of the value is never in memory as a whole.
    pub fn json_streamed(&mut self, value: &impl Serialize) -> Result<(), CommandError> {
        if self.terminal {
            return self.json(value);
        }
        let mut sink = JsonWriter {
            output: self,
            failed: None,
        };
        let written = serde_json::to_writer(&mut sink, value);
        match (sink.failed, written) {
            (Some(error), _) => Err(error),
            (None, Err(error)) => Err(unwritable(error)),
            (None, Ok(())) => self.write(b"\n"),
        }
    }

    /// Prints one JSON value that is already text, as one line.
    pub fn json_line(&mut self, line: &[u8]) -> Result<(), CommandError> {
        if self.terminal {
            let text = String::from_utf8_lossy(line);
            self.write(visible_json(&text).as_bytes())?;
        } else {
            self.write_json(line)?;
        }
        self.write(b"\n")
    }

    /// Writes JSON. Escapes characters that line readers may treat as a line end.
    fn write_json(&mut self, bytes: &[u8]) -> Result<(), CommandError> {
        match std::str::from_utf8(bytes).map(one_line_of_json) {
            Ok(Cow::Owned(escaped)) => self.write(escaped.as_bytes()),
            _ => self.write(bytes),
        }
    }

    /// Prints one line for people. The caller has escaped hidden characters.
    pub fn line(&mut self, line: impl std::fmt::Display) -> Result<(), CommandError> {
        self.text(&format!("{line}\n"))
    }

    pub fn lines(&mut self, lines: &[String]) -> Result<(), CommandError> {
        lines.iter().try_for_each(|line| self.line(line))
    }

    /// Prints bytes. Escapes hidden characters only on a terminal.
    pub fn bytes(&mut self, bytes: &[u8]) -> Result<(), CommandError> {
        match self.terminal {
            true => self.write(bytes_for_terminal(bytes).as_bytes()),
            false => self.write(bytes),
        }
    }

    pub fn text(&mut self, text: &str) -> Result<(), CommandError> {
        match self.terminal {
            true => self.write(for_terminal(text).as_bytes()),
            false => self.write(text.as_bytes()),
        }
    }

    pub fn flush(&mut self) -> Result<(), CommandError> {
        if self.reader_left {
            return Ok(());
        }
        let flushed = self.out.flush();
        self.unless_reader_left(flushed)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), CommandError> {
        if self.reader_left {
            return Ok(());
        }
        let written = self.out.write_all(bytes);
        self.unless_reader_left(written)
    }

    fn unless_reader_left(&mut self, result: io::Result<()>) -> Result<(), CommandError> {
        match result {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.reader_left = true;
                Ok(())
            }
            Err(error) => {
                // Do not print the buffered bytes again at the end.
                self.reader_left = true;
                Err(CommandError::unwritten(&error))
            }
            Ok(()) => Ok(()),
        }
    }
}

/// Returns a value as JSON text.
pub fn json_text(value: &impl Serialize) -> Result<String, CommandError> {
    serde_json::to_string(value).map_err(unwritable)
}

/// Appends a field to a JSON object that is already text. Other values stay unchanged. The function works on text, so that each type of
/// answer needs only one serialiser.
pub fn add_field(
    text: &mut String,
    name: &str,
    value: &impl Serialize,
) -> Result<(), CommandError> {
    if text.ends_with('}') {
        text.pop();
        let comma = if text == "{" { "" } else { "," };
        let value = json_text(value)?;
        text.push_str(&format!("{comma}\"{name}\":{value}}}"));
    }
    Ok(())
}

fn unwritable(error: serde_json::Error) -> CommandError {
    let source = io::Error::other(error);
    CommandError::io("write", "standard output", &source)
}
