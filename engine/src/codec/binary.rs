//! The binary format.
