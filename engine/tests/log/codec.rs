//! Tests of the codec from outside: known bytes, round trips, hostile bytes, ids and times, canonical JSON.

mod events;
mod headers;
mod hostile;
mod ids;
mod json;
mod round_trip;
mod times;
mod vectors;
