//! The writer lock of a log.
