//! A connection to a server that a test can cut, delay or stop.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Action on the server's answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Back {
    Passes = 0,
    /// Drops the answers and closes the connection.
    Cut = 1,
    /// Drops the answers and keeps the connection open.
    Stops = 2,
}

pub struct Proxy {
    pub port: u16,
    back: Arc<AtomicU8>,
    delay_ms: Arc<AtomicU64>,
    turns: Arc<Turns>,
    lines: Arc<Mutex<Vec<TcpStream>>>,
}

/// Counts round trips. A round trip ends when the client sends again after the server answered.
#[derive(Default)]
pub struct Turns {
    count: AtomicU64,
    client_spoke: AtomicBool,
}

impl Turns {
    fn hear(&self, is_client: bool) {
        if is_client && !self.client_spoke.swap(is_client, Ordering::SeqCst) {
            self.count.fetch_add(1, Ordering::SeqCst);
        }
        self.client_spoke.store(is_client, Ordering::SeqCst);
    }
}

impl Proxy {
    pub fn to(server: u16) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let proxy = Proxy {
            port: listener.local_addr().unwrap().port(),
            back: Arc::default(),
            delay_ms: Arc::default(),
            turns: Arc::default(),
            lines: Arc::default(),
        };
        let (back, delay, turns, lines) = (
            proxy.back.clone(),
            proxy.delay_ms.clone(),
            proxy.turns.clone(),
            proxy.lines.clone(),
        );
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(("127.0.0.1", server)) else {
                    continue;
                };
                let mut kept = lines.lock().unwrap();
                kept.extend([client.try_clone().unwrap(), server.try_clone().unwrap()]);
                let there = (client.try_clone().unwrap(), server.try_clone().unwrap());
                let (delay_there, turns_there) = (delay.clone(), turns.clone());
                let always = Arc::new(AtomicU8::new(Back::Passes as u8));
                thread::spawn(move || {
                    carry(there.0, there.1, &always, &delay_there, || {
                        turns_there.hear(true)
                    })
                });
                let (back, delay, turns) = (back.clone(), delay.clone(), turns.clone());
                thread::spawn(move || carry(server, client, &back, &delay, || turns.hear(false)));
            }
        });
        proxy
    }

    /// Sets the action on further answers.
    pub fn back(&self, back: Back) {
        self.back.store(back as u8, Ordering::SeqCst);
    }

    pub fn delay(&self, delay: Duration) {
        let ms = u64::try_from(delay.as_millis()).unwrap();
        self.delay_ms.store(ms, Ordering::SeqCst);
    }

    /// Returns the number of round trips so far.
    pub fn turns(&self) -> u64 {
        self.turns.count.load(Ordering::SeqCst)
    }

    /// Closes all open connections.
    pub fn reset(&self) {
        for line in self.lines.lock().unwrap().drain(..) {
            let _ = line.shutdown(Shutdown::Both);
        }
    }
}

fn carry(
    mut from: TcpStream,
    mut to: TcpStream,
    back: &AtomicU8,
    delay: &AtomicU64,
    heard: impl Fn(),
) {
    let mut buffer = [0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        heard();
        thread::sleep(Duration::from_millis(delay.load(Ordering::SeqCst)));
        match back.load(Ordering::SeqCst) {
            0 => {
                if to.write_all(&buffer[..count]).is_err() {
                    break;
                }
            }
            2 => {}
            _ => break,
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
