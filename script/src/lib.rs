//! Folds in a script language, for projections that need no Rust.
//!
//! A [`Script`] has a function `fold(event)`, written in [Rhai](https://rhai.rs). The function sees an event, and changes `this`,
//! the state of the event's key. This crate knows the language and its limits; it knows neither logs nor teams.
//!
//! A script gives equal states for equal events on every machine: it has no clock, no random numbers, no files, no
//! modules and no `eval`; maps are sorted; floats have only the operations whose results IEEE 754 fixes. A script that runs too long,
//! recurses too deep or grows too large ends with an error.
//!
//! ```
//! use teamlog_script::{EventView, Script, Source};
//!
//! let script = Script::compile(&Source {
//!     fold: "fn fold(event) { this.count += 1; }",
//!     init: r#"{"count":0}"#,
//!     key: Some("event.actor"),
//! })?;
//! let event = EventView {
//!     seq: 7,
//!     kind: "task_completed",
//!     actor: "dev",
//!     payload: "{}",
//!     ..EventView::default()
//! };
//! let folding = script.begin(&event)?.expect("the event has a key");
//! assert_eq!(folding.key(), "dev");
//! let state = script.fold(folding, None)?;
//! assert_eq!(state, br#"{"count":1}"#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod event;
mod field;
mod language;
pub mod limits;
mod reads;
mod script;
mod value;

pub use event::EventView;
pub use field::Field;
pub use script::{CompileError, FoldError, Folding, Script, Source};

/// Name of the language.
pub const LANGUAGE: &str = "rhai";

/// Version of the language: Rhai 1.27 with the functions and limits of this crate. The version changes whenever a script could give
/// another state than before.
pub const LANGUAGE_VERSION: u32 = 1;
