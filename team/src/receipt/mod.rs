//! Receipts: signing, reading, and comparing them with the log.

pub mod check;
pub mod given;
pub mod head;
pub mod key;
pub mod keygen;
