//! The attributes of a task: the options by which `task create` and `task edit` set them, and their rows in `task show`.

use crate::render::prelude::*;
use teamlog_team::projections::task::Attributes;

// The options of a task's attributes. (A doc comment would become the text of every command that takes these.)
#[derive(Debug, clap::Args)]
#[group(skip)]
pub struct AttributeArgs {
    /// If it cannot be done without changing code
    #[arg(long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    requires_code_change: Option<bool>,
    /// If it is completed only after a reviewer approved it
    #[arg(long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    requires_approval: Option<bool>,
}

impl From<AttributeArgs> for Attributes {
    fn from(args: AttributeArgs) -> Attributes {
        Attributes {
            requires_code_change: args.requires_code_change,
            requires_approval: args.requires_approval,
        }
    }
}

/// Returns the rows of a task's attributes; empty ones are not shown.
pub fn rows(attributes: &Attributes) -> Vec<(&'static str, Cell)> {
    let Attributes {
        requires_code_change,
        // Shown with the last decision.
        requires_approval: _,
    } = attributes;
    let code = match requires_code_change {
        Some(true) => "required",
        _ => "",
    };
    vec![("code change", plain(code))]
}
