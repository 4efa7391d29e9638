//! Tests that import, list, trace and rebuild a real history, if its file is present.

use crate::prelude::*;
use std::fs::File;
use std::io::BufReader;
use teamlog_team::lifecycle::status::Status;
use teamlog_team::message::prime::TOKENS_MAX;
use teamlog_team::usage::tokens;

fn messages() -> Option<PathBuf> {
    let beside =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/agent-messages.jsonl");
    let named = std::env::var_os("TEAMLOG_REAL_MESSAGES").map(PathBuf::from);
    named.or_else(|| beside.exists().then_some(beside))
}

#[test]
fn real_history_is_imported_whole_and_live_equals_rebuilt() {
    let Some(path) = messages() else {
        return;
    };
    for format in [Format::Jsonl, Format::Binary] {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::open(dir.path(), RootOptions::default()).unwrap();
        let import = given!(ImportMessages, team: "real", format, no_views: true);
        let source = File::open(&path).unwrap();
        let answer = root
            .import_messages(import, &mut BufReader::with_capacity(1 << 20, source))
            .unwrap();
        eprintln!("{} {}", format.name(), json(&answer));
        assert_eq!(
            (answer.imported, answer.duplicates, answer.malformed),
            (35_440, 0, 0)
        );

        let mut team = root.team("real").unwrap();
        let status = team.status(given!(Status, digest: true)).unwrap();
        assert_eq!(status.task_count, 17_415);
        assert_eq!(status.events, 35_441);
        assert_eq!(status.unread_counts.len(), 160);
        assert_eq!(status.unread_counts.values().sum::<u64>(), 35_440);
        let everything = given!(Tasks, limit: 0);
        assert_eq!(team.tasks(everything).unwrap().count, 17_415);
        let trace = team.trace(given!(Trace, trace_id: "tr_bd-1")).unwrap();
        assert!(trace.count >= 2 && trace.events.iter().all(|event| !event.marks.superseded));
        let mut most = 0;
        for agent in team.status(Status::default()).unwrap().unread_counts.keys() {
            let primed = team.prime(&given!(Prime, agent: agent.clone())).unwrap();
            most = most.max(tokens::estimate(&json(&primed).to_string()));
        }
        eprintln!(
            "{} the longest page for an agent: {most} tokens",
            format.name()
        );
        assert!(most < TOKENS_MAX, "{most}");
        let rebuilt = rehydrate(&mut team);
        eprintln!("{} {}", format.name(), json(&rebuilt));
        assert_eq!(Some(rebuilt.state_digest), status.state_digest);
        assert_eq!(
            (rebuilt.message_count, rebuilt.task_count),
            (35_440, 17_415)
        );
        let verified = team.verify(None).unwrap();
        assert!(verified.ok, "{:?}", verified.problems);
        // The log has messages of 105 days, and one more day: the team was created one microsecond
        // before midnight.
        assert_eq!(verified.segments, 106);
    }
}
