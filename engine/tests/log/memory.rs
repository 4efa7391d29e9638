//! Tests the journal in memory by the rules for every journal.

use crate::conformance::{conforms, names_a_fold_version};
use teamlog_engine::internals::journal::MemoryJournal;

#[test]
fn the_journal_in_memory_conforms() {
    let journal = MemoryJournal::default();
    conforms(&journal, "memory", 200);
    names_a_fold_version(&mut journal.clone());
}
