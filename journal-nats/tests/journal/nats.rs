//! What every journal does, on NATS, and what is this one's alone.

use crate::cluster::Cluster;
use crate::conformance::{conforms, identity, tells_the_time};
use teamlog_engine::identity::LogId;
use teamlog_journal_nats::NatsJournals;

#[test]
fn nats_conforms() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let (journals, id) = cluster.journal();
    conforms(&journals, &id, 100);
    tells_the_time(journals.journal().as_mut());
    a_team_is_found(&journals, &id);
}

fn a_team_is_found(journals: &NatsJournals, id: &str) {
    let found = journals.find("team-1").unwrap().unwrap();
    assert_eq!(found, identity(1, id).encode());
    assert_eq!(journals.find("team-99").unwrap(), None);
    let status = journals.status(LogId([1; 16])).unwrap().unwrap();
    assert_eq!(
        (status.state.as_str(), status.last_seq, status.groups),
        ("open", 6, 4)
    );
    assert_eq!(journals.status(LogId([99; 16])).unwrap(), None);
}
