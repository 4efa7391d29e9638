//! teamlog as a server of the Model Context Protocol (MCP) over standard input and output.
//!
//! The tools read; only the states of workflow modes can also be written. For other changes, agents use the command
//! line (see the operations of [`teamlog_team::api`]). Former tools that changed a team are no longer listed; a call of
//! one is answered with the command to use instead.
//!
//! The crate of the protocol (rmcp) changes often, so its types stay inside this crate.
#![forbid(unsafe_code)]

mod arguments;
mod legacy;
mod query;
mod resources;
mod server;
mod state;
mod transport;
mod wire;

pub use query::ToolError;
pub use server::{Elsewhere, carry_out};
pub use state::Session;

use server::Server;
use std::io;
use teamlog_team::Root;
use teamlog_team::command::Origin;
use transport::Lines;

/// Serves one client on standard input and output until the client closes them.
///
/// `team` and `session` are the defaults of calls that name none. A call that records keeps `origin`, and is first
/// offered to `elsewhere`.
///
/// # Errors
/// The runtime or the reader thread cannot be started.
pub fn serve_stdio(
    root: Root,
    team: Option<String>,
    session: Session,
    origin: Origin,
    elsewhere: Elsewhere,
) -> io::Result<()> {
    let lines = Lines::new(io::stdin(), io::stdout())?;
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
        let running = rmcp::serve_server(server, lines).await;
        match running {
            Ok(running) => running.waiting().await.map(drop).map_err(io::Error::other),
            // The client disconnected without a message.
            Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(io::Error::other(error)),
        }
    });
    // The reader thread may still wait for standard input.
    runtime.shutdown_background();
    served
}
