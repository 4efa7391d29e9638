//! `dashboard`: the daemon that it starts, the code in its URL, and its answers to a browser.

use crate::daemon::ask;
use crate::prelude::*;
use serde_json::json;
use std::os::unix::fs::PermissionsExt;

/// A world whose daemon is stopped on drop, even if `dashboard` started the daemon.
struct Page(Cli);

impl Drop for Page {
    fn drop(&mut self) {
        self.0.run("serve --stop");
    }
}

impl Page {
    fn of(teams: &[&str]) -> Page {
        let cli = Cli::new();
        for team in teams {
            cli.ok(&format!("init {team}"));
        }
        Page(cli)
    }

    /// Runs `dashboard --print`. Returns its answer and the code in its URL.
    fn printed(&self, words: &str) -> (Value, String) {
        let opened: Value = self.0.json(&format!("dashboard --print {words}"));
        let (_, code) = opened["url"]
            .as_str()
            .unwrap()
            .split_once("/#code=")
            .unwrap();
        let code = code.to_owned();
        (opened, code)
    }

    /// Trades a code for a page session.
    fn session(&self, code: &str) -> String {
        let (status, head, body) = self.ask(code, "POST", "/v1/session");
        assert_eq!(status, 201, "{head}{body}");
        body["session"].as_str().unwrap().to_owned()
    }

    fn ask(&self, bearer: &str, method: &str, target: &str) -> (u16, String, Value) {
        let served: Value = self.0.json("serve --status");
        ask(served["url"].as_str().unwrap(), bearer, method, target, "")
    }

    fn status(&self, bearer: &str, target: &str) -> u16 {
        self.ask(bearer, "GET", target).0
    }
}

#[test]
fn a_daemon_is_started_in_a_session_of_its_own_and_found_the_next_time() {
    let page = Page::of(&["demo"]);
    let (opened, code) = page.printed("");
    let log = page.0.dir().canonicalize().unwrap().join("teamd/serve.log");
    assert_eq!(opened["started_daemon"], true);
    assert_eq!(opened["daemon_log"], log.display().to_string());
    assert_eq!(
        (&opened["team"], &opened["scope"]),
        (&json!("demo"), &json!("read"))
    );
    let mode = std::fs::metadata(&log).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    // The daemon answers requests before it writes `serving at` to its log.
    until("the log says that it serves", || {
        let told = std::fs::read_to_string(&log).unwrap();
        told.contains("serving at")
    });
    let served: Value = page.0.json("serve --status");
    let pid = served["pid"].as_u64().unwrap();
    // After the name in parentheses, the fields are state, parent, group and session.
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    assert_eq!(fields.split(' ').nth(3), Some(&*pid.to_string()), "{stat}");
    let (again, other) = page.printed("--act");
    assert_eq!(again["started_daemon"], false);
    assert_eq!(again.get("daemon_log"), None);
    assert_eq!(again["scope"], "act");
    assert_ne!(code, other);
    let said = page.0.ok("dashboard --print");
    assert!(
        said.starts_with("http://127.0.0.1:") && said.lines().count() == 1,
        "{said}"
    );
    for secret in [&code, &other] {
        assert!(
            !std::fs::read_to_string(&log)
                .unwrap()
                .contains(secret.as_str())
        );
    }
}

#[test]
fn a_page_session_ends_with_its_daemon_and_with_the_token_that_it_is_for() {
    let page = Page::of(&["demo"]);
    let session = page.session(&page.printed("").1);
    assert_eq!(page.status(&session, "/v1/tasks"), 200);
    let (status, _, refused) = page.ask(&session, "POST", "/v1/tasks");
    assert_eq!(
        (status, &refused["error"]["details"]["hint"]),
        (403, &json!("teamlog dashboard --act"))
    );
    page.0.ok("token rotate demo");
    assert_eq!(page.status(&session, "/v1/tasks"), 401);
    let (session, left) = (page.session(&page.printed("").1), page.printed("").1);
    page.0.ok("serve --stop");
    let (opened, code) = page.printed("");
    assert_eq!(opened["started_daemon"], true);
    assert_eq!(page.status(&session, "/v1/tasks"), 401);
    assert_eq!(page.ask(&left, "POST", "/v1/session").0, 401);
    assert_eq!(page.status(&page.session(&code), "/v1/tasks"), 200);
}

#[test]
fn where_there_are_several_teams_the_page_shows_them_all() {
    let page = Page::of(&["demo", "other"]);
    let (opened, code) = page.printed("");
    assert_eq!(opened["team"], Value::Null);
    let session = page.session(&code);
    let (status, _, told) = page.ask(&session, "GET", "/v1/root/teams");
    assert_eq!((status, &told["count"]), (200, &json!(2)));
    assert_eq!(page.status(&session, "/v1/tasks"), 400);
    assert_eq!(page.status(&session, "/v1/tasks?teamId=other"), 200);
    let (opened, code) = page.printed("--team other");
    assert_eq!(opened["team"], "other");
    let other = page.session(&code);
    assert_eq!(page.status(&other, "/v1/root/teams"), 403);
    page.0.ok("token rotate other");
    assert_eq!(page.status(&other, "/v1/tasks"), 401);
    assert_eq!(page.status(&session, "/v1/root/teams"), 200);
    let path = page.0.dir().join("runtime.json");
    let token = || -> String {
        let runtime: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        runtime["token"].as_str().unwrap().to_owned()
    };
    let before = token();
    assert_eq!(page.status(&before, "/v1/root/teams"), 200);
    let rotated: Value = page.0.json("token rotate --root");
    assert_eq!(
        rotated,
        json!({"team": null, "file": path.display().to_string()})
    );
    for gone in [&session, &before] {
        assert_eq!(page.status(gone, "/v1/root/teams"), 401);
    }
    assert_eq!(page.status(&token(), "/v1/root/teams"), 200);
}

#[test]
fn a_browser_is_given_a_file_and_nothing_that_others_can_read() {
    let page = Page::of(&["demo"]);
    let bin = page.0.dir().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let browser = page.0.file(
        "bin/xdg-open",
        "#!/bin/sh\nstat -c '%a' \"$1\" \"${1%/*}\" > \"$HOME/modes\"\ncp \"$1\" \"$HOME/given.html\"\n\
         tr '\\0' ' ' < /proc/$$/cmdline > \"$HOME/argv.new\"\nmv \"$HOME/argv.new\" \"$HOME/argv\"\n",
    );
    std::fs::set_permissions(&browser, PermissionsExt::from_mode(0o755)).unwrap();
    let run = |words: &str| {
        let path = format!("{}:/usr/bin:/bin", bin.display());
        let mut command = page.0.command(words);
        let ran = Ran::of(command.env("PATH", path).env("DISPLAY", ":7"));
        assert_eq!(ran.code, Some(0), "{ran:?}");
        serde_json::from_str::<Value>(&ran.stdout).unwrap()
    };
    let opened = run("dashboard --json");
    assert_eq!(opened["browser"], "xdg-open");
    let url = opened["url"].as_str().unwrap();
    assert!(!url.contains('#'), "{url}");
    let argv = page.0.dir().join("argv");
    until("a browser ran", || argv.exists());
    let given = std::fs::read_to_string(page.0.dir().join("given.html")).unwrap();
    let (_, code) = given.split_once(&format!("0; url={url}/#code=")).unwrap();
    let code = &code[..64];
    assert!(code.bytes().all(|byte| byte.is_ascii_hexdigit()), "{given}");
    assert!(!std::fs::read_to_string(argv).unwrap().contains(code));
    let modes = std::fs::read_to_string(page.0.dir().join("modes")).unwrap();
    assert_eq!(modes, "600\n700\n");
    page.session(code);
    // With --print no browser is opened.
    let printed = run("dashboard --print --json");
    assert_eq!(printed.get("browser"), None);
    assert!(printed["url"].as_str().unwrap().contains("/#code="));
}

#[test]
fn what_cannot_be_shown_is_refused_and_starts_nothing() {
    let page = Page::of(&["demo"]);
    assert_eq!(
        page.0.refused_json(1, "dashboard --team nobody").code,
        "team_not_found"
    );
    assert_eq!(
        page.0.refused_json(69, "serve --status").code,
        "daemon_not_running"
    );
    // The daemon creates no socket in a directory that other users can enter.
    let teamd = page.0.dir().join("teamd");
    let _ = std::fs::create_dir(&teamd);
    std::fs::set_permissions(&teamd, PermissionsExt::from_mode(0o755)).unwrap();
    assert_eq!(
        page.0.refused_json(1, "dashboard --print").code,
        "invalid_input"
    );
    assert_eq!(
        page.0.refused_json(69, "token rotate --root").code,
        "daemon_not_running"
    );
}
