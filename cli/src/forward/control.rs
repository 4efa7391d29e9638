//! Requests of the daemon's user that are not forwarded calls: state, stop and new tokens. Each is one HTTP request on the
//! socket.

use super::runtime::Runtime;
use crate::exit::CommandError;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// Time limit for a reply.
const DEADLINE: Duration = Duration::from_secs(10);
/// Maximum size of a reply in bytes. A reply lists all teams and a reason for the state of each team.
const ANSWER_BYTES_MAX: u64 = 64 << 20;

/// Sends a request. Returns status and body of the reply.
///
/// # Errors
/// Exit 69: no daemon listens, or the reply is not from a teamlog daemon. Exit 77: the daemon belongs to another user.
pub fn ask(socket: &Path, method: &str, path: &str) -> Result<(u16, Vec<u8>), CommandError> {
    let unreachable = |error: io::Error| {
        let message = format!(
            "the daemon does not answer at {}: {error}",
            socket.display()
        );
        CommandError::unreachable(message)
    };
    let mut stream = UnixStream::connect(socket).map_err(unreachable)?;
    super::client::check_peer(&stream)?;
    let answer = exchanged(&mut stream, method, path).map_err(unreachable)?;
    parsed(&answer).ok_or_else(|| unreachable(io::ErrorKind::InvalidData.into()))
}

/// Returns the process id of the daemon that serves a team, if the daemon answers a health check.
pub fn answering(root: &Path, team: &str) -> Option<u32> {
    let runtime = Runtime::of_team(root, team).ok()??;
    let (status, _) = ask(runtime.socket.as_deref()?, "GET", "/healthz").ok()?;
    (status == 200).then_some(runtime.pid)
}

fn exchanged(stream: &mut UnixStream, method: &str, path: &str) -> io::Result<Vec<u8>> {
    stream.set_read_timeout(Some(DEADLINE))?;
    stream.set_write_timeout(Some(DEADLINE))?;
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
    );
    stream.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    Read::take(&mut *stream, ANSWER_BYTES_MAX).read_to_end(&mut answer)?;
    Ok(answer)
}

fn parsed(answer: &[u8]) -> Option<(u16, Vec<u8>)> {
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n")?;
    let (head, body) = answer.split_at_checked(end + 4)?;
    let head = std::str::from_utf8(head).ok()?;
    let status = head.strip_prefix("HTTP/1.1 ")?.get(..3)?.parse().ok()?;
    Some((status, body.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::parsed;

    #[test]
    fn an_answer_is_a_status_and_a_body() {
        let answer = b"HTTP/1.1 202 Accepted\r\ncontent-length: 2\r\n\r\n{}";
        assert_eq!(parsed(answer), Some((202, b"{}".to_vec())));
        for bad in [
            &b""[..],
            b"HTTP/1.1 200 OK\r\n",
            b"\r\n\r\n",
            b"HTTP/1.1 2\r\n\r\n",
        ] {
            assert_eq!(parsed(bad), None);
        }
    }
}
