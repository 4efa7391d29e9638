//! The board in a terminal: the agents and their work, the tasks, the items that need attention, and the newest events.
//!
//! `load` reads a team, `state` changes with each key, each second and each load, and `view` draws a state onto cells.
//! Only `terminal` knows that there is a terminal.

mod clock;
mod cursor;
mod layout;
mod live;
mod load;
mod state;
mod tasks;
mod terminal;
#[cfg(test)]
mod tests;
mod view;

pub use clock::Clock;
pub use load::{BoardAnswer, Source, answer};
pub use state::{Setting, State};
pub use terminal::{Ended, end_by, run};
pub use view::plain;
