//! Rules for reading the input of an operation.

/// Rules for reading the input of one operation, as differences from [`Rules::COMMON`].
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// Fields that this operation refuses, because only another operation may change them.
    pub lifecycle: &'static [&'static str],
    /// Aliases of fields: pairs of an alias and the name of the field.
    pub aliases: &'static [(&'static str, &'static str)],
    /// Fields with the error code `operation_failed` instead of `invalid_input` if their value is wrong.
    pub lookups: &'static [&'static str],
    /// Fields for which `null` is an error. In all other fields `null` counts as absent.
    pub never_null: &'static [&'static str],
    /// Noun for the allowed values of a field, used in the message "must be one of the NOUN: …".
    pub choices: Option<&'static str>,
    /// True if unknown fields are kept even if a name looks like a misspelled known field.
    pub keeps_lookalikes: bool,
}

impl Rules {
    /// Rules of an operation without special cases.
    pub const COMMON: Rules = Rules {
        lifecycle: &[],
        aliases: &[],
        lookups: &[],
        never_null: &[],
        choices: None,
        keeps_lookalikes: false,
    };
}
