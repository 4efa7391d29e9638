//! Tests of the routes without sockets.
mod answers;
mod authority;
mod document;
mod events;
mod fencing;
mod inputs;
mod keys;
mod operations;
mod past;
mod reading;
mod reads;
mod same;
mod tasks;
mod teams;
mod threads;
mod world;
