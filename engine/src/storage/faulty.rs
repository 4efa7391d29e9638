//! Fault injection.

/// A fault.
#[derive(Debug, Clone)]
pub struct Fault;
/// Wraps another storage.
#[derive(Debug)]
pub struct Faulty;
