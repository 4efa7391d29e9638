//! The journal in memory, held against what every journal does.

use crate::conformance::conforms;
use teamlog_engine::journal::memory::MemoryJournal;

#[test]
fn the_journal_in_memory_conforms() {
    conforms(&MemoryJournal::default(), "memory", 200);
}
