//! A command whose writing the kernel holds to what an agent may write: which places that are ([`grounds`]), the rules
//! made of them ([`rules`]), and the process from its start to its end ([`fenced`]) with all that it starts ([`family`]).

mod family;
pub mod fenced;
pub mod grounds;
pub mod rules;

/// Set for a fenced command, so that `teamlog` inside can say why the data root cannot be written.
pub const VARIABLE: &str = "TEAMLOG_GUARD_EXEC";
