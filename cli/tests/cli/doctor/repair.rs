//! Repair and salvage: the plan is shown first, readable events are kept, and no original byte is lost.

use super::{check, edit, history, team, tree, turned};
use crate::answers::{Head, Rehydrate, Sent, Status, Verify};
use crate::prelude::*;

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Repaired {
    status: String,
    team: String,
    cut: serde_json::Value,
    archive: Option<String>,
    seq: Option<u64>,
    state_digest: Option<String>,
}

#[test]
fn repair_says_what_would_go_and_then_does_it() {
    for format in ["jsonl", "binary"] {
        let cli = history(format);
        let receipt = cli.ok("head demo --json");
        cli.file("receipt.json", &receipt);
        let segment = std::fs::read(cli.segment("demo")).unwrap();
        let before = tree(cli.dir());
        let plan: Repaired = cli.json("doctor repair demo --to 6");
        assert_eq!(
            (&*plan.status, &*plan.team, plan.seq),
            ("planned", "demo", None)
        );
        assert_eq!((plan.cut["events"].as_u64(), plan.archive), (Some(2), None));
        let shown = cli.ok("doctor repair demo --to 6");
        shows!(shown => has "to do it:\n  teamlog doctor repair demo --to 6 --yes\n");
        assert_eq!(tree(cli.dir()), before, "a plan changes nothing");

        let done: Repaired = cli.json("doctor repair demo --to 6 --yes --actor lead");
        assert_eq!((&*done.status, done.seq), ("repaired", Some(7)));
        assert_eq!(done.cut, plan.cut);
        let archive = team(&cli).join(done.archive.unwrap());
        let name = cli.segment("demo").file_name().unwrap().to_owned();
        assert_eq!(
            std::fs::read(archive.join("events").join(name)).unwrap(),
            segment
        );
        let status: Status = cli.json("status demo --digest");
        assert_eq!(status.state_digest, done.state_digest);
        assert_eq!(turned(&check(&cli)), BTreeSet::new());
        // A receipt that covers the removed events no longer matches the log.
        let ran = cli.run("verify demo --against receipt.json --json");
        assert_eq!(ran.code, Some(65), "{ran:?}");
        let kind = &parse::<Verify>(&ran.stdout).problems[0].kind;
        assert!(
            ["cut_below_receipt", "changed_since_receipt"].contains(&&**kind),
            "{kind}"
        );
        assert!(cli.ok("replay demo --kind log_cut").contains("log_cut"));
        let again: Repaired = cli.json("doctor repair demo --to 7 --yes");
        assert_eq!((&*again.status, again.seq), ("unchanged", None));
        shows!(cli.refused(1, "doctor repair demo --to 99 --yes") => has "from 1 to 7");
        shows!(cli.refused(1, "doctor repair demo --to 0") => has "to must be");
        let sent: Sent = cli.json("send demo --from lead --to dev --type handoff");
        assert_eq!(sent.event.seq, 8);
    }
}

#[test]
fn salvage_keeps_what_reads_and_every_byte_of_what_was() {
    for format in ["jsonl", "binary"] {
        let cli = history(format);
        let old: Head = cli.json("head demo");
        let (path, name) = (
            cli.segment("demo"),
            cli.segment("demo").file_name().unwrap().to_owned(),
        );
        edit(path.clone(), |bytes| {
            let middle = bytes.len() / 2;
            bytes[middle] ^= 4;
        });
        let damaged = std::fs::read(&path).unwrap();
        let error = cli.refused_json(65, "rehydrate demo");
        assert_eq!(error.code, "damaged");
        let rebuilt: Rehydrate = cli.json("rehydrate demo --salvage");
        let salvaged = rebuilt.salvaged.unwrap();
        has!(salvaged, {"events": 7, "lost_events": 1});
        let archive = team(&cli).join(salvaged["archive"].as_str().unwrap());
        assert_eq!(
            std::fs::read(archive.join("events").join(name)).unwrap(),
            damaged
        );
        assert_eq!(turned(&check(&cli)), BTreeSet::new());
        let new: Head = cli.json("head demo");
        assert_ne!(
            new.log, old.log,
            "receipts of the damaged log are not this one's"
        );
        shows!(cli.ok("replay demo --kind log_salvaged") => has "log_salvaged");
        // A log without damage needs no salvage.
        assert_eq!(
            cli.json::<Rehydrate>("rehydrate demo --salvage").salvaged,
            None
        );
        assert_eq!(cli.json::<Head>("head demo").log, new.log);
    }
}

#[test]
fn a_team_whose_creation_is_lost_is_open_after_a_salvage() {
    let cli = history("jsonl");
    edit(cli.segment("demo"), |bytes| {
        let first = bytes.iter().position(|byte| *byte == b'\n').unwrap();
        bytes[first + 20] ^= 4;
    });
    let shown = cli.ok("rehydrate demo --salvage");
    shows!(shown => starts "salvaged 7 events in 7 groups; the damaged log is kept in archive/");
    assert!(shown.contains("\n    event 1  events/"), "{shown}");
    cli.ok("send demo --from newcomer --to dev --type handoff");
    assert_eq!(turned(&check(&cli)), BTreeSet::new());
}
