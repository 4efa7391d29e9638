//! Storage in memory.

/// Files in memory.
#[derive(Debug)]
pub struct Memory;
