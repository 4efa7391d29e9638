//! Reads and writes the lines of an MCP client. A thread reads the lines. Lines that are not valid messages are answered here.

use crate::wire::{self, Incoming};
use rmcp::RoleServer;
use rmcp::model::JsonRpcMessage;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::Serialize;
use std::io::{self, BufRead, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Maximum length of a line in bytes.
const LINE_BYTES_MAX: usize = 16 << 20;
/// Maximum number of received messages that wait for the server.
const WAITING_MAX: usize = 16;

/// The connection to one client, as lines.
pub struct Lines<W> {
    incoming: Receiver<Incoming>,
    to: Arc<Mutex<W>>,
    /// True after the first request of the client. Before this request, invalid bytes are ignored.
    opened: bool,
}

impl<W: Write + Send + 'static> Lines<W> {
    /// Starts a thread that reads lines from `from`.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn new(from: impl Read + Send + 'static, to: W) -> io::Result<Lines<W>> {
        let (sender, incoming) = channel(WAITING_MAX);
        std::thread::Builder::new()
            .name("mcp-input".to_owned())
            .spawn(move || read_all(&mut io::BufReader::new(from), &sender))?;
        Ok(Lines {
            incoming,
            to: Arc::new(Mutex::new(to)),
            opened: false,
        })
    }
}

/// Reads lines until the input ends or the receiver is dropped.
fn read_all(from: &mut impl BufRead, to: &Sender<Incoming>) {
    while let Ok(Some(messages)) = next_line(from) {
        for message in messages {
            if to.blocking_send(message).is_err() {
                return;
            }
        }
    }
}

/// Reads the next line. The last line may lack a line end. Returns `None` at the end of the input.
fn next_line(from: &mut impl BufRead) -> io::Result<Option<Vec<Incoming>>> {
    let mut line = Vec::new();
    let limit = LINE_BYTES_MAX as u64 + 1;
    if from.take(limit).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.last() != Some(&b'\n') && line.len() > LINE_BYTES_MAX {
        skip_line(from)?;
        return Ok(Some(vec![wire::too_long(&line, LINE_BYTES_MAX)]));
    }
    Ok(Some(wire::read(line.trim_ascii_end())))
}

/// Skips the rest of a line.
fn skip_line(from: &mut impl BufRead) -> io::Result<()> {
    loop {
        let here = from.fill_buf()?;
        let end = here.iter().position(|byte| *byte == b'\n');
        let (passed, over) = match end {
            Some(end) => (end + 1, true),
            None => (here.len(), here.is_empty()),
        };
        from.consume(passed);
        if over {
            return Ok(());
        }
    }
}

fn write_line<W: Write>(to: &Mutex<W>, message: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    let mut to = to.lock().unwrap_or_else(PoisonError::into_inner);
    to.write_all(&line)?;
    to.flush()
}

impl<W: Write + Send + 'static> Transport<RoleServer> for Lines<W> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let to = Arc::clone(&self.to);
        async move { write_line(&to, &message) }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            match self.incoming.recv().await? {
                Incoming::Reply(reply) => write_line(&self.to, &reply).ok()?,
                Incoming::Message(message) => {
                    self.opened |= matches!(*message, JsonRpcMessage::Request(_));
                    if self.opened {
                        return Some(*message);
                    }
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.incoming.close();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_until_the_last_byte() {
        let mut from = io::Cursor::new(b"\n{\"id\":1,\"method\":\"ping\"}\r\n{}".to_vec());
        let mut counts = Vec::new();
        while let Some(messages) = next_line(&mut from).unwrap() {
            counts.push(messages.len());
        }
        assert_eq!(counts, [0, 1, 1]);
    }

    #[test]
    fn a_line_that_is_too_long_is_answered_and_passed_by() {
        let mut text = b"{\"id\":4,\"a\":\"".to_vec();
        text.resize(2 * LINE_BYTES_MAX, b'x');
        text.extend(b"\n{}\n");
        let mut from = io::Cursor::new(text);
        let first = next_line(&mut from).unwrap().unwrap();
        let [Incoming::Reply(reply)] = &first[..] else {
            panic!("{first:?}");
        };
        assert_eq!(reply["id"], 4);
        assert_eq!(next_line(&mut from).unwrap().unwrap().len(), 1);
        assert!(next_line(&mut from).unwrap().is_none());
    }
}
