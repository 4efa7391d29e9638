//! What to do about what a crash left behind.
