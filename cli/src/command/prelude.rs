//! Common imports of the command files.

pub use super::Past;
pub use super::printed::{answer, changed, of, read, recorded};
pub use super::stamp::Stamp;
pub use super::subcommand::{NoOptions, WholeTexts, operation, own};
pub use crate::context::Context;
pub use crate::env::ProcessEnv;
pub use crate::exit::{CommandError, Exit, Outcome};
pub use crate::forward::Repeat;
pub use crate::render::escape::visible;
pub use crate::render::style::Style;
pub use crate::render::{View, names_or, time};
pub(super) use crate::{given, render};
pub use schemars::JsonSchema;
pub use serde::Serialize;
pub use std::path::{Path, PathBuf};
pub use teamlog_team::shell::quoted;
