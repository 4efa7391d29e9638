//! How the input of an operation is read if that differs from the others.

/// How an operation's input differs from that of the others.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// Fields that other operations change, and only they.
    pub lifecycle: &'static [&'static str],
    /// Other names of fields.
    pub aliases: &'static [(&'static str, &'static str)],
    /// Fields whose faults are no `invalid_input` to the contract, but `operation_failed`.
    pub lookups: &'static [&'static str],
    /// Fields in which `null` is a value of the wrong type; elsewhere it is as good as nothing.
    pub never_null: &'static [&'static str],
    /// Fields that only words can fill that are called so.
    pub choices: Option<&'static str>,
    /// Whether fields that are nearly, but not quite, one of the known ones are kept too.
    pub keeps_lookalikes: bool,
}

impl Rules {
    /// Nothing special.
    pub const COMMON: Rules = Rules {
        lifecycle: &[],
        aliases: &[],
        lookups: &[],
        never_null: &[],
        choices: None,
        keeps_lookalikes: false,
    };
}
