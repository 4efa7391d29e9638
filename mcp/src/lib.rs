//! teamlog as a server of the Model Context Protocol (MCP) over standard input and output.
//!
//! The tools read. Only the states of workflow modes can also be written. For other changes, agents use the command line (see
//! the operations of [`teamlog_team::api`]). Tools of earlier versions that changed a team are no longer listed. A call of such
//! a tool is answered with the command to use instead.
//!
//! The types of the protocol crate (rmcp) stay inside this crate, because rmcp changes often.
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
pub use server::{Elsewhere, carry_out, records};
pub use state::Session;

use server::Server;
use std::io::{self, Read, Write};
use teamlog_team::Root;
use teamlog_team::command::Origin;
use transport::Lines;

/// Serves one client on standard input and standard output until the client closes its stream.
///
/// # Errors
/// The errors of [`serve`].
pub fn serve_stdio(
    root: Option<Root>,
    team: Option<String>,
    session: Session,
    origin: Origin,
    elsewhere: Elsewhere,
) -> io::Result<()> {
    let streams = (io::stdin(), io::stdout());
    serve(root, team, session, origin, elsewhere, streams)
}

/// Serves one client on two streams until the client closes the input stream.
///
/// `team` and `session` are the defaults for calls that name no team or no session. Calls that record events have the origin
/// `origin`, and are offered to `elsewhere` first. Without a data root, `elsewhere` runs all calls.
///
/// # Errors
/// The runtime or the thread that reads cannot be started.
pub fn serve<R, W>(
    root: Option<Root>,
    team: Option<String>,
    session: Session,
    origin: Origin,
    elsewhere: Elsewhere,
    (from, to): (R, W),
) -> io::Result<()>
where
    R: Read + Send + 'static,
    W: Write + Send + 'static,
{
    let lines = Lines::new(from, to)?;
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
            // The client closed its stream before its first message.
            Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(io::Error::other(error)),
        }
    });
    // Do not wait for the thread that reads, because it may still wait for the client.
    runtime.shutdown_background();
    served
}
