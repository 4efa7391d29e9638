//! teamlog for agents that speak the Model Context Protocol, over standard input and output.
//!
//! Agents that change things call the command line (see the operations of [`teamlog_team::api`]); what is here reads, the
//! states of workflow modes apart, which are also written here.
//! The tools that once changed a team through this protocol are no longer listed, and answer with what to type instead.
//!
//! The protocol's own crate moves fast, so that nothing outside this crate knows it.
#![forbid(unsafe_code)]

mod legacy;
mod query;
mod resources;
mod server;
mod state;

pub use query::ToolError;
pub use server::{Elsewhere, carry_out};
pub use state::Session;

use server::Server;
use std::io;
use teamlog_team::Root;
use teamlog_team::handle::command::Origin;

/// Serves one client on standard input and output until it closes them.
///
/// `team` and `session` are those that are meant where a call names none; what it records keeps
/// `origin`, and is handed to `elsewhere` first.
///
/// # Errors
/// The runtime cannot be started, or the client's first message is none of this protocol.
pub fn serve_stdio(
    root: Root,
    team: Option<String>,
    session: Session,
    origin: Origin,
    elsewhere: Elsewhere,
) -> io::Result<()> {
    // The runtime reads its input on a thread, and panics where it cannot start one.
    let tried = std::thread::Builder::new().spawn(|| ())?;
    drop(tried.join());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()?;
    let served = runtime.block_on(async {
        let server = Server {
            root,
            team,
            session,
            origin,
            elsewhere,
        };
        let running = rmcp::serve_server(server, rmcp::transport::stdio()).await;
        match running {
            Ok(running) => running.waiting().await.map(drop).map_err(io::Error::other),
            // It came and went without a word.
            Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(io::Error::other(error)),
        }
    });
    // A thread may still wait for standard input, which nobody writes to any more.
    runtime.shutdown_background();
    served
}
