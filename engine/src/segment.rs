//! Names of segments.
