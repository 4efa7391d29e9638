//! What every journal does, on NATS, and what is this one's alone.

use crate::cluster::Cluster;
use crate::conformance::{conforms, group, identity, one, tells_the_time};
use crate::raw::Raw;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::json;
use teamlog_engine::identity::LogId;
use teamlog_engine::journal::{Journal, Outcome, Position, Server, Way};
use teamlog_journal_nats::NatsJournals;

/// A new journal, and its id.
pub fn journal(cluster: &Cluster) -> (NatsJournals, String) {
    let copies = cluster.config().create(2).unwrap();
    assert_eq!(copies.wrong, Vec::<String>::new());
    let journals = NatsJournals::new(cluster.config(), copies.journal.clone());
    (journals, copies.journal)
}

#[test]
fn nats_conforms() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let (journals, id) = journal(&cluster);
    conforms(&journals, &id, 100);
    tells_the_time(journals.journal().as_mut());
    a_team_is_found(&journals, &id);
    what_is_large_comes_back(journals.journal().as_mut());
    no_message_asks_for_the_id_before_it(&cluster);
}

/// As large as a group or an artifact may be.
fn what_is_large_comes_back(journal: &mut dyn Journal) {
    let (log, mut after) = (
        LogId([2; 16]),
        group(2, Position::default(), b"two").position,
    );
    let large = vec![b'g'; 6 << 20];
    for _ in 0..4 {
        let next = group(2, after, &large);
        assert_eq!(one(journal, next), Outcome::Appended);
        after = next.position;
    }
    let page = journal.read(log, Position::default(), 1 << 26).unwrap();
    assert_eq!((page.groups.len(), page.more), (5, false));
    assert!(page.groups.iter().skip(1).all(|group| group.bytes == large));
    let large = vec![b'b'; 8 << 20];
    journal.put_blob(log, "large", &large).unwrap();
    assert!(journal.blob(log, "large").unwrap().unwrap() == large);
}

/// Where a message names the id of the one before it, and another stands there, the stream ends for good.
fn no_message_asks_for_the_id_before_it(cluster: &Cluster) {
    let raw = Raw::to(cluster);
    let names = raw.api("STREAM.NAMES", &json!({}));
    let mut count = 0;
    for name in names["streams"].as_array().unwrap() {
        let name = name.as_str().unwrap();
        let info = raw.api(&format!("STREAM.INFO.{name}"), &json!({}));
        for seq in 1..=info["state"]["last_seq"].as_u64().unwrap() {
            let got = raw.api(&format!("STREAM.MSG.GET.{name}"), &json!({ "seq": seq }));
            let block = BASE64_STANDARD
                .decode(got["message"]["hdrs"].as_str().unwrap())
                .unwrap();
            let block = String::from_utf8(block).unwrap().to_lowercase();
            assert!(
                block.contains("nats-expected-last-"),
                "{name} {seq}: {block}"
            );
            assert!(
                !block.contains("nats-expected-last-msg-id"),
                "{name} {seq}: {block}"
            );
            count += 1;
        }
    }
    assert!(count > 400, "{count}");
}

fn a_team_is_found(journals: &NatsJournals, id: &str) {
    let found = journals.find("team-1").unwrap().unwrap();
    assert_eq!(found, identity(1, id).encode());
    assert_eq!(journals.find("team-99").unwrap(), None);
    let status = journals.status(LogId([1; 16])).unwrap().unwrap();
    assert_eq!(status.state.as_str(), "open");
    assert_eq!(status.last_seq, 6);
    assert_eq!(status.groups, 4);
    assert_eq!(journals.status(LogId([99; 16])).unwrap(), None);
}
