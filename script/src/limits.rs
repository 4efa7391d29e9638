//! Limits of scripts. Every limit belongs to [`LANGUAGE_VERSION`](crate::LANGUAGE_VERSION): with another limit, another fold would
//! stop.

/// Largest source of a fold, in bytes.
pub const SOURCE_BYTES_MAX: usize = 64 << 10;
/// Largest expression of a key, in bytes.
pub const KEY_SOURCE_BYTES_MAX: usize = 1024;
/// Largest key of a state, in bytes.
pub const KEY_BYTES_MAX: usize = 256;
/// Largest state as JSON, in bytes. A fold reads and writes the whole state of its key.
pub const STATE_BYTES_MAX: usize = 64 << 10;
/// Deepest nesting of arrays and maps in a state.
pub const STATE_DEPTH_MAX: usize = 32;
/// Largest number of operations of one fold, which bounds its time and memory. A typical fold needs fewer than a hundred.
pub const OPERATIONS_MAX: u64 = 10_000;
/// Deepest nesting of calls. Each call needs stack space of the folding thread.
pub const CALL_DEPTH_MAX: usize = 16;
/// Deepest nesting of expressions and blocks in a source, which bounds the stack space of parser and evaluation.
pub const EXPRESSION_DEPTH_MAX: usize = 32;
/// Largest number of functions in a source.
pub const FUNCTIONS_MAX: usize = 64;
/// Largest number of variables at the same time.
pub const VARIABLES_MAX: usize = 128;
/// Largest total length of the texts in a value, in bytes.
pub const TEXT_BYTES_MAX: usize = STATE_BYTES_MAX;
/// Largest total number of items of the arrays in a value.
pub const ARRAY_ITEMS_MAX: usize = 1024;
/// Largest total number of entries of the maps in a value.
pub const MAP_ENTRIES_MAX: usize = 1024;
