//! `export`: every event as its public JSON line.
