//! One sentence per event: a plain line such as `dev claimed task 3 until 10:22`.
//!
//! The sentence is a pure function of the event. A sentence never shows a claim token or a stored answer, and has no
//! hidden characters. This module reads the payload as JSON instead of decoding the fact, because agents on other
//! machines get events without claim tokens.

mod bootstrap;
mod entry;
mod message;
mod mode;
mod task;
mod team;
mod worker;

use crate::log::recorded::Recorded;
use crate::operation::prelude::*;
use crate::projections::hidden;
use crate::projections::tag::Content;
use entry::{Entry, words};

/// Maximum number of characters of a sentence.
const SENTENCE_MAX: usize = 240;

/// Returns the sentence of an event.
pub fn sentence(event: &Event<'_>) -> String {
    let entry = Entry::new(event);
    let text = (!event.foreign).then(|| known(&entry)).flatten();
    let text = text.unwrap_or_else(|| foreign(&entry));
    hidden::escaped(&cut(&text)).into_owned()
}

/// Adds to each event of an answer the sentence of that event.
pub fn add_sentences(events: &mut [Recorded]) {
    for recorded in events {
        recorded.sentence = Some(sentence(&recorded.event));
    }
}

/// Returns the sentence of an event of a reserved kind. A noun that does not know the kind returns `None`.
fn known(entry: &Entry<'_>) -> Option<String> {
    let nouns = [
        task::sentence,
        message::sentence,
        worker::sentence,
        mode::sentence,
        bootstrap::sentence,
        team::sentence,
    ];
    nouns.iter().find_map(|noun| noun(entry))
}

/// Returns the sentence of an event of another vocabulary: kind, refs, tags, and simple fields of the payload.
fn foreign(entry: &Entry<'_>) -> String {
    let about = [
        ("task", RefKind::Task),
        ("agent", RefKind::Agent),
        ("message", RefKind::Message),
        ("thread", RefKind::Thread),
    ];
    let about = about.iter().filter_map(|(noun, kind)| {
        let id = entry.reference(*kind)?;
        Some(format!("{noun} {id}"))
    });
    let about: Vec<String> = about.collect();
    let mut text = format!("{} recorded {}", entry.actor(), entry.event.kind);
    if !about.is_empty() {
        text.push_str(&format!(" about {}", about.join(", ")));
    }
    let tags = Content::from_event(entry.event).tags;
    if !tags.is_empty() {
        text.push_str(&format!(" [{}]", tags.join(", ")));
    }
    entry::with(text, &words(&entry.payload))
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(SENTENCE_MAX) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::projections::vocabulary;
    use teamlog_engine::Refs;

    fn event(kind: &str, payload: &str, refs: &[(RefKind, &str)], foreign: bool) -> Event<'static> {
        let mut named = Refs::default();
        for (kind, value) in refs {
            named.set(*kind, (*value).to_owned());
        }
        Event {
            seq: 7,
            id: EventId::new(Timestamp::default(), 7),
            created_at: Timestamp::parse("2026-11-29T10:07:00Z").unwrap(),
            kind: kind.to_owned().into(),
            actor: "lead".into(),
            refs: named,
            schema_version: 1,
            foreign,
            payload: payload.to_owned().into(),
        }
    }

    #[test]
    fn every_kind_has_a_sentence() {
        for kind in vocabulary::kinds() {
            let bare = event(kind.name, "{}", &[], false);
            assert!(known(&Entry::new(&bare)).is_some(), "{}", kind.name);
            for payload in [
                "[1]",
                "null",
                "",
                r#"{"message":7,"changes":[],"state":"x"}"#,
            ] {
                let text = sentence(&event(kind.name, payload, &[], false));
                assert!(!text.is_empty() && !text.contains(['{', '[']), "{text}");
                assert!(text.trim() == text && !text.contains("  "), "{text}");
            }
        }
    }

    #[test]
    fn a_sentence_is_one_plain_line_without_secrets() {
        let text = format!(
            r#"{{"worker":"dev","token":"tok-1","result":"a\n\u001b[31m{}"}}"#,
            "é".repeat(400)
        );
        let refs = [(RefKind::Task, "3")];
        let text = sentence(&event("task_completed", &text, &refs, false));
        assert!(
            text.starts_with(r"lead completed task 3 for dev: a\n\u{1b}[31mé"),
            "{text}"
        );
        assert!(
            text.ends_with('…') && text.chars().count() < SENTENCE_MAX + 20,
            "{text}"
        );
        let claim = r#"{"worker":"lead","token":"tok-1","epoch":1}"#;
        assert_eq!(
            sentence(&event("task_claimed", claim, &refs, false)),
            "lead claimed task 3"
        );
    }

    #[test]
    fn events_read_as_sentences() {
        let refs = [
            (RefKind::Task, "3"),
            (RefKind::Agent, "dev"),
            (RefKind::Message, "m1"),
            (RefKind::Thread, "t1"),
        ];
        for (kind, payload, expected) in [
            (
                "task_created",
                r#"{"subject":"Ship","depends_on":["1","2"],"owner":"qa"}"#,
                "lead created task 3 for qa, after 1, 2: Ship",
            ),
            (
                "task_claimed",
                r#"{"worker":"dev","leased_until":"2026-11-29T10:22:00Z"}"#,
                "lead claimed task 3 for dev until 10:22",
            ),
            (
                "task_renewed",
                r#"{"worker":"lead","leased_until":"2026-11-30T10:22:00Z"}"#,
                "lead renewed the lease on task 3 until 2026-11-30 10:22",
            ),
            (
                "task_assigned",
                r#"{"owner":"qa","taken_from":{"worker":"dev","epoch":1}}"#,
                "lead assigned task 3 to qa, taken from dev",
            ),
            ("task_assigned", "{}", "lead left task 3 without an owner"),
            (
                "task_updated",
                r#"{"subject":"Ship it","priority":"high","due_at":null,"labels":[]}"#,
                "lead edited task 3: subject \"Ship it\", no labels, no due time, priority high",
            ),
            (
                "task_lease_expired",
                r#"{"worker":"dev"}"#,
                "the lease of dev on task 3 expired",
            ),
            (
                "task_canceled",
                r#"{"reason":"no need","forced":true}"#,
                "lead canceled task 3 by force: no need",
            ),
            (
                "message_sent",
                r#"{"message":{"type":"message","from":"dev","to":"qa","payload":{"body":"on main"}}}"#,
                "dev (by lead) wrote to qa: on main",
            ),
            (
                "message_sent",
                r#"{"message":{"type":"task_update","from":"lead","to":"qa","task_id":"3","payload":{"status":"in_progress","progress":0.4,"blocked":true,"note":"needs it"}}}"#,
                "lead reported to qa on task 3: in_progress, blocked, progress 0.4, needs it",
            ),
            (
                "message_sent",
                r#"{"message":{"type":"task_assign","from":"lead","to":"qa","task_id":"3","payload":{"subject":"Fix it","deps":["1"],"x":{"a":1}}}}"#,
                "lead assigned task 3 to qa: Fix it, deps 1, x …",
            ),
            (
                "message_suppressed",
                r#"{"message":{"from":"lead","to":"qa"},"remaining_seconds":12}"#,
                "a message of lead to qa was held back: cooldown, 12s left",
            ),
            (
                "message_acked",
                r#"{"agent":"lead"}"#,
                "lead acknowledged message m1",
            ),
            (
                "ack_rejected",
                r#"{"agent":"lead","reason":"not_found"}"#,
                "lead could not acknowledge message m1: no such message",
            ),
            (
                "delivery_required",
                r#"{"ack_timeout_seconds":30,"max_retries":2}"#,
                "message m1 must be acknowledged within 30s, with 2 retries",
            ),
            (
                "config_changed",
                r#"{"changes":{"nudge.idle_seconds":60,"views":null}}"#,
                "lead set nudge.idle_seconds to 60, views to its default",
            ),
            (
                "team_created",
                r#"{"members":["dev","qa"],"open":false}"#,
                "lead created the team with dev, qa",
            ),
            (
                "team_created",
                r#"{"members":[],"open":true}"#,
                "lead created the team, open to any agent",
            ),
            (
                "approval_recorded",
                r#"{"status":"approved","decision_reason":"fine"}"#,
                "lead approved task 3: fine",
            ),
            (
                "mode_started",
                r#"{"mode":"forge","session_id":"S","state":{"current_phase":"starting","iteration":0,"task_description":"Fix it"}}"#,
                "lead started mode forge in session S: starting, task description Fix it",
            ),
            (
                "mode_updated",
                r#"{"mode":"forge","set":{"iteration":2},"unset":["error"]}"#,
                "lead updated mode forge: iteration 2, without error",
            ),
            (
                "mode_transitioned",
                r#"{"kind":"auto-complete","current":["blueprint"],"resulting":["forge"]}"#,
                "modes changed from blueprint to forge: auto-complete",
            ),
            (
                "bootstrap_domain_started",
                r#"{"run":"1","domain":"physics"}"#,
                "bootstrap run 1: a domain started: domain physics",
            ),
            (
                "thread_message_posted",
                r#"{"thread_id":"t1","from":"lead","to":["qa"],"body":"look"}"#,
                "lead posted to thread t1 for qa: look",
            ),
            (
                "response_stored",
                r#"{"operation":"claim-task","response":{"token":"tok"}}"#,
                "the answer to claim-task was stored for retries",
            ),
            (
                "write_refused",
                r#"{"path":"src/a.rs","reason":"held by qa"}"#,
                "dev may not write src/a.rs: held by qa",
            ),
            (
                "worker_status_changed",
                r#"{"worker":"dev","state":"working","current_task_id":"3"}"#,
                "dev is working on task 3",
            ),
        ] {
            let text = sentence(&event(kind, payload, &refs, false));
            assert_eq!(text, expected, "{kind} {payload}");
        }
    }

    #[test]
    fn a_foreign_kind_has_its_kind_and_refs() {
        let refs = [(RefKind::Task, "3")];
        let payload = r#"{"env":"prod","build":7,"steps":[{"a":1}]}"#;
        let deploy = event("deploy_finished", payload, &refs, true);
        assert_eq!(
            sentence(&deploy),
            "lead recorded deploy_finished about task 3: build 7, env prod, steps …"
        );
        let stored = r#"{"tags":["env=prod","pr=77"],"payload":{"build":7}}"#;
        let tagged = Event {
            schema_version: 2,
            ..event("deploy_finished", stored, &refs, true)
        };
        assert_eq!(
            sentence(&tagged),
            "lead recorded deploy_finished about task 3 [env=prod, pr=77]: build 7"
        );
        let claimed = event("task_claimed", "{}", &[], true);
        assert_eq!(sentence(&claimed), "lead recorded task_claimed");
    }
}
