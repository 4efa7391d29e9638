//! Rules for reading the input of an operation.

/// Differences in reading the input of an operation, beside [`Rules::COMMON`].
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// Fields that this operation refuses because only another operation changes them.
    pub lifecycle: &'static [&'static str],
    /// Other names of fields, each with the field's own name.
    pub aliases: &'static [(&'static str, &'static str)],
    /// Fields whose faults have the code `operation_failed` instead of `invalid_input`.
    pub lookups: &'static [&'static str],
    /// Fields in which `null` is a value of the wrong type. In other fields `null` counts as absent.
    pub never_null: &'static [&'static str],
    /// Noun for the allowed values of a choice in messages: "must be one of the NOUN: …".
    pub choices: Option<&'static str>,
    /// True if unknown fields are kept even if they look like a misspelled known field.
    pub keeps_lookalikes: bool,
}

impl Rules {
    /// Rules of an operation without differences.
    pub const COMMON: Rules = Rules {
        lifecycle: &[],
        aliases: &[],
        lookups: &[],
        never_null: &[],
        choices: None,
        keeps_lookalikes: false,
    };
}
