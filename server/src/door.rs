//! What every connection shares.

use crate::admission::bearer::Guesses;
use crate::berths::Berths;
use crate::figures::Figures;
use crate::options::{Answering, Limits};
use crate::pool::Pool;
use crate::runtime::Runtimes;
use crate::served::Served;
use crate::takeover::TakeOver;
use crate::turns::Turns;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// What every connection shares.
pub(crate) struct Door {
    pub served: Arc<Served>,
    pub runtimes: Arc<Runtimes>,
    pub answer: Answering,
    pub take_over: Option<Arc<dyn TakeOver>>,
    pub limits: Limits,
    pub pool: Pool,
    pub turns: Turns,
    /// For calls that wait for something to happen, so that they keep no other from being answered.
    pub patient: Pool,
    pub figures: Figures,
    pub guesses: Guesses,
    /// Bytes of bodies that may still be read.
    pub bodies: Arc<Semaphore>,
    /// Places for connections that are taken over.
    pub berths: Arc<Berths>,
    /// Ends when the daemon is to stop.
    pub drain: CancellationToken,
    /// Whether signals stop the daemon.
    pub signals: bool,
    /// The port of TCP, which `Host` must name.
    pub port: u16,
}
