//! Tokens: what was used, and what may be.

pub mod budget;
pub mod report;
pub mod series;
pub mod tokens;
