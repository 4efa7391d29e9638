//! The board in a terminal. The board shows agents, tasks, items that need attention, and the newest events.
//!
//! `load` reads a team of this machine. `remote` reads a team through the daemon on another machine. `state` changes
//! the state at each key, each second and each load. `view` draws the state onto cells. Only `terminal` uses the
//! terminal.

mod clock;
mod cursor;
mod layout;
mod live;
mod load;
mod remote;
mod state;
mod tasks;
mod terminal;
#[cfg(test)]
mod tests;
mod view;

pub use clock::Clock;
pub use load::{BoardAnswer, Loaded, LocalTeam, Source, answer, look};
pub use remote::RemoteTeam;
pub use state::{Setting, State};
pub use terminal::{Ended, end_by, run};
pub use view::plain;
