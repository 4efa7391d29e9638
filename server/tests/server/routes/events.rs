//! The log over HTTP, in pages and as a stream.

use super::world::{World, call};
use crate::waiting::until;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use teamlog_server::stream::Hub;
use teamlog_server::{Answer, Call, Method, Streamed};

fn make(world: &World, count: usize) {
    for number in 0..count {
        world
            .post("/v1/tasks", json!({"title": format!("task {number}")}))
            .done(201);
    }
}

fn head(world: &World) -> u64 {
    let status = world.get("/v1/status").done(200);
    status["last_seq"].as_u64().unwrap()
}

fn seqs(page: &Value) -> Vec<u64> {
    let events = page["events"].as_array().unwrap().iter();
    events.map(|event| event["seq"].as_u64().unwrap()).collect()
}

#[test]
fn each_event_has_its_sentence() {
    let world = World::new();
    world
        .post("/v1/tasks", json!({"title": "Fix it"}))
        .done(201);
    for (path, line) in [
        ("/v1/events?kind=task_created", " created task 1: Fix it"),
        ("/v1/tasks/1/history", " created task 1: Fix it"),
    ] {
        let page = world.get(path).done(200);
        let sentence = page["events"][0]["sentence"].as_str().unwrap();
        assert!(sentence.ends_with(line), "{sentence}");
    }
}

#[test]
fn pages_go_on_where_the_last_one_ended() {
    let world = World::new();
    make(&world, 5);
    let head = head(&world);
    let (mut after, mut all) = (0, Vec::new());
    loop {
        let page = world.story(&format!("GET /v1/events?after={after}&limit=2 -> 200"));
        assert_eq!(page["last_seq"], head);
        all.extend(seqs(&page));
        after = page["next_after"].as_u64().unwrap();
        if page["more"] == false {
            break;
        }
    }
    assert_eq!(all, (1..=head).collect::<Vec<u64>>());
    assert_eq!(after, head);
    let end = world.get(&format!("/v1/events?after={head}")).done(200);
    assert_eq!(end["count"].as_u64(), Some(0));
    assert_eq!(end["next_after"].as_u64(), Some(head));
    world.story(&format!(
        "
        GET /v1/events?after={} -> 409 cursor_ahead
        GET /v1/events?after=x -> 400 invalid_input
        GET /v1/events?limit=1001 -> 400 invalid_input
        GET /v1/events?since=1 -> 400 invalid_input
        ",
        head + 1
    ));
}

#[test]
fn newest_first_goes_back_to_the_beginning() {
    let world = World::new();
    make(&world, 5);
    world
        .keyed("k", "/v1/tasks", json!({"title": "Ölwechsel"}))
        .done(201);
    let head = head(&world);
    let mut all = Vec::new();
    let mut target = "/v1/events?order=newest&limit=2".to_owned();
    loop {
        let page = world.get(&target).done(200);
        all.extend(seqs(&page));
        let next = page.get("next_before").expect("newest first has it");
        assert_eq!(page["more"], !next.is_null());
        match next.as_u64() {
            Some(next) => target = format!("/v1/events?before={next}&limit=2"),
            None => break,
        }
    }
    assert_eq!(all, (1..=head).rev().collect::<Vec<u64>>());
    // `order=oldest` is the default.
    let oldest = world.get("/v1/events?order=oldest").done(200);
    assert_eq!(oldest, world.get("/v1/events").done(200));
    assert!(oldest.get("next_before").is_none());

    let of = |target: &str| seqs(&world.get(target).done(200));
    let kept = of("/v1/events?kind=response_stored");
    assert_eq!(kept.len(), 1);
    let shown = of("/v1/events?bookkeeping=false");
    assert!(!shown.contains(&kept[0]) && shown.len() as u64 == head - 1);
    assert_eq!(
        of("/v1/events?q=ölwechsel&kind=task_created,task_claimed").len(),
        1
    );
    assert_eq!(of("/v1/events?kind=task_created,response_stored").len(), 7);
    world.story(
        "
        GET /v1/events?before=2&order=oldest -> 400 invalid_input
        GET /v1/events?order=upward -> 400 invalid_input
        GET /v1/events?bookkeeping=perhaps -> 400 invalid_input
        ",
    );
}

#[test]
fn filters_leave_out_and_still_get_on() {
    let world = World::new();
    make(&world, 3);
    world.story(r#"POST /v1/tasks/2/claim {"agentId": "ada"} -> 200"#);
    let made = world.get("/v1/events?kind=task_created").done(200);
    assert_eq!(made["count"], 3);
    assert_eq!(made["next_after"], made["last_seq"]);
    let of_two = world.get("/v1/events?task_id=2").done(200);
    let kinds: Vec<&str> = of_two["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["task_created", "task_claimed"]);
    let first = world.get("/v1/events?task_id=2&limit=1").done(200);
    assert_eq!(first["count"].as_u64(), Some(1));
    assert_eq!(first["more"].as_bool(), Some(true));
    let next = first["next_after"].as_u64().unwrap();
    let second = world.story(&format!(
        "GET /v1/events?task_id=2&limit=1&after={next} -> 200"
    ));
    assert_eq!(second["events"][0]["kind"], "task_claimed");
    for filter in ["actor=ada", "agent=ada", "agent=ada&kind=task_claimed"] {
        let some = world.get(&format!("/v1/events?{filter}")).done(200);
        assert!(some["count"].as_u64().unwrap() >= 1, "{filter}");
        assert!(
            some["events"]
                .as_array()
                .unwrap()
                .iter()
                .all(|event| event["agent"] == "ada" || event["actor"] == "ada")
        );
    }
    assert_eq!(world.get("/v1/events?trace_id=none").done(200)["count"], 0);
}

struct Stream {
    streamed: Streamed,
    text: String,
}

impl Stream {
    /// Reads frames until they contain `events` events. Returns the seqs of these events.
    #[track_caller]
    fn until(&mut self, events: usize) -> Vec<u64> {
        let deadline = Instant::now() + Duration::from_secs(20);
        while self.ids().len() < events {
            self.more(deadline);
        }
        self.ids()
    }
    #[track_caller]
    fn more(&mut self, deadline: Instant) -> bool {
        loop {
            match self.streamed.frames.try_recv() {
                Ok(frame) => {
                    self.text.push_str(std::str::from_utf8(&frame).unwrap());
                    return true;
                }
                Err(tokio::sync::mpsc::error::TryRecvError::Disconnected) => return false,
                Err(_) => {
                    assert!(
                        Instant::now() < deadline,
                        "nothing came behind {}",
                        self.text
                    );
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
        }
    }
    fn ids(&self) -> Vec<u64> {
        let blocks = self
            .text
            .split("\n\n")
            .filter(|block| !block.contains("event: cut"));
        let ids = blocks.filter_map(|block| block.strip_prefix("id: "));
        ids.map(|block| block.split('\n').next().unwrap().parse().unwrap())
            .collect()
    }
}

/// Returns a call for a stream. `known` is the last known seq.
fn streaming(target: &str, known: Option<&str>) -> Call {
    Call {
        wants_stream: true,
        last_event_id: known.map(str::to_owned),
        ..call(Method::Get, target, "")
    }
}

fn listen(hub: &Hub, world: &World, target: &str, known: Option<&str>) -> Stream {
    match hub.answer(&world.served, &streaming(target, known)) {
        Answer::Streamed(streamed) => {
            assert!(streamed.content_type.starts_with("text/event-stream"));
            Stream {
                streamed,
                text: String::new(),
            }
        }
        Answer::Whole(reply) => panic!("{reply:?}"),
    }
}

#[test]
fn a_stream_tells_the_past_and_then_what_comes_without_gap_or_repetition() {
    let world = World::new();
    let hub = Hub::default();
    make(&world, 300);
    let mut stream = listen(&hub, &world, "/v1/events?after=0", None);
    let mut late = listen(&hub, &world, "/v1/events", None);
    make(&world, 50);
    let head = head(&world);
    assert_eq!(
        stream.until(head as usize),
        (1..=head).collect::<Vec<u64>>()
    );
    assert!(
        stream
            .text
            .starts_with("retry: 1000\n: behind 0\n\nid: 1\ndata: {\"seq\":1,")
    );
    let late_ids = late.until(50);
    assert_eq!(late_ids, (head - 49..=head).collect::<Vec<u64>>());

    // A client that reconnects sends its last event in a header. The header takes precedence over the query.
    let known = (head - 3).to_string();
    let mut again = listen(&hub, &world, "/v1/events?after=0", Some(&known));
    assert_eq!(again.until(3), [head - 2, head - 1, head]);
    make(&world, 1);
    assert_eq!(again.until(4).last(), Some(&(head + 1)));
}

#[test]
fn streams_are_filtered_like_pages_and_refused_like_them() {
    let world = World::new();
    let hub = Hub::default();
    make(&world, 3);
    let mut stream = listen(&hub, &world, "/v1/events?after=0&task_id=2", None);
    make(&world, 2);
    world.story(r#"POST /v1/tasks/2/claim {"agentId": "ada"} -> 200"#);
    stream.until(2);
    let lines = stream.text.lines();
    let told: Vec<Value> = lines
        .filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok())
        .collect();
    assert_eq!(told.len(), 2);
    assert!(told.iter().all(|event| event["task_id"] == "2"), "{told:?}");
    // The stream filters old and new events by kinds and by a text, and leaves out stored answers.
    let chosen = "/v1/events?after=0&kind=task_created,response_stored&q=TASK&bookkeeping=false";
    let mut chosen = listen(&hub, &world, chosen, None);
    world
        .keyed("k", "/v1/tasks", json!({"title": "task by key"}))
        .done(201);
    world
        .post("/v1/tasks", json!({"title": "last task"}))
        .done(201);
    chosen.until(7);
    let kinds = chosen.text.matches("\"kind\":\"task_created\"").count();
    assert_eq!((kinds, chosen.ids().len()), (7, 7), "{}", chosen.text);
    for (target, known) in [
        ("/v1/events?order=newest", None),
        ("/v1/events?before=2", None),
        ("/v1/events?after=999", None),
        ("/v1/events", Some("999")),
        ("/v1/events", Some("x")),
        ("/v1/events?more=1", None),
    ] {
        let answer = hub.answer(&world.served, &streaming(target, known));
        let is_refused =
            matches!(answer, Answer::Whole(reply) if [400, 409].contains(&reply.status));
        assert!(is_refused, "{target}");
    }
    // A client that does not accept a stream gets a page. No other path offers a stream.
    let page = hub.answer(&world.served, &call(Method::Get, "/v1/events", ""));
    assert!(matches!(page, Answer::Whole(reply) if reply.status == 200));
    let tasks = hub.answer(&world.served, &streaming("/v1/tasks", None));
    assert!(matches!(tasks, Answer::Whole(_)));
}

#[test]
fn a_reader_that_is_too_slow_is_cut_and_told_where_to_go_on() {
    let world = World::new();
    let hub = Hub::default();
    let mut slow = listen(&hub, &world, "/v1/events", None);
    let mut quick = listen(&hub, &world, "/v1/events", None);
    let head = head(&world);
    let mut last = head;
    for _ in 0..15 {
        make(&world, 80);
        last = self::head(&world);
        // The fast client gets all events.
        quick.until((last - head) as usize);
    }
    let deadline = Instant::now() + Duration::from_secs(20);
    while slow.more(deadline) {}
    let told = slow.ids();
    assert!((900..1_200).contains(&told.len()), "{}", told.len());
    let cursor = told.last().unwrap();
    assert!(slow.text.ends_with("\n\n"));
    let end = slow.text.split("event: cut\n").nth(1).expect("a last word");
    assert!(
        end.starts_with(&format!("id: {cursor}\ndata: {{\"after\":{cursor},")),
        "{end}"
    );
    // The next stream continues after the cursor, and sends each event once.
    let mut again = listen(&hub, &world, "/v1/events", Some(&cursor.to_string()));
    let rest = again.until((last - cursor) as usize);
    let whole: Vec<u64> = told.into_iter().chain(rest).collect();
    assert_eq!(whole, (head + 1..=last).collect::<Vec<u64>>());
}

#[test]
fn a_stream_that_nobody_takes_ends_its_thread() {
    let world = World::new();
    let hub = Hub::default();
    let stream = listen(&hub, &world, "/v1/events?after=0", None);
    drop(stream);
    until("its thread has ended", || {
        Arc::strong_count(&world.served) == 1
    });
    // A further stream starts from the beginning.
    let mut stream = listen(&hub, &world, "/v1/events?after=0", None);
    assert_eq!(stream.until(1), [1]);
}

#[test]
fn events_are_recorded_with_tags_and_conditions() {
    let world = World::new();
    let hub = Hub::default();
    let mut stream = listen(
        &hub,
        &world,
        "/v1/events?after=0&tag=name=anna&tag=n=1",
        None,
    );
    let take = |name: &str| {
        let tags = [format!("name={name}"), "n=1".to_owned()];
        json!({"kind": "name_taken", "actor": "ci", "tags": tags, "payload": {"b": [1.5]}, "task_id": "T",
            "if_none": [{"kinds": ["name_taken"], "tags": [tags[0]]}]})
    };
    let first = world.keyed("k", "/v1/events", take("anna")).done(201);
    let again = world.keyed("k", "/v1/events", take("anna"));
    assert_eq!(again.header("Idempotent-Replayed"), Some("true"));
    assert_eq!(again.done(201), first);
    let refused = world.post("/v1/events", take("anna"));
    refused.refused(409, "append_conflict");
    let details = &refused.json["error"]["details"];
    assert_eq!(
        (&details["seq"], &details["id"], &details["kind"]),
        (&first["seq"], &first["id"], &json!("name_taken"))
    );
    world.post("/v1/events", take("bob")).done(201);
    let page = world.get("/v1/events?tag=name=anna&tag=n=1").done(200);
    assert_eq!(seqs(&page), [first["seq"].as_u64().unwrap()]);
    let event = &page["events"][0];
    assert_eq!(event["tags"], json!(["n=1", "name=anna"]));
    assert_eq!(event["payload"], json!({"b": [1.5]}));
    let last = head(&world);
    let lines = json!([{"kind": "a", "tags": ["name=anna", "n=1"]}, {"kind": "b", "key": "l"}]);
    let several = world
        .post(
            "/v1/events",
            json!({"events": lines, "actor": "ci", "if_seq": last}),
        )
        .done(201);
    assert_eq!(
        several,
        json!({"count": 2, "first_seq": last + 1, "last_seq": last + 2})
    );
    let refused = world.post(
        "/v1/events",
        json!({"events": lines, "actor": "ci", "if_seq": last}),
    );
    refused.refused(409, "append_conflict");
    assert_eq!(stream.until(2), [first["seq"].as_u64().unwrap(), last + 1]);
    world.story(
        r#"
        POST /v1/events {} -> 400 invalid_input kind
        POST /v1/events {"kind": "message_sent"} -> 400 reserved_kind kind
        POST /v1/events {"kind": "a", "tags": ["n"]} -> 400 invalid_input tags
        POST /v1/events {"kind": "a", "tags": "n=1"} -> 400 invalid_input tags
        POST /v1/events {"kind": "a", "cause": "x"} -> 400 invalid_input cause
        POST /v1/events {"kind": "a", "key": "k"} -> 400 invalid_input key
        POST /v1/events {"kind": "a", "after": 1} -> 400 invalid_input after
        POST /v1/events {"kind": "a", "if_seq": 999} -> 409 cursor_ahead if_seq
        POST /v1/events {"kind": "a", "if_none": [{"kind": "a"}]} -> 400 invalid_input if_none[0].kind
        POST /v1/events {"kind": "a", "events": []} -> 400 invalid_input kind
        POST /v1/events {"events": [{"kind": "a", "if_seq": 1}]} -> 400 invalid_input line
        GET /v1/events?tag=n -> 400 invalid_input tag
        "#,
    );
    assert_eq!(head(&world), last + 3);
}
