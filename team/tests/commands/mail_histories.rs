//! Properties of mail and reports, over random histories by several handles, compared with a simple model.

use crate::prelude::*;
use proptest::prelude::*;
use teamlog_team::log::append_event::AppendEvent;
use teamlog_team::log::read_events::ReadEvents;
use teamlog_team::message::mail::Mail;
use teamlog_team::message::mailbox_list::MailboxList;

const AGENTS: [&str; 3] = ["a0", "a1", "leader-fixed"];
/// Number of recipients of a broadcast.
const WORKERS: usize = 2;

#[derive(Debug, Clone)]
enum Step {
    Send {
        from: usize,
        to: usize,
        body: u8,
    },
    Broadcast {
        from: usize,
        body: u8,
    },
    Notified {
        by: usize,
        message: usize,
    },
    Delivered {
        by: usize,
        message: usize,
    },
    Acked {
        by: usize,
        message: usize,
    },
    Reported {
        worker: usize,
        kind: usize,
        state: usize,
    },
    Later {
        micros: i64,
    },
    Finish,
    Rehydrate,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let agent = 0..AGENTS.len();
    let message = 0..20_usize;
    let step = prop_oneof![
        6 => (agent.clone(), agent.clone(), 0..3_u8)
            .prop_map(|(from, to, body)| Step::Send { from, to, body }),
        1 => (agent.clone(), 0..3_u8).prop_map(|(from, body)| Step::Broadcast { from, body }),
        3 => (agent.clone(), message.clone())
            .prop_map(|(by, message)| Step::Notified { by, message }),
        4 => (agent.clone(), message.clone())
            .prop_map(|(by, message)| Step::Delivered { by, message }),
        2 => (agent.clone(), message).prop_map(|(by, message)| Step::Acked { by, message }),
        3 => (agent, 0..3_usize, 0..2_usize)
            .prop_map(|(worker, kind, state)| Step::Reported { worker, kind, state }),
        1 => (0..4_000_000_i64).prop_map(|micros| Step::Later { micros }),
        1 => Just(Step::Finish),
        1 => Just(Step::Rehydrate),
    ];
    proptest::collection::vec(step, 1..60)
}

/// A message in the model.
#[derive(Debug, Clone, PartialEq)]
struct Letter {
    id: String,
    from: usize,
    to: usize,
    body: u8,
    notified: bool,
    delivered: bool,
}

#[derive(Debug, Default)]
struct Model {
    letters: Vec<Letter>,
}

impl Model {
    /// Adds a sent message to the model. The message is new, or repeats a message that was not delivered yet.
    fn sent(&mut self, from: usize, to: usize, body: u8, mail: &Mail) {
        let same = |letter: &&Letter| {
            (letter.from, letter.to, letter.body, letter.delivered) == (from, to, body, false)
        };
        match self.letters.iter().find(same) {
            Some(letter) => assert_eq!(letter.id, mail.message_id),
            None => {
                assert!(
                    self.letters
                        .iter()
                        .all(|letter| letter.id != mail.message_id)
                );
                self.letters
                    .push(given!(Letter; id: mail.message_id.clone(), from, to, body,
                        notified: false, delivered: false));
            }
        }
    }

    fn of(&mut self, by: usize, message: usize) -> (String, Option<&mut Letter>) {
        match self.letters.get_mut(message) {
            None => ("none".into(), None),
            Some(letter) => (
                letter.id.clone(),
                Some(letter).filter(|letter| letter.to == by),
            ),
        }
    }

    fn check(&self, team: &mut Team) {
        for (agent, name) in AGENTS.iter().enumerate() {
            for include_delivered in [true, false] {
                let list = given!(MailboxList, worker: *name, include_delivered);
                let listed = team.mailbox_list(&list).unwrap().messages;
                let listed: Vec<_> = listed
                    .into_iter()
                    .map(|mail| {
                        (
                            mail.message_id,
                            mail.notified_at.is_some(),
                            mail.delivered_at.is_some(),
                        )
                    })
                    .collect();
                let wanted = |letter: &&Letter| {
                    letter.to == agent && (include_delivered || !letter.delivered)
                };
                let shown =
                    |letter: &Letter| (letter.id.clone(), letter.notified, letter.delivered);
                let wanted: Vec<_> = self.letters.iter().filter(wanted).map(shown).collect();
                assert_eq!(listed, wanted, "{name}");
            }
        }
    }
}

fn run(world: &World, team: &mut Team, model: &mut Model, step: &Step) {
    let body = |body: &u8| format!("body {body}");
    match step {
        Step::Send {
            from,
            to,
            body: text,
        } => {
            let send = given!(SendMessage, from_worker: AGENTS[*from], to_worker: AGENTS[*to],
                body: body(text));
            let sent = team.send_message(send).unwrap();
            model.sent(*from, *to, *text, &sent.message);
            assert_eq!(sent.dispatch.message_id, sent.message.message_id);
        }
        Step::Broadcast { from, body: text } => {
            let broadcast = given!(Broadcast, from_worker: AGENTS[*from], body: body(text));
            let sent = team.broadcast(broadcast).unwrap();
            let to: Vec<usize> = (0..WORKERS).filter(|to| to != from).collect();
            assert_eq!(sent.count, to.len());
            for (to, mail) in to.into_iter().zip(&sent.messages) {
                model.sent(*from, to, *text, mail);
            }
        }
        Step::Notified { by, message } => {
            let (message_id, letter) = model.of(*by, *message);
            let mark = given!(MarkNotified, worker: AGENTS[*by], message_id);
            assert_eq!(team.mark_notified(mark).unwrap().notified, letter.is_some());
            if let Some(letter) = letter {
                letter.notified = true;
            }
        }
        Step::Delivered { by, message } => {
            let (message_id, letter) = model.of(*by, *message);
            let mark = given!(MarkDelivered, worker: AGENTS[*by], message_id);
            let marked = team.mark_delivered(mark).unwrap();
            assert_eq!(marked.updated, letter.is_some());
            assert_eq!(
                marked.dispatch_updated,
                marked.dispatch_request_id.is_some(),
                "none ever fails"
            );
            if let Some(letter) = letter {
                letter.delivered = true;
            }
        }
        Step::Acked { by, message } => {
            let (message_id, letter) = model.of(*by, *message);
            let ack = given!(Ack, agent: AGENTS[*by], message_id);
            team.ack(ack).unwrap();
            if let Some(letter) = letter {
                letter.delivered = true;
            }
        }
        Step::Reported {
            worker,
            kind,
            state,
        } => {
            let kind = ["worker_idle", "worker_state_changed", "worker_diff_report"][*kind];
            let state = ["idle", "working"][*state];
            let report =
                serde_json::json!({"type": kind, "worker": AGENTS[*worker], "state": state});
            let report: AppendEvent = serde_json::from_value(report).unwrap();
            team.append_event(report).unwrap();
        }
        Step::Later { micros } => world.later(*micros),
        Step::Finish => team.finish().unwrap(),
        Step::Rehydrate => drop(settled_digest(team)),
    }
}

/// Checks that every filter selects a subset of all events, and that pages of any size give the same events.
fn check_events(team: &mut Team) {
    let ids = |team: &mut Team, read: ReadEvents| -> Vec<String> {
        let events = team.read_events(&read).unwrap().events;
        events.into_iter().map(|event| event.event_id).collect()
    };
    let all = ids(team, ReadEvents::default());
    let log = events(team);
    let reports = log
        .iter()
        .filter(|event| event["kind"] == "worker_event_reported");
    let repeats = reports
        .clone()
        .filter(|event| event["payload"]["type"] == "worker_idle");
    let sent = log
        .iter()
        .filter(|event| event["kind"] == "message_sent")
        .count();
    let most = sent + reports.count();
    assert!(all.len() <= most && all.len() + repeats.count() >= most);
    let known: BTreeSet<&String> = all.iter().collect();
    assert_eq!(known.len(), all.len());
    for read in [
        given!(ReadEvents, wakeable_only: true),
        given!(ReadEvents, kind: EventType::WorkerIdle),
        given!(ReadEvents, worker: "a0"),
    ] {
        assert!(ids(team, read).iter().all(|id| known.contains(id)));
    }
    for at in [0, all.len() / 2] {
        let Some(cursor) = all.get(at) else {
            continue;
        };
        let rest = ids(team, given!(ReadEvents, after_event_id: cursor.clone()));
        // The events after a cursor must not contain known events.
        let behind: Vec<&String> = rest.iter().filter(|id| known.contains(id)).collect();
        assert_eq!(behind, all.iter().skip(at + 1).collect::<Vec<_>>());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn mail_is_what_was_done_with_it_and_live_is_rebuilt(steps in steps(), binary in any::<bool>()) {
        let world = World::new();
        let format = if binary { Format::Binary } else { Format::Jsonl };
        let mut handles = [
            world.team(Some(&["a0", "a1"]), format),
            world.root.team("demo").unwrap(),
        ];
        let mut model = Model::default();
        for (n, step) in steps.iter().enumerate() {
            run(&world, &mut handles[n % 2], &mut model, step);
        }
        let [one, two] = &mut handles;
        model.check(one);
        check_events(two);
        let digest = settled_digest(one);
        prop_assert_eq!(settled_digest(two), digest);
        model.check(two);
        prop_assert!(one.verify(None).unwrap().ok);
    }
}
