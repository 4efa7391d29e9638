//! Verification of a whole log.
