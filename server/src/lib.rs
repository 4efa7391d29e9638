//! teamd: the daemon that serves every team of a data root. It listens on loopback TCP and on a Unix socket, and over TLS for
//! agents on other machines.
//!
//! Path of a request: `wire` reads the request within limits, and `admission` checks it in a fixed order. The result is a
//! [`Call`] for one team. Its answer is a [`Reply`] or a stream. Code before the call is asynchronous. Code that answers the
//! call is synchronous and runs on other threads.
#![forbid(unsafe_code)]

mod admission;
pub mod agent_token;
mod agents;
mod batches;
mod call;
mod caller;
mod checks;
mod confine;
mod connection;
mod connection_slots;
mod daemon;
mod disk;
mod failure;
pub mod forward;
mod front;
mod guesses;
mod limits;
mod listen;
mod local_slots;
pub mod lock;
mod maintenance;
mod metrics;
mod options;
mod page_sessions;
mod per_team_limit;
mod pool;
mod projector;
mod reply;
mod reserve;
mod revoked;
pub mod route;
mod running;
pub mod runtime;
mod scrubber;
mod served;
mod slots;
mod socket;
mod state;
pub mod stream;
mod tls;
mod token;
pub mod upgrade;
mod via;
mod wire;

pub use call::{Call, Method};
pub use caller::{Agent, Caller, Credential, Reach, Scope};
pub use daemon::{Daemon, serve};
pub use failure::StartError;
pub use limits::Limits;
pub use listen::keep_alive;
pub use lock::running;
pub use options::ServeOptions;
pub use reply::{Answer, Reply, Streamed};
pub use route::openapi;
pub use running::Running;
pub use runtime::Runtime;
pub use served::Served;
pub use tls::TlsFiles;
