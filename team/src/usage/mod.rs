//! Tokens of language models: usage and budget.

pub mod budget;
pub mod report;
pub mod series;
pub mod tokens;
