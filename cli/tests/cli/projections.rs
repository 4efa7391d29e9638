//! Scripted projections from the command line: tables, errors, and the daemon.

use crate::daemon::Daemon;
use crate::prelude::*;

const BUILDS: &str = "fn fold(event) { this.builds += 1; this.last = event.payload.job; }";

/// Declares the projection `builds`, and records three events.
fn declared(cli: &Cli) {
    cli.file("builds.rhai", BUILDS);
    cli.ok("project demo builds --init '{\"builds\":0}' --fold builds.rhai --key event.actor --kind build_finished");
    for (actor, job) in [("ci", "a"), ("ci", "b"), ("nightly", "c")] {
        cli.ok(&format!(
            "append demo --kind build_finished --actor {actor} --data '{{\"job\":\"{job}\"}}'"
        ));
    }
}

fn states(cli: &Cli, words: &str) -> Value {
    let answer: Value = parse(&cli.ok(&format!("project show demo builds {words} --json")));
    answer["states"].clone()
}

#[test]
fn a_projection_is_a_table_with_a_row_per_key() {
    let cli = Cli::with_team();
    declared(&cli);
    let shown = cli.ok("project show demo builds");
    let table: Vec<Vec<&str>> = shown
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert!(table.contains(&vec!["builds", "last"]), "{shown}");
    assert!(table.contains(&vec!["ci", "2", "b"]), "{shown}");
    assert!(table.contains(&vec!["nightly", "1", "c"]), "{shown}");
    let one = json!([{"key": "ci", "state": {"builds": 2, "last": "b"}}]);
    assert_eq!(states(&cli, "ci"), one);
    let last: Value = parse(&cli.ok("project list demo --json"));
    let seq = last["projections"][0]["seq"].as_u64().unwrap();
    assert_eq!(
        states(&cli, &format!("ci --at {}", seq - 2))[0]["state"]["builds"],
        1
    );
    assert!(cli.ok("project test demo builds").contains("equal"));
    // The only team is found without its name.
    assert_eq!(cli.ok("project show builds"), shown);
    assert_eq!(
        cli.ok("project show builds ci"),
        cli.ok("project show demo builds ci")
    );
    assert!(cli.ok("project builds --init '{\"builds\":0}' --fold builds.rhai --key event.actor --kind build_finished").contains("nothing was recorded"));
    assert!(cli.ok("project remove builds").contains("removed"));
    let ran = cli.run("project show demo builds");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("no projection \"builds\""), "{ran:?}");
}

#[test]
fn errors_name_field_place_and_rule() {
    let cli = Cli::with_team();
    cli.file("bad.rhai", "fn fold(event) {\n  this.x = ;\n}");
    cli.file("good.rhai", BUILDS);
    for (words, code, text) in [
        (
            "project demo builds --fold bad.rhai",
            1,
            "fold, line 2, column 12",
        ),
        ("project demo builds --fold missing.rhai", 1, "missing.rhai"),
        (
            "project demo builds --fold good.rhai --init '{'",
            2,
            "must be JSON",
        ),
        (
            "project demo builds --fold good.rhai --key 'event.'",
            1,
            "key, line 1",
        ),
        (
            "project demo show2/x --fold good.rhai",
            1,
            "name must match",
        ),
        ("project demo builds", 2, "--fold"),
        (
            "project demo builds --fold good.rhai --as dev",
            1,
            "dev cannot declare",
        ),
    ] {
        let ran = cli.run(words);
        assert_eq!(ran.code, Some(code), "{words}: {ran:?}");
        assert!(ran.stderr.contains(text), "{words}: {ran:?}");
    }
    cli.file(
        "stops.rhai",
        "fn fold(event) {\n  this.x = 1 / event.payload.n;\n}",
    );
    cli.ok("project demo stops --fold stops.rhai --kind counted");
    cli.ok("append demo --kind counted --actor ci --data '{\"n\":0}'");
    let shown = cli.ok("project show demo stops");
    assert!(
        shown.contains("stopped at event") && shown.contains("line 2"),
        "{shown}"
    );
    assert!(cli.ok("project list demo").contains("stopped at event"));
    assert_eq!(cli.run("project test demo stops").code, Some(1));
}

#[test]
fn a_daemon_folds_in_the_background_and_answers_over_http() {
    let cli = Cli::with_team();
    declared(&cli);
    let daemon = Daemon::of(&cli);
    let rows = cli.dir().join("teams/demo/projections/script-builds");
    for n in 0..300 {
        cli.ok(&format!(
            "append demo --kind build_finished --actor ci --data '{{\"job\":\"{n}\"}}'"
        ));
    }
    until("the daemon wrote rows", || rows.exists());
    let runtime = std::fs::read_to_string(cli.dir().join("teams/demo/runtime.json")).unwrap();
    let runtime: Value = parse(&runtime);
    let token = runtime["token"].as_str().unwrap();
    let (status, _, body) = daemon.ask(token, "GET", "/v1/projections/builds?key=ci", "");
    assert_eq!(
        (status, &body["states"][0]["state"]["builds"]),
        (200, &json!(302)),
        "{body}"
    );
    let (status, _, body) = daemon.ask(token, "GET", "/v1/projections", "");
    assert_eq!((status, &body["count"]), (200, &json!(1)), "{body}");
    let (status, _, body) = daemon.ask(token, "GET", "/v1/projections/nope", "");
    assert_eq!(status, 404, "{body}");
    assert_eq!(states(&cli, "ci")[0]["state"]["builds"], 302);
    assert!(cli.ok("project test demo builds").contains("equal"));
}

#[test]
fn a_log_that_was_cut_still_has_its_projections() {
    let cli = Cli::with_team();
    declared(&cli);
    let last: Value = parse(&cli.ok("project list demo --json"));
    let seq = last["projections"][0]["seq"].as_u64().unwrap();
    cli.ok(&format!("doctor repair demo --to {} --yes", seq - 1));
    let list: Value = parse(&cli.ok("project list demo --json"));
    assert_eq!(list["projections"][0]["name"], "builds");
    assert_eq!(states(&cli, "").as_array().unwrap().len(), 1);
    cli.ok("project demo more --fold builds.rhai");
    // A projection without keys has no state of a key.
    let refused = cli.refused_json(1, "project show demo more ci");
    assert_eq!(
        (&*refused.code, refused.field.as_deref()),
        ("invalid_input", Some("key"))
    );
}
