//! teamlog for agents that speak the Model Context Protocol, over standard input and output.
//!
//! Agents that change things call the command line (see the operations of [`teamlog_team::api`]); what is here reads, the
//! states of workflow modes apart, which are also written here.
//! The tools that once changed a team through this protocol are no longer listed, and answer with what to type instead.
//!
//! The protocol's own crate moves fast, so that nothing outside this crate knows it.
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

/// Serves one client on standard input and output until it closes them.
///
/// `team` and `session` are those that are meant where a call names none; what it records keeps
/// `origin`, and is handed to `elsewhere` first.
///
/// # Errors
/// The runtime or the thread that reads cannot be started.
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
            // It came and went without a word.
            Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(io::Error::other(error)),
        }
    });
    // A thread may still wait for standard input, which nobody writes to any more.
    runtime.shutdown_background();
    served
}
