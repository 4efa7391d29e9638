//! The attributes of a task: options of `task create` and `task edit`, and texts of `task show` and of the board.

use teamlog_team::projections::task::Attributes;

// Options for the attributes of a task. Not a doc comment, because clap would print it in the help of each command.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub struct AttributeArgs {
    /// Mark the task as requiring a change of code
    #[arg(long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    requires_code_change: Option<bool>,
    /// Require an approval by a reviewer before the task can be completed
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

/// Returns name and text of each attribute. The text of an attribute that is not set is empty.
pub fn texts(attributes: &Attributes) -> Vec<(&'static str, String)> {
    let Attributes {
        requires_code_change,
        // The row with the last decision shows this attribute.
        requires_approval: _,
    } = attributes;
    let code = match requires_code_change {
        Some(true) => "required",
        _ => "",
    };
    vec![("code change", code.to_owned())]
}
