//! Tests of scripted projections: declarations, states live and of the past, failures, and who may declare.

use crate::agent_tokens::as_agent;
use crate::prelude::*;
use teamlog_engine::NewEvent;
use teamlog_engine::Point;
use teamlog_team::Root;
use teamlog_team::log::filter::EventFilter;
use teamlog_team::projections::script::event::{ProjectionDeclared, ScriptFact};
use teamlog_team::scripted::SCRIPTED_MAX;
use teamlog_team::scripted::check::ProjectionTestStatus;
use teamlog_team::scripted::declare::{DeclareProjection, DeclareStatus, RemoveProjection};
use teamlog_team::scripted::read::{ProjectionAnswer, ShowProjection};

const COUNT: &str = "fn fold(event) { this.count += 1; this.last = event.seq; }";

fn counts(key_by: Option<&str>, fold: &str) -> DeclareProjection {
    DeclareProjection {
        name: "counts".to_owned(),
        fold: fold.to_owned(),
        init: Some(json!({"count": 0})),
        key_by: key_by.map(str::to_owned),
        filter: Some(EventFilter {
            kinds: vec!["built".to_owned()],
            ..EventFilter::default()
        }),
    }
}

fn built(team: &mut Team, actor: &str, payload: &str) -> u64 {
    let fact = given!(Append, kind: "built", actor: actor.to_owned(), payload: payload.to_owned());
    team.append(fact).unwrap().seq
}

fn show(team: &mut Team) -> ProjectionAnswer {
    let asked = given!(ShowProjection, name: "counts");
    team.projection(&asked).unwrap()
}

/// Returns the states as an object by key.
fn states(answer: &ProjectionAnswer) -> Value {
    let states = answer.states.iter();
    let states = states.map(|one| (one.key.clone().unwrap_or_default(), one.state.clone()));
    Value::Object(states.collect())
}

fn status(team: &mut Team) -> ProjectionTestStatus {
    team.test_projection("counts").unwrap().status
}

#[test]
fn states_follow_the_log_and_every_point_of_the_past_has_its_own() {
    let (world, mut team) = demo();
    built(&mut team, "ci", "{}");
    let declared = team
        .declare_projection(counts(Some("event.actor"), COUNT))
        .unwrap();
    assert_eq!(declared.status, DeclareStatus::Declared);
    let mut expected = BTreeMap::new();
    let mut seqs = Vec::new();
    for n in 0..700 {
        let actor = ["ci", "nightly", "grün 🌱"][n % 3];
        let seq = built(&mut team, actor, "{}");
        seqs.push((seq, actor));
        if n % 97 == 0 {
            // A read in between keeps rows, which must not change the states.
            show(&mut team);
        }
    }
    for (seq, actor) in std::iter::once((2, "ci")).chain(seqs.iter().copied()) {
        let one: &mut (u64, u64) = expected.entry(actor.to_owned()).or_default();
        *one = (one.0 + 1, seq);
    }
    let answer = show(&mut team);
    for (key, (count, last)) in &expected {
        assert_eq!(states(&answer)[key], json!({"count": count, "last": last}));
    }
    assert_eq!(answer.projection.seq, Some(seqs.last().unwrap().0));
    assert_eq!(status(&mut team), ProjectionTestStatus::Equal);
    // Another handle, without the rows of this one in memory.
    let mut other = world.root.team("demo").unwrap();
    assert_eq!(states(&show(&mut other)), states(&answer));
    // The past: also before the projection was declared.
    for cut in [1, 2, 3, 100, 350, 699] {
        let mut past = world
            .root
            .team("demo")
            .unwrap()
            .at(Point::Seq(cut))
            .unwrap();
        let answer = show(&mut past);
        let count = seqs
            .iter()
            .filter(|(seq, actor)| *seq <= cut && *actor == "ci")
            .count();
        let count = count as u64 + u64::from(cut >= 2);
        let state = &states(&answer)["ci"]["count"];
        assert_eq!(state.as_u64().unwrap_or_default(), count, "at {cut}");
        assert_eq!(answer.projection.seq, Some(cut));
        assert_eq!(status(&mut past), ProjectionTestStatus::Equal);
    }
    // Pages, and one key.
    let mut asked = ShowProjection {
        limit: Some(2),
        ..given!(ShowProjection, name: "counts")
    };
    let first = team.projection(&asked).unwrap();
    asked.cursor = first.next_cursor.clone();
    let second = team.projection(&asked).unwrap();
    assert_eq!(
        (first.count, second.count, second.next_cursor),
        (2, 1, None)
    );
    asked.key = Some("grün 🌱".to_owned());
    let one = team.projection(&asked).unwrap();
    assert_eq!(one.states[0].state, states(&answer)["grün 🌱"]);
    asked.key = Some("x".repeat(5000));
    assert_eq!(team.projection(&asked).unwrap().count, 0);
}

#[test]
fn without_a_key_there_is_one_state() {
    let (_world, mut team) = demo();
    team.declare_projection(counts(None, COUNT)).unwrap();
    let answer = show(&mut team);
    assert_eq!(answer.states[0].state, json!({"count": 0}));
    let seq = built(&mut team, "ci", "{}");
    let answer = show(&mut team);
    assert_eq!(answer.states[0].key, None);
    assert_eq!(answer.states[0].state, json!({"count": 1, "last": seq}));
}

#[test]
fn a_failing_fold_stops_its_projection_alone_and_another_declaration_mends_it() {
    let (world, mut team) = demo();
    let fold = "fn fold(event) {\n  this.count += 1;\n  if event.payload.bad == true {\n    this.count = 99;\n    throw \"bad event\";\n  }\n}";
    team.declare_projection(counts(None, fold)).unwrap();
    let sound = DeclareProjection {
        name: "sound".to_owned(),
        ..counts(None, COUNT)
    };
    team.declare_projection(sound).unwrap();
    built(&mut team, "ci", "{}");
    let bad = built(&mut team, "ci", r#"{"bad":true}"#);
    for _ in 0..600 {
        built(&mut team, "ci", "{}");
    }
    let mut other = world.root.team("demo").unwrap();
    for team in [&mut team, &mut other] {
        let answer = show(team);
        let failure = answer.projection.failure.clone().unwrap();
        assert_eq!(
            (failure.seq, failure.line, &*failure.field),
            (bad, Some(5), "fold")
        );
        assert!(failure.message.contains("bad event"), "{failure:?}");
        // The state before the failing fold stays.
        assert_eq!(answer.states[0].state, json!({"count": 1}));
        assert_eq!(status(team), ProjectionTestStatus::Stopped);
        let list = team.projections().unwrap().projections;
        assert_eq!(list[0].failure.as_ref(), Some(&failure));
        assert!(list[1].failure.is_none());
    }
    let mut past = world
        .root
        .team("demo")
        .unwrap()
        .at(Point::Seq(bad - 1))
        .unwrap();
    assert!(show(&mut past).projection.failure.is_none());
    let again = team.declare_projection(counts(None, COUNT)).unwrap();
    assert_eq!(again.status, DeclareStatus::Changed);
    let answer = show(&mut team);
    assert!(answer.projection.failure.is_none());
    assert_eq!(answer.states[0].state["count"], 602);
    // A loop without an end stops at the first event, and leaves every command as it was.
    team.declare_projection(counts(None, "fn fold(event) { loop { this.x = 1; } }"))
        .unwrap();
    let failure = show(&mut team).projection.failure.unwrap();
    assert!(
        failure.message.contains("Too many operations"),
        "{failure:?}"
    );
    assert_eq!(show(&mut team).states[0].state, json!({"count": 0}));
    built(&mut team, "ci", "{}");
}

#[test]
fn a_declaration_is_recorded_once_and_removed_with_its_rows() {
    let (world, mut team) = demo();
    team.declare_projection(counts(None, COUNT)).unwrap();
    let before = events(&mut team).len();
    let again = team.declare_projection(counts(None, COUNT)).unwrap();
    assert_eq!(again.status, DeclareStatus::Unchanged);
    assert_eq!(events(&mut team).len(), before);
    built(&mut team, "ci", "{}");
    show(&mut team);
    let remove = given!(RemoveProjection, name: "counts");
    team.remove_projection(remove.clone()).unwrap();
    assert!(world.names("projections/script-counts").is_empty());
    let refusal = refused(team.remove_projection(remove), Code::ProjectionNotFound);
    assert!(refusal.message.contains("counts"), "{refusal}");
    let asked = given!(ShowProjection, name: "counts");
    refused(team.projection(&asked), Code::ProjectionNotFound);
    refused(team.test_projection("counts"), Code::ProjectionNotFound);
    assert_eq!(team.projections().unwrap().count, 0);
    // Declared again, the states are folded from the first event.
    team.declare_projection(counts(None, COUNT)).unwrap();
    assert_eq!(show(&mut team).states[0].state["count"], 1);
}

#[test]
fn bad_declarations_are_refused_with_field_place_and_rule() {
    let (_world, mut team) = demo();
    let base = || counts(None, COUNT);
    let named = |name: &str| DeclareProjection {
        name: name.to_owned(),
        ..base()
    };
    for (declare, field, rule) in [
        (named("Counts"), "name", "must match"),
        (named(""), "name", "must match"),
        (named("../x"), "name", "must match"),
        (named(&"x".repeat(49)), "name", "at most 48 bytes"),
        (named("show"), "name", "word of the command line"),
        (
            counts(None, "fn fold(event) {\n  this.x = ;\n}"),
            "fold",
            "line 2, column 12",
        ),
        (
            counts(None, "fn fold(event) { eval(\"1\") }"),
            "fold",
            "line 1",
        ),
        (counts(Some("event."), COUNT), "key", "line 1"),
        (
            counts(None, &format!("{COUNT}//{}", "x".repeat(64 << 10))),
            "fold",
            "at most 65536 bytes",
        ),
        (
            DeclareProjection {
                init: Some(json!("x".repeat(64 << 10))),
                ..base()
            },
            "init",
            "at most 65536 bytes",
        ),
        (
            DeclareProjection {
                filter: Some(EventFilter {
                    tags: vec!["pr".to_owned()],
                    ..EventFilter::default()
                }),
                ..base()
            },
            "tags",
            "NAME=VALUE",
        ),
    ] {
        let refusal = refused(team.declare_projection(declare), Code::InvalidInput);
        assert_eq!(refusal.field.as_deref(), Some(field), "{refusal}");
        assert!(refusal.message.contains(rule), "{refusal}");
    }
    for n in 0..SCRIPTED_MAX {
        team.declare_projection(named(&format!("p{n}"))).unwrap();
    }
    let refusal = refused(team.declare_projection(named("one-more")), Code::TooLarge);
    assert!(refusal.message.contains("at most 50"), "{refusal}");
}

#[test]
fn only_the_leader_declares_and_removes() {
    let (world, mut team) = demo();
    let remove = || given!(RemoveProjection, name: "counts");
    let open = |root: &Root| root.team("demo").unwrap();
    let dev = &as_agent(&world, "dev");
    let refusal = refused(
        open(dev).declare_projection(counts(None, COUNT)),
        Code::LeaderRequired,
    );
    assert!(refusal.message.starts_with("dev cannot"), "{refusal}");
    let lead = &as_agent(&world, "lead");
    open(lead).declare_projection(counts(None, COUNT)).unwrap();
    refused(open(dev).remove_projection(remove()), Code::LeaderRequired);
    // Every agent reads.
    assert_eq!(show(&mut open(dev)).count, 1);
    team.remove_projection(remove()).unwrap();
    team.declare_projection(counts(None, COUNT)).unwrap();
    open(lead).remove_projection(remove()).unwrap();
}

#[test]
fn claim_tokens_and_stored_answers_never_reach_a_script() {
    let (_world, mut team) = demo();
    let all = DeclareProjection {
        filter: None,
        init: Some(json!([])),
        ..counts(
            None,
            "fn fold(event) { if event.kind == \"task_claimed\" || event.kind == \"response_stored\" { this.push(event); } }",
        )
    };
    team.declare_projection(all).unwrap();
    team.task_create(given!(TaskCreate, subject: "one", description: "d"))
        .unwrap();
    let claim = given!(TaskClaim, task_id: "1", worker: "dev");
    team.under(Control {
        key: Some("k-1".to_owned()),
        operation: "claim-task".to_owned(),
        ..Control::default()
    });
    let claimed = team.task_claim(claim).unwrap();
    let token = claimed.claim_token.clone();
    let answer = show(&mut team);
    let text = serde_json::to_string(&answer).unwrap();
    assert!(
        text.contains("task_claimed") && !text.contains("response_stored"),
        "{text}"
    );
    assert!(!text.contains(&*token), "{text}");
    assert!(
        events(&mut team)
            .iter()
            .any(|event| event["kind"] == "response_stored")
    );
}

#[test]
fn another_version_of_the_language_is_shown_and_not_folded() {
    let (world, mut team) = demo();
    team.declare_projection(counts(None, COUNT)).unwrap();
    for (name, language, language_version) in [("newer", "rhai", 2), ("other", "lua", 1)] {
        let declared = ProjectionDeclared {
            name: name.to_owned(),
            language: language.to_owned(),
            language_version,
            fold: "not a script".to_owned(),
            init: "{}".to_owned(),
            key: None,
            filter: None,
        };
        record(&world, ScriptFact::Declared(declared).event("lead"));
    }
    let mut team = world.root.team("demo").unwrap();
    let list = team.projections().unwrap().projections;
    let unsupported: Vec<bool> = list.iter().map(|one| one.unsupported.is_some()).collect();
    assert_eq!(unsupported, [false, true, true]);
    let asked = given!(ShowProjection, name: "newer");
    let answer = team.projection(&asked).unwrap();
    let why = answer.projection.unsupported.unwrap();
    assert!(
        why.contains("version 1") && why.contains("rhai, version 2"),
        "{why}"
    );
    assert!(answer.states.is_empty());
    assert_eq!(
        team.test_projection("other").unwrap().status,
        ProjectionTestStatus::Unsupported
    );
    assert!(team.fold_projections(1).unwrap());
    while team.fold_projections(1000).unwrap() {}
    built(&mut team, "ci", "{}");
    assert_eq!(show(&mut team).states[0].state["count"], 1);
}

/// Appends an event directly to the log.
fn record(world: &World, event: NewEvent) {
    let team = world.root.team("demo").unwrap();
    let writer = team.log().lock().unwrap().into_writer(());
    writer.append(vec![event], Durability::Synced).unwrap();
    writer.close().unwrap();
}

#[test]
fn lost_rows_are_folded_again() {
    let (world, mut team) = demo();
    team.declare_projection(counts(Some("event.actor"), COUNT))
        .unwrap();
    for _ in 0..600 {
        built(&mut team, "ci", "{}");
    }
    let answer = show(&mut team);
    assert!(!world.names("projections/script-counts").is_empty());
    let dir = Path::new("teams/demo/projections");
    world.memory.remove_dir_all(dir).unwrap();
    assert_eq!(states(&show(&mut team)), states(&answer));
    assert_eq!(status(&mut team), ProjectionTestStatus::Equal);
}
