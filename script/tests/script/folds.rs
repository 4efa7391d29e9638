//! Folds and keys.

use teamlog_script::{EventView, FoldError, Script, Source};

pub fn script(fold: &str, init: &str, key: Option<&str>) -> Script {
    Script::compile(&Source { fold, init, key }).unwrap()
}

pub fn event(kind: &'static str, payload: &'static str) -> EventView<'static> {
    EventView {
        seq: 1,
        kind,
        actor: "dev",
        at: "2026-11-29T19:00:00.000000Z",
        at_ms: 1000,
        task: Some("7"),
        payload,
        ..EventView::default()
    }
}

pub fn fold(script: &Script, event: &EventView<'_>, state: &str) -> Result<String, FoldError> {
    let folding = script.begin(event)?.expect("a key");
    let state = script.fold(folding, Some(state.as_bytes()))?;
    Ok(String::from_utf8(state).unwrap())
}

/// Folds one event with a body of `fold`, and returns the state.
fn body(body: &str) -> Result<String, FoldError> {
    let script = script(&format!("fn fold(event) {{ {body} }}"), "{}", None);
    let payload = r#"{"n":2,"big":18446744073709551615,"f":1.5,"text":"Grüße","list":[1,[2]],"none":null,"token":"s","in":{"token":"s","a":1}}"#;
    let event = EventView {
        tags: &["pr=77".to_owned()],
        hidden: &["token"],
        ..event("seen", payload)
    };
    fold(&script, &event, "{}")
}

#[test]
fn a_fold_sees_every_field_and_changes_the_state() {
    for (source, state) in [
        ("this.n = event.payload.n + 1", r#"{"n":3}"#),
        ("this.f = event.payload.f * 2", r#"{"f":3.0}"#),
        ("this.t = event.payload.text", r#"{"t":"Grüße"}"#),
        ("this.l = event.payload.list[1][0]", r#"{"l":2}"#),
        ("this.x = event.payload.none == ()", r#"{"x":true}"#),
        ("this.x = event.payload.absent == ()", r#"{"x":true}"#),
        (
            "this.k = [event.kind, event.actor, event.task, event.trace]",
            r#"{"k":["seen","dev","7",null]}"#,
        ),
        (
            "this.s = [event.seq, event.at_ms, event.tags]",
            r#"{"s":[1,1000,["pr=77"]]}"#,
        ),
        (
            "this.at = event.at",
            r#"{"at":"2026-11-29T19:00:00.000000Z"}"#,
        ),
        ("this.big = event.payload.big > 1e19", r#"{"big":true}"#),
        // Hidden members are absent at any depth, also if the whole payload is read.
        (
            "this.p = event.payload[\"in\"]; this.t = event.payload.token",
            r#"{"p":{"a":1},"t":null}"#,
        ),
        ("this = 5", "5"),
        ("this[\"a b\"] = 'c'", r#"{"a b":"c"}"#),
        (
            "let l = [3,1,2]; l.sort(); this.l = l.filter(|x| x > 1).map(|x| x * 2)",
            r#"{"l":[4,6]}"#,
        ),
        ("this.u = \"straße Ä\".to_upper()", r#"{"u":"STRAßE Ä"}"#),
        (
            "this.i = 7.9.to_int(); this.j = parse_int(\"x\"); this.k = min(2, 1)",
            r#"{"i":7,"j":null,"k":1}"#,
        ),
    ] {
        assert_eq!(body(source).unwrap(), state, "{source}");
    }
}

#[test]
fn helpers_may_get_the_whole_event() {
    let script = script(
        "fn fold(event) { this.kind = kind_of(event); }\nfn kind_of(some) { some[\"kind\"] }",
        "{}",
        None,
    );
    assert_eq!(
        fold(&script, &event("seen", "{}"), "{}").unwrap(),
        r#"{"kind":"seen"}"#
    );
}

#[test]
fn keys_select_states_and_skip_events() {
    let seen = event("seen", r#"{"n":5,"u":"schlüssel 🗝"}"#);
    let payload = format!(
        r#"{{"n":5,"u":"schlüssel 🗝","long":"{}"}}"#,
        "x".repeat(307)
    );
    let seen = EventView {
        payload: &payload,
        ..seen
    };
    for (key, wanted) in [
        ("event.actor", Some("dev")),
        ("event.task", Some("7")),
        ("event.trace", None),
        ("event.payload.n", Some("5")),
        ("event.payload.u", Some("schlüssel 🗝")),
        ("event.payload.absent", None),
        ("event.kind + \"/\" + event.payload.n", Some("seen/5")),
        (
            "if event.kind == \"seen\" { event.actor } else { () }",
            Some("dev"),
        ),
    ] {
        let script = script("fn fold(event) { }", "0", Some(key));
        let folding = script.begin(&seen).unwrap();
        assert_eq!(
            folding.as_ref().map(|folding| folding.key()),
            wanted,
            "{key}"
        );
    }
    for (key, rule) in [
        ("event.payload", "must give a text"),
        ("\"\"", "1 to 256 bytes"),
        ("event.payload.u + event.payload.long", "but gave 322 bytes"),
        ("1.5", "but gave f64"),
        ("event.payload.n / 0", "zero"),
    ] {
        let source = Source {
            fold: "fn fold(event) { }",
            init: "0",
            key: Some(key),
        };
        match Script::compile(&source) {
            Ok(script) => {
                let error = script.begin(&seen).unwrap_err();
                assert!(
                    error.field == "key" && error.to_string().contains(rule),
                    "{key}: {error}"
                );
            }
            Err(error) => assert!(rule.is_empty(), "{key}: {error}"),
        }
    }
}

#[test]
fn a_source_that_breaks_a_rule_is_refused_with_line_and_column() {
    let fold = "fn fold(event) {}";
    for (source, init, key, error) in [
        (
            "fn fold(event) {\n  this.x = ;\n}",
            "0",
            None,
            "fold, line 2, column 12: ",
        ),
        (
            "fn fold(other) {}",
            "0",
            None,
            "fold: must define fn fold(event)",
        ),
        ("", "0", None, "fold: must define fn fold(event)"),
        (
            "fn fold(event) {}\nlet x = 1;",
            "0",
            None,
            "fold, line 2, column 1: must hold functions only",
        ),
        (
            "fn fold(event) { eval(\"1\") }",
            "0",
            None,
            "fold, line 1, column 18: ",
        ),
        (
            "fn fold(event) { print(\"1\") }",
            "0",
            None,
            "fold, line 1, column 18: ",
        ),
        ("fn fold(event) { import \"x\" }", "0", None, "fold, line 1"),
        ("fn fold(event) { 2.0 ** 0.5 }", "0", None, "fold, line 1"),
        (
            "fn fold(event) { unknown + 1 }",
            "0",
            None,
            "fold, line 1, column 18: Undefined variable: unknown",
        ),
        (fold, "{", None, "init, line 1, column 1: must be JSON"),
        (fold, "{} x", None, "init, line 1, column 4: must be JSON"),
        (fold, "0", Some("event."), "key, line 1"),
        (fold, "0", Some("let x = 1; x"), "key, line 1"),
        (
            fold,
            "0",
            Some("other.kind"),
            "key, line 1, column 1: Undefined variable: other",
        ),
        (fold, "0", Some(""), "key"),
    ] {
        let refused = Script::compile(&Source {
            fold: source,
            init,
            key,
        })
        .unwrap_err()
        .to_string();
        assert!(
            refused.starts_with(error),
            "{source} {init} {key:?}: {refused}"
        );
    }
    let long = format!("fn fold(event) {{}} // {}", "x".repeat(64 << 10));
    let refused = Script::compile(&Source {
        fold: &long,
        init: "0",
        key: None,
    })
    .unwrap_err();
    assert!(refused.message.contains("at most 65536 bytes"), "{refused}");
}

#[test]
fn an_error_names_its_line() {
    let script = script(
        "fn fold(event) {\n  this.n += 1;\n  helper()\n}\nfn helper() {\n\n  throw \"broken (line 9, position 1)\" }",
        "{}",
        None,
    );
    let error = fold(&script, &event("seen", "{}"), r#"{"n":1}"#).unwrap_err();
    assert_eq!((error.field, error.line), ("fold", Some(7)), "{error}");
    assert!(error.message.contains("broken"), "{error}");
    // An unknown function is found when it is called.
    for call in [
        "sleep(1)",
        "timestamp()",
        "exit()",
        "parse_json(\"1\")",
        "rand()",
        "blob(9)",
        "1.0.sin()",
    ] {
        let error = body(call).unwrap_err();
        assert!(
            error.message.contains("Function not found"),
            "{call}: {error}"
        );
    }
}

#[test]
fn a_state_is_json() {
    for (source, rule) in [
        (
            "this.a = #{ b: [1, 0.0/0.0] }",
            "this.a.b[1] must be a finite number",
        ),
        ("this.f = Fn(\"fold\")", "this.f must be a number, text"),
        ("this.f = |x| x", "this.f must be a number, text"),
        ("this.r = 1..2", "this.r must be a number, text"),
    ] {
        let error = body(source).unwrap_err();
        assert!(error.message.contains(rule), "{source}: {error}");
    }
}
