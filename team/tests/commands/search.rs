//! Tests of `search`. At every point of the log, the index must give the same matches as a scan of
//! all texts.

use crate::prelude::*;
use proptest::prelude::*;
use teamlog_engine::Point;
use teamlog_team::search::{Search, SearchAnswer};
use teamlog_team::thread::post::ThreadPost;
use teamlog_team::thread::start::ThreadStart;

const WORDS: [&str; 8] = [
    "login", "Log", "logs", "api", "schema", "wör", "登录", "fix-it",
];
const AGENTS: [&str; 3] = ["lead", "dev", "qa"];
const TAGS: [&str; 2] = ["room=login", "room=12"];

fn search(team: &mut Team, query: &str, limit: usize, cursor: Option<String>) -> SearchAnswer {
    let search = given!(Search, query, limit, cursor);
    team.search(&search).unwrap()
}

/// Returns the kinds and ids of all matches, read page by page. A post and an event have their seq instead of the id.
fn found(team: &mut Team, query: &str) -> Vec<String> {
    let (mut found, mut cursor) = (Vec::new(), None);
    loop {
        let answer = search(team, query, 3, cursor);
        assert_eq!(answer.count, answer.hits.len());
        for hit in answer.hits {
            found.push(match &*hit.kind {
                "post" | "comment" | "event" => format!("{} {}", hit.kind, hit.seq),
                kind => format!("{kind} {}", hit.id),
            });
        }
        cursor = answer.next_cursor;
        if cursor.is_none() {
            return found;
        }
    }
}

fn create(team: &mut Team, subject: &str, description: &str, labels: &[&str]) -> String {
    let labels: Vec<String> = labels.iter().map(|label| (*label).to_owned()).collect();
    let create = given!(TaskCreate, subject, description, labels: Some(labels));
    team.task_create(create).unwrap().task.task.task_id
}

fn say(team: &mut Team, from: &str, to: &str, body: &str) -> String {
    let mut send = message(from, to);
    send.payload = Some(json!({"body": body}).to_string());
    team.send(send).unwrap().message.id
}

#[test]
fn words_fields_and_times_find_tasks_and_texts_newest_first() {
    let (world, mut team) = demo();
    let login = create(&mut team, "Fix the login", "It fails on Mondays", &["api"]);
    let ship = create(&mut team, "Ship it", "after the login works", &[]);
    let said = say(&mut team, "dev", "qa", "the login page is exact words away");
    let claim = given!(TaskClaim, task_id: &*login, worker: "dev");
    let epoch = team.task_claim(claim).unwrap().task.governed.epoch;
    let start = given!(ThreadStart, title: "Login talk", task_id: &*ship, worker: "lead");
    let thread = team.thread_start(start).unwrap().thread.id;
    let post = given!(ThreadPost, thread_id: &*thread, body: "no words about it", worker: "qa");
    let post = team.thread_post(post).unwrap().message.seq;

    let task = |id: &str| format!("task {id}");
    let (message, talk) = (format!("message {said}"), format!("thread {thread}"));
    let comment = format!("comment {post}");
    for (query, expected) in [
        ("LOGIN", vec![&*talk, &message, &task(&ship), &task(&login)]),
        ("login kind:task", vec![&*task(&ship), &task(&login)]),
        (
            "log* -page -kind:thread",
            vec![&*task(&ship), &task(&login)],
        ),
        ("\"exact words\"", vec![&*message]),
        ("\"words exact\"", vec![]),
        ("words", vec![&*comment, &message]),
        ("kind:post", vec![&*comment]),
        ("by:dev", vec![&*message]),
        ("to:qa", vec![&*message]),
        ("to:dev", vec![&*task(&login)]),
        ("task:2", vec![&*comment, &talk, &task(&ship)]),
        ("label:api", vec![&*task(&login)]),
        ("status:in_progress", vec![&*task(&login)]),
        ("-login kind:task", vec![]),
        ("nowhere", vec![]),
        (
            "login after:5m",
            vec![&*talk, &message, &task(&ship), &task(&login)],
        ),
        ("login before:5m", vec![]),
    ] {
        assert_eq!(found(&mut team, query), expected, "{query}");
    }

    world.later(10 * MINUTE);
    let edit =
        given!(TaskEdit, task_id: &*ship, subject: Some("Deliver it".to_owned()), worker: "lead");
    team.task_edit(edit).unwrap();
    let finish = json!({"task_id": login, "from": "in_progress", "to": "completed", "epoch": epoch,
        "worker": "dev", "result": "on branch zebra"});
    let finish = serde_json::from_value(finish).unwrap();
    team.task_finish(finish).unwrap();
    for (query, expected) in [
        ("ship", vec![]),
        ("deliver", vec![&*task(&ship)]),
        ("zebra", vec![&*task(&login)]),
        ("status:in_progress", vec![]),
        ("login after:5m", vec![]),
        (
            "login kind:task before:5m",
            vec![&*task(&ship), &task(&login)],
        ),
    ] {
        assert_eq!(found(&mut team, query), expected, "{query}");
    }
    settled_digest(&mut team);
    assert_eq!(found(&mut team, "zebra"), [task(&login)]);
}

#[test]
fn a_hit_shows_where_it_is_and_the_text_around_the_word() {
    let (_, mut team) = demo();
    let body = format!(
        "{} the Zebra\nran {}",
        "before ".repeat(40),
        "after ".repeat(40)
    );
    let said = say(&mut team, "dev", "qa", &body);
    let answer = search(&mut team, "zebra", 5, None);
    assert_eq!(answer.next_cursor, None);
    let hit = json(&answer.hits[0]);
    has!(hit, {"/kind": "message", "/id": said, "/by": "dev", "/to": ["qa"]});
    let excerpt = hit["excerpt"].as_str().unwrap();
    shows!(excerpt => has "before the Zebra ran after");
    assert!(excerpt.starts_with('…') && excerpt.ends_with('…') && excerpt.chars().count() < 170);
}

#[test]
fn a_tag_finds_events_of_other_programs_and_their_words_narrow_it() {
    let (world, mut team) = demo();
    let login = create(&mut team, "Book a room", "room 12", &[]);
    let mut append = |actor: &str, tags: &[&str], text: &str| {
        let tags: Vec<String> = tags.iter().map(|tag| (*tag).to_owned()).collect();
        let append = given!(Append, kind: "room_booked", actor, tags, task_id: &*login,
            payload: json!({"why": {"text": text}, "seats": 7}).to_string());
        world.later(MINUTE);
        format!("event {}", team.append(append).unwrap().seq)
    };
    let first = append("ci", &["room=12", "floor=1"], "a talk about zebras");
    let second = append("dev", &["room=12"], "standup");
    let other = append("dev", &["room=13"], "standup");
    for (query, expected) in [
        ("tag:room=12", vec![&*second, &first]),
        ("tag:room=12 tag:floor=1", vec![&*first]),
        ("tag:room=12 -tag:floor=1", vec![&*second]),
        ("tag:room=13", vec![&*other]),
        ("tag:room=1", vec![]),
        ("tag:room=12 zebra*", vec![&*first]),
        ("tag:room=12 booked kind:event", vec![&*second, &first]),
        ("tag:room=12 -standup", vec![&*first]),
        ("tag:room=12 by:dev", vec![&*second]),
        ("tag:room=12 task:1", vec![&*second, &first]),
        ("tag:room=12 task:2", vec![]),
        ("tag:room=12 kind:task", vec![]),
        ("tag:room=12 after:1m", vec![&*second]),
        // Without a tag, events of other programs are not found.
        ("standup", vec![]),
        ("room -tag:room=12", vec!["task 1"]),
    ] {
        assert_eq!(found(&mut team, query), expected, "{query}");
    }
    let hit = json(&search(&mut team, "tag:floor=1", 5, None).hits[0]);
    has!(hit, {"/kind": "event", "/by": "ci", "/title": "room_booked", "/excerpt": "a talk about zebras",
        "/tags": ["floor=1", "room=12"], "/task_id": "1"});
}

#[test]
fn a_query_that_breaks_a_rule_names_the_term_and_the_rule() {
    let (_, mut team) = demo();
    let long = "x ".repeat(33);
    for (query, words) in [
        ("", "the query is empty"),
        ("  ", "the query is empty"),
        ("login \"exact words", "the quote is not closed"),
        ("login --", "a word needs a letter or a digit"),
        ("*", "a word needs a letter or a digit"),
        ("tsak:3", "there is no field \"tsak\"; task: may be meant"),
        ("kind:tsak", "kind must be one of task, message"),
        ("status:open", "status must be one of pending"),
        ("after:soon", "a time must look like"),
        ("-after:1d", "after and before cannot be excluded"),
        ("by:\"\"", "a value must follow the colon"),
        ("tag:room", "tag must be NAME=VALUE"),
        ("tag:Room=1", "tag must be NAME=VALUE"),
        ("login kind:event", "add tag:NAME=VALUE"),
        ("kind:event -tag:room=12", "add tag:NAME=VALUE"),
        (&long, "at most 32 terms"),
        (&"x".repeat(2000), "at most 1024 bytes"),
    ] {
        let search = given!(Search, query);
        let refusal = refused(team.search(&search), Code::InvalidInput);
        assert_eq!(refusal.field.as_deref(), Some("query"), "{query}");
        assert!(
            refusal.message.contains(words),
            "{query}: {}",
            refusal.message
        );
    }
    let search = given!(Search, query: "login", cursor: "soon");
    refused(team.search(&search), Code::CursorUnknown);
    // An address and a colon at the end of a word are text.
    for query in ["https://example.org/x", "error: disk", "a:", "-", "x:y"] {
        let search = given!(Search, query);
        let outcome = team.search(&search);
        assert_eq!(outcome.is_ok(), query != "x:y" && query != "-", "{query}");
    }
}

/// A document that a scan of all texts can find.
#[derive(Debug, Clone)]
struct Doc {
    shown: String,
    kinds: Vec<&'static str>,
    by: String,
    to: Vec<String>,
    task: Option<String>,
    status: Option<&'static str>,
    labels: Vec<String>,
    texts: Vec<String>,
    /// Tag of an event.
    tag: Option<&'static str>,
}

impl Doc {
    fn new(shown: String, kinds: &[&'static str], by: &str, texts: &[&str]) -> Doc {
        Doc {
            shown,
            kinds: kinds.to_vec(),
            by: by.to_owned(),
            to: Vec::new(),
            task: None,
            status: None,
            labels: Vec::new(),
            tag: None,
            texts: texts.iter().map(|text| (*text).to_owned()).collect(),
        }
    }
}

/// Splits a text into words as a person would: at all characters except letters and digits. Each of
/// 登 and 录 is a word.
fn split(text: &str) -> Vec<String> {
    let spaced = text
        .to_lowercase()
        .replace('登', " 登 ")
        .replace('录', " 录 ");
    let words = spaced.split(|c: char| !c.is_alphanumeric());
    words
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// A term of a random query, with its text.
#[derive(Debug, Clone)]
enum Ask {
    Words(Vec<usize>, bool),
    Kind(&'static str),
    By(usize),
    To(usize),
    Task(u8),
    Status(&'static str),
    Label(bool),
    Tag(usize),
}

impl Ask {
    fn text(&self) -> String {
        match self {
            Ask::Words(words, prefix) => {
                let words: Vec<&str> = words.iter().map(|word| WORDS[*word]).collect();
                let star = if *prefix { "*" } else { "" };
                format!("\"{}\"{star}", words.join(" "))
            }
            Ask::Kind(kind) => format!("kind:{kind}"),
            Ask::By(agent) => format!("by:{}", AGENTS[*agent]),
            Ask::To(agent) => format!("to:{}", AGENTS[*agent]),
            Ask::Task(task) => format!("task:{task}"),
            Ask::Status(status) => format!("status:{status}"),
            Ask::Label(api) => format!("label:{}", label(*api)),
            Ask::Tag(tag) => format!("tag:{}", TAGS[*tag]),
        }
    }

    fn is_match(&self, doc: &Doc) -> bool {
        match self {
            Ask::Words(words, prefix) => {
                let wanted: Vec<String> =
                    words.iter().flat_map(|word| split(WORDS[*word])).collect();
                doc.texts.iter().any(|text| {
                    split(text).windows(wanted.len()).any(|window| {
                        let last = wanted.len() - 1;
                        window[..last] == wanted[..last]
                            && match prefix {
                                true => window[last].starts_with(&wanted[last]),
                                false => window[last] == wanted[last],
                            }
                    })
                })
            }
            Ask::Kind(kind) => doc.kinds.contains(kind),
            Ask::By(agent) => doc.by == AGENTS[*agent],
            Ask::To(agent) => doc.to.iter().any(|to| to == AGENTS[*agent]),
            Ask::Task(task) => doc.task == Some(task.to_string()),
            Ask::Status(status) => doc.status == Some(status),
            Ask::Label(api) => doc.labels.iter().any(|one| one == label(*api)),
            Ask::Tag(tag) => doc.tag == Some(TAGS[*tag]),
        }
    }
}

fn label(api: bool) -> &'static str {
    if api { "api" } else { "ui" }
}

fn ask() -> impl Strategy<Value = Vec<(bool, Ask)>> {
    let kinds = ["task", "message", "report", "thread", "post", "comment"];
    let statuses = ["pending", "in_progress", "completed"];
    let ask = prop_oneof![
        6 => (proptest::collection::vec(0..WORDS.len(), 1..3), any::<bool>())
            .prop_map(|(words, prefix)| Ask::Words(words, prefix)),
        2 => (0..kinds.len()).prop_map(move |at| Ask::Kind(kinds[at])),
        1 => (0..AGENTS.len()).prop_map(Ask::By),
        1 => (0..AGENTS.len()).prop_map(Ask::To),
        1 => (1..4_u8).prop_map(Ask::Task),
        1 => (0..statuses.len()).prop_map(move |at| Ask::Status(statuses[at])),
        1 => any::<bool>().prop_map(Ask::Label),
        3 => (0..TAGS.len()).prop_map(Ask::Tag),
    ];
    proptest::collection::vec((proptest::bool::weighted(0.2), ask), 1..4)
}

#[derive(Debug, Clone)]
enum Step {
    Create(String, String, Option<bool>),
    Edit(usize, String),
    Complete(usize, usize, String),
    Message(usize, usize, String),
    Report(usize, usize, String),
    Start(usize, String, Option<usize>),
    Post(usize, usize, String),
    Append(usize, usize, usize, String),
    Finish,
    Rehydrate,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let text = || {
        proptest::collection::vec(0..WORDS.len(), 1..6).prop_map(|words| {
            let words: Vec<&str> = words.into_iter().map(|word| WORDS[word]).collect();
            words.join(" ")
        })
    };
    let agent = || 0..AGENTS.len();
    let step = prop_oneof![
        3 => (text(), text(), any::<Option<bool>>()).prop_map(|(one, two, label)| Step::Create(one, two, label)),
        2 => (0..9_usize, text()).prop_map(|(task, text)| Step::Edit(task, text)),
        2 => (0..9_usize, agent(), text()).prop_map(|(task, agent, text)| Step::Complete(task, agent, text)),
        4 => (agent(), agent(), text()).prop_map(|(from, to, text)| Step::Message(from, to, text)),
        2 => (0..9_usize, agent(), text()).prop_map(|(task, from, text)| Step::Report(task, from, text)),
        1 => (agent(), text(), any::<Option<bool>>()).prop_map(|(by, title, task)| Step::Start(by, title, task.map(usize::from))),
        3 => (0..4_usize, agent(), text()).prop_map(|(thread, by, text)| Step::Post(thread, by, text)),
        3 => (agent(), 0..9_usize, 0..TAGS.len(), text()).prop_map(|(by, task, tag, text)| Step::Append(by, task, tag, text)),
        1 => Just(Step::Finish),
        1 => Just(Step::Rehydrate),
    ];
    proptest::collection::vec(step, 1..40)
}

/// A team, and all documents that a scan of its texts can find, oldest first.
struct Model {
    team: Team,
    docs: Vec<Doc>,
    /// Indices of the tasks in `docs`.
    tasks: Vec<usize>,
    threads: Vec<(String, Option<String>)>,
}

impl Model {
    fn take(&mut self, step: Step) {
        let Model {
            team,
            docs,
            tasks,
            threads,
        } = self;
        let task_at = |task: usize| tasks.get(task % tasks.len().max(1)).copied();
        match step {
            Step::Create(subject, description, api) => {
                let labels: Vec<&str> = api.map(label).into_iter().collect();
                let id = create(team, &subject, &description, &labels);
                tasks.push(docs.len());
                docs.push(Doc {
                    task: Some(id.clone()),
                    status: Some("pending"),
                    labels: labels.iter().map(|label| (*label).to_owned()).collect(),
                    ..Doc::new(
                        format!("task {id}"),
                        &["task"],
                        "teamlog",
                        &[&subject, &description],
                    )
                });
            }
            Step::Edit(task, subject) => {
                let Some(at) = task_at(task) else { return };
                let id = docs[at].task.clone().unwrap();
                if docs[at].status == Some("pending") && docs[at].texts[0] != subject {
                    let edit = given!(TaskEdit, task_id: id, subject: Some(subject.clone()));
                    team.task_edit(edit).unwrap();
                    docs[at].texts[0] = subject;
                }
            }
            Step::Complete(task, agent, result) => {
                let Some(at) = task_at(task) else { return };
                let id = docs[at].task.clone().unwrap();
                if docs[at].status != Some("pending") {
                    return;
                }
                let claim = given!(TaskClaim, task_id: &*id, worker: AGENTS[agent]);
                let epoch = team.task_claim(claim).unwrap().task.governed.epoch;
                docs[at].to = vec![AGENTS[agent].to_owned()];
                docs[at].status = Some("in_progress");
                if result.len() % 2 == 0 {
                    let finish = json!({"task_id": id, "from": "in_progress", "to": "completed", "epoch": epoch,
                        "worker": AGENTS[agent], "result": result});
                    team.task_finish(serde_json::from_value(finish).unwrap())
                        .unwrap();
                    docs[at].status = Some("completed");
                    docs[at].texts.push(result);
                }
            }
            Step::Message(from, to, text) => {
                let id = say(team, AGENTS[from], AGENTS[to], &text);
                docs.push(Doc {
                    to: vec![AGENTS[to].to_owned()],
                    ..Doc::new(
                        format!("message {id}"),
                        &["message"],
                        AGENTS[from],
                        &[&text],
                    )
                });
            }
            Step::Report(task, from, note) => {
                let Some(at) = task_at(task) else { return };
                let id = docs[at].task.clone().unwrap();
                let mut report = update(&id, "in_progress");
                report.note = Some(note.clone());
                report.from = AGENTS[from].to_owned();
                "lead".clone_into(&mut report.to);
                let sent = team.task_update(report).unwrap().message.id;
                docs.push(Doc {
                    to: vec!["lead".to_owned()],
                    task: Some(id),
                    ..Doc::new(
                        format!("report {sent}"),
                        &["message", "report"],
                        AGENTS[from],
                        &[&note],
                    )
                });
            }
            Step::Start(by, title, task) => {
                let task = task.and_then(task_at).and_then(|at| docs[at].task.clone());
                let everyone = Some(AGENTS.map(str::to_owned).to_vec());
                let start = given!(ThreadStart, title: &*title, participants: everyone,
                    worker: AGENTS[by], task_id: task.clone());
                let id = team.thread_start(start).unwrap().thread.id;
                threads.push((id.clone(), task.clone()));
                docs.push(Doc {
                    task,
                    ..Doc::new(format!("thread {id}"), &["thread"], AGENTS[by], &[&title])
                });
            }
            Step::Post(thread, by, body) => {
                let Some((id, task)) = threads.get(thread % threads.len().max(1)).cloned() else {
                    return;
                };
                let post = given!(ThreadPost, thread_id: id, body: &*body, worker: AGENTS[by]);
                let post = team.thread_post(post).unwrap().message;
                let kinds: &[&str] = if task.is_some() {
                    &["comment", "post"]
                } else {
                    &["post"]
                };
                docs.push(Doc {
                    task,
                    to: post.to,
                    ..Doc::new(
                        format!("{} {}", kinds[0], post.seq),
                        kinds,
                        AGENTS[by],
                        &[&body],
                    )
                });
            }
            Step::Append(by, task, tag, text) => {
                let task = task_at(task).and_then(|at| docs[at].task.clone());
                let append = given!(Append, kind: "room_booked", actor: AGENTS[by], agent: "qa",
                    task_id: task.clone(), tags: vec![TAGS[tag].to_owned()],
                    payload: json!({"number": 7, "why": text}).to_string());
                let seq = team.append(append).unwrap().seq;
                docs.push(Doc {
                    to: vec!["qa".to_owned()],
                    task,
                    tag: Some(TAGS[tag]),
                    ..Doc::new(
                        format!("event {seq}"),
                        &["event"],
                        AGENTS[by],
                        &["room_booked", &text],
                    )
                });
            }
            Step::Finish => team.finish().unwrap(),
            Step::Rehydrate => drop(settled_digest(team)),
        }
    }
}

fn scan(docs: &[Doc], asks: &[(bool, Ask)]) -> Vec<String> {
    let has_tag = asks
        .iter()
        .any(|(negated, ask)| !negated && matches!(ask, Ask::Tag(_)));
    let is_match = |doc: &&Doc| {
        (doc.tag.is_none() || has_tag)
            && asks
                .iter()
                .all(|(negated, ask)| ask.is_match(doc) != *negated)
    };
    let found = docs.iter().rev().filter(is_match);
    found.map(|doc| doc.shown.clone()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn the_index_finds_what_a_scan_of_all_texts_finds(
        steps in steps(),
        asks in proptest::collection::vec(ask(), 1..6),
    ) {
        let (world, team) = demo();
        let mut model = Model { team, docs: Vec::new(), tasks: Vec::new(), threads: Vec::new() };
        let half = steps.len() / 2;
        let mut then = (0, Vec::new());
        for (at, step) in steps.into_iter().enumerate() {
            model.take(step);
            if at == half {
                then = (status(&mut model.team).last_seq, model.docs.clone());
            }
        }
        model.team.finish().unwrap();
        for asks in &asks {
            let words = asks.iter().map(|(negated, ask)| {
                format!("{}{}", if *negated { "-" } else { "" }, ask.text())
            });
            let query = words.collect::<Vec<String>>().join(" ");
            prop_assert_eq!(found(&mut model.team, &query), scan(&model.docs, asks), "{}", &query);
            let mut past = world.root.team("demo").unwrap().at(Point::Seq(then.0)).unwrap();
            prop_assert_eq!(found(&mut past, &query), scan(&then.1, asks), "{} in the past", &query);
            past.finish().unwrap();
        }
    }
}
