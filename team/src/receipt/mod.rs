//! Receipts as people keep them: signed, handed in again, held against the log.

pub mod check;
pub mod given;
pub mod head;
pub mod key;
pub mod keygen;
