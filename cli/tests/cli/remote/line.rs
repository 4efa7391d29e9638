//! A proxy in front of a daemon that can slow down, cut or reset connections.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

/// The fault that the proxy adds to every connection.
#[derive(Debug, Clone, Copy)]
pub enum Cut {
    /// Cuts the connection after `after` bytes to the daemon.
    There { after: usize, reset: bool },
    /// Cuts the connection after `after` bytes to the client.
    Back { after: usize, reset: bool },
    /// Delays each forwarded piece by this duration.
    Delays(Duration),
}

/// Returns cuts at many positions of a handshake, a request and its answer.
pub fn cuts() -> Vec<Cut> {
    let points = (0..40).map(|step| step * 60);
    let mut cuts = Vec::new();
    for (at, after) in points.enumerate() {
        let reset = at % 2 == 0;
        cuts.push(Cut::There { after, reset });
        cuts.push(Cut::Back { after, reset });
    }
    cuts.push(Cut::There {
        after: 1 << 20,
        reset: false,
    });
    cuts
}

pub struct Line {
    pub port: u16,
}

impl Line {
    pub fn to(daemon: u16, cut: Cut) -> Line {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(daemon) = TcpStream::connect(("127.0.0.1", daemon)) else {
                    continue;
                };
                carry(client, daemon, cut);
            }
        });
        Line { port }
    }
}

fn carry(client: TcpStream, daemon: TcpStream, cut: Cut) {
    let (there, back, reset, delay) = match cut {
        Cut::There { after, reset } => (after, usize::MAX, reset, Duration::ZERO),
        Cut::Back { after, reset } => (usize::MAX, after, reset, Duration::ZERO),
        Cut::Delays(delay) => (usize::MAX, usize::MAX, false, delay),
    };
    let ends =
        |from: &TcpStream, to: &TcpStream| (from.try_clone().unwrap(), to.try_clone().unwrap());
    let (to_daemon, to_client) = (ends(&client, &daemon), ends(&daemon, &client));
    for ((from, to), budget) in [(to_daemon, there), (to_client, back)] {
        thread::spawn(move || pass(from, to, (budget, reset, delay)));
    }
}

fn pass(
    mut from: TcpStream,
    mut to: TcpStream,
    (mut budget, reset, delay): (usize, bool, Duration),
) {
    let mut buffer = [0; 512];
    loop {
        let wanted = budget.min(buffer.len());
        let read = match wanted {
            0 => 0,
            _ => from.read(&mut buffer[..wanted]).unwrap_or(0),
        };
        thread::sleep(delay);
        budget = budget.saturating_sub(read);
        if read == 0 || to.write_all(&buffer[..read]).is_err() {
            break;
        }
    }
    if budget == 0 && reset {
        // With a linger time of zero, the system closes both connections with a reset.
        for end in [&from, &to] {
            let _ = rustix::net::sockopt::set_socket_linger(end, Some(Duration::ZERO));
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
