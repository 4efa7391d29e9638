//! The content of a team chat directory as events in order. The events are ordered by time, then messages before events about them, then by
//! id.

use crate::import::report::count;
use crate::import::team_chat::ChatCounts;
use crate::import::team_chat_events::OldEvent;
use crate::import::team_chat_source::{
    Chat, ChatAck, ChatDeadLetter, ChatMessage, ChatTask, Problems,
};
use crate::operation::prelude::*;
use crate::projections::delivery::event::{DeliveryDead, DeliveryFact};
use crate::projections::message::MessageInfo;
use crate::projections::message::event::MessageAcked;

/// An event to record, with its sort key.
pub(crate) struct Item {
    pub at: Timestamp,
    rank: u8,
    id: String,
    pub event: NewEvent,
}

/// Returns all entries in order. A message always precedes the events about it.
pub(crate) fn history(chat: &mut Chat) -> Vec<Item> {
    let messages = std::mem::take(&mut chat.messages);
    let known = messages.iter().map(|read| &read.message);
    let known: BTreeMap<&str, &Message> = known.map(|message| (&*message.id, message)).collect();
    let about = known.values().filter(|message| message.is_about_a_task());
    let told = about.filter_map(|message| message.task_id.as_deref());
    let told: BTreeSet<&str> = told.collect();
    let letters = chat.dead_letters.iter();
    let letters: BTreeSet<&str> = letters.map(|letter| &*letter.dead.message_id).collect();
    let mut history = History {
        known: &known,
        items: Vec::new(),
        counts: &mut chat.counts,
        problems: &mut chat.problems,
    };
    for read in &messages {
        history.message(read);
    }
    for ack in std::mem::take(&mut chat.acks) {
        history.ack(ack);
    }
    for (at, event) in std::mem::take(&mut chat.events) {
        history.event(at, event, &letters);
    }
    for letter in &chat.dead_letters {
        history.letter(letter);
    }
    for read in &chat.tasks {
        history.task(read, told.contains(read.task.task_id.as_str()));
    }
    let mut items = history.items;
    items.sort_by(|a, b| (a.at, a.rank, &a.id).cmp(&(b.at, b.rank, &b.id)));
    chat.messages = messages;
    items
}

struct History<'a> {
    known: &'a BTreeMap<&'a str, &'a Message>,
    items: Vec<Item>,
    counts: &'a mut ChatCounts,
    problems: &'a mut Problems,
}

impl History<'_> {
    fn push(&mut self, at: Timestamp, rank: u8, id: &str, event: NewEvent) {
        self.items.push(Item {
            at,
            rank,
            id: id.to_owned(),
            event,
        });
    }

    fn message(&mut self, read: &ChatMessage) {
        let message = &read.message;
        let event = match message.sent() {
            Ok(event) => event,
            Err(error) => {
                self.counts.malformed += 1;
                let why = error.to_string();
                return self.problems.note(&read.file, read.line, "malformed", why);
            }
        };
        self.counts.messages += 1;
        self.push(message.created_at, 0, &message.id, event);
        let unapplied = message.unapplied();
        let reasons = unapplied.iter().map(|one| one.reason);
        count(&mut self.counts.not_applied, reasons);
        for one in unapplied {
            let (file, why) = (&read.file, one.rule.to_string());
            self.problems.note(file, read.line, "not_applied", why);
        }
    }

    fn ack(&mut self, ack: ChatAck) {
        let why = match self.known.get(ack.message_id.as_str()) {
            None => format!("no inbox has the message {:?}", ack.message_id),
            Some(message) if message.to != ack.agent => format!(
                "the message {:?} is to {:?}, not to {:?}",
                ack.message_id, message.to, ack.agent
            ),
            Some(message) => {
                let fact = MessageAcked {
                    message_id: ack.message_id.clone(),
                    agent: ack.agent,
                };
                let event = fact.event(message.trace_id.as_deref(), message.task_id.as_deref());
                let at = ack.at.max(message.created_at);
                self.counts.acks += 1;
                return self.push(at, 1, &ack.message_id, event);
            }
        };
        self.counts.orphans += 1;
        self.problems.note(&ack.file, ack.line, "orphan", why);
        self.keep(ack.at, ack.event);
    }

    fn event(&mut self, at: Timestamp, event: OldEvent, letters: &BTreeSet<&str>) {
        let message = event.message_id();
        let follows = match event.kind.as_str() {
            "message_sent" => message.is_some_and(|id| self.known.contains_key(id)),
            "delivery_dead_letter" => message.is_some_and(|id| letters.contains(id)),
            _ => false,
        };
        match follows {
            true => self.counts.events_passed_by += 1,
            false => self.keep(at, event),
        }
    }

    fn keep(&mut self, at: Timestamp, event: OldEvent) {
        self.counts.events_kept += 1;
        let id = event.id.clone().unwrap_or_default();
        self.push(at, 4, &id, event.kept());
    }

    fn letter(&mut self, letter: &ChatDeadLetter) {
        let message = self.known.get(letter.dead.message_id.as_str());
        let to = message.map_or("", |message| &message.to);
        let info = MessageInfo {
            task_id: message.and_then(|message| message.task_id.clone()),
            trace_id: message.and_then(|message| message.trace_id.clone()),
            ..MessageInfo::unknown(&letter.dead.message_id, to)
        };
        let at = message.map_or(letter.at, |message| letter.at.max(message.created_at));
        let dead = DeliveryFact::Dead(DeliveryDead {
            due_at: Some(at.to_string()),
            ..letter.dead.clone()
        });
        let event = dead.event(DEFAULT_ACTOR, &info);
        self.counts.dead_letters += 1;
        self.push(at, 2, &letter.dead.id, event);
    }

    /// Records a snapshot if no message concerns its task.
    fn task(&mut self, read: &ChatTask, told: bool) {
        if told {
            self.counts.tasks_from_messages += 1;
            return;
        }
        self.counts.tasks += 1;
        let reasons = read.left_out.iter().map(|(reason, _)| *reason);
        count(&mut self.counts.not_applied, reasons);
        for (_, why) in &read.left_out {
            let why = why.clone();
            self.problems.note(&read.file, 0, "not_applied", why);
        }
        let event = read.task.event(DEFAULT_ACTOR);
        self.push(read.task.updated_at, 3, &read.task.task_id, event);
    }
}
