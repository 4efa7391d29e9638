//! Tests of a host that meets a copy of the journal's database on another system of servers. A host that knows the first system
//! refuses the copy.

use crate::cluster::Cluster;
use crate::conformance::{group, identity, one};
use teamlog_engine::JournalFault::Moved;
use teamlog_engine::LogId;
use teamlog_engine::journal::{Journals, LogState, Outcome, Position, ReadError};
use teamlog_journal_postgres::PostgresJournals;

#[test]
fn a_copy_of_the_database_is_refused() {
    let (Some(cluster), Some(other)) = (Cluster::start(), Cluster::start()) else {
        return;
    };
    let id = cluster.journal();
    let open = |cluster: &Cluster| {
        let journals = PostgresJournals::new(cluster.config("ada"), id.clone());
        (journals.journal(), journals)
    };
    let (mut first, journals) = open(&cluster);
    journals.enroll(&identity(1, &id), LogState::Open).unwrap();
    let before = group(1, Position::default(), b"before");
    assert_eq!(one(first.as_mut(), before), Outcome::Appended);
    let known = first.term().unwrap();
    cluster.copy_to(&other);
    let (mut copy, _) = open(&other);
    let system = copy.term().unwrap();
    assert!(system.is_of_another_system(known), "{system:?}");
    copy.expect_term(known);
    let refused = |outcome: &Outcome| matches!(outcome, Outcome::Unfit(Moved, _));
    let behind = group(1, before.position, b"behind");
    let outcome = one(copy.as_mut(), behind);
    assert!(refused(&outcome), "{outcome:?}");
    let turned = copy.turn(&behind, LogState::Left);
    assert!(refused(&turned), "{turned:?}");
    let read = copy.read(LogId([1; 16]), before.position, 100);
    assert!(matches!(read, Err(ReadError::Unfit(Moved, _))), "{read:?}");
    // An operator accepted the new system.
    copy.expect_term(system);
    assert_eq!(one(copy.as_mut(), behind), Outcome::Appended);
}
