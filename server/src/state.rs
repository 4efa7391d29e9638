//! State shared by all connections.

use crate::batches::Batches;
use crate::forward::Forward;
use crate::guesses::Guesses;
use crate::limits::Limits;
use crate::local_slots::LocalSlots;
use crate::metrics::Metrics;
use crate::options::Answering;
use crate::per_team_limit::PerTeamLimit;
use crate::pool::Pool;
use crate::runtime::Runtimes;
use crate::served::Served;
use crate::tls::Certificate;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

pub(crate) struct AppState {
    pub served: Arc<Served>,
    pub runtimes: Arc<Runtimes>,
    pub answer: Answering,
    pub forward: Option<Arc<dyn Forward>>,
    pub limits: Limits,
    pub pool: Arc<Pool>,
    pub batches: Arc<Batches>,
    pub per_team_limit: PerTeamLimit,
    /// Pool for calls that wait for an event, so that they do not block other calls.
    pub awaiting: Pool,
    pub metrics: Metrics,
    pub guesses: Guesses,
    /// Number of bytes of request bodies that can be held in memory.
    pub bodies: Arc<Semaphore>,
    /// Slots for bodies of more than [`Limits::small_body_bytes`].
    pub large_bodies: Arc<Semaphore>,
    /// Slots for upgraded connections.
    pub local_slots: Arc<LocalSlots>,
    /// Slots for upgraded connections of agents on other machines.
    pub remote_slots: Arc<LocalSlots>,
    /// Permits for concurrent lookups of agents' tokens.
    pub lookups: Semaphore,
    /// Canceled when the daemon must stop.
    pub drain: CancellationToken,
    /// The certificate for agents on other machines, if there is one.
    pub certificate: Option<Arc<Certificate>>,
    /// True if signals stop the daemon.
    pub signals: bool,
    /// TCP port of the daemon. `Host` must name this port.
    pub port: u16,
}
