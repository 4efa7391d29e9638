//! Tests of tool calls in the forms of common agents.

#![allow(clippy::unwrap_used, reason = "tests")]

use serde_json::json;
use teamlog_guard::{Call, Own, Place, Programs};

fn told(call: &str) -> (Vec<String>, bool) {
    let writes = Call::parse(call)
        .unwrap()
        .writes(&Place::at("/repo"), &Programs::default());
    let paths = writes.paths().map(str::to_owned).collect();
    (paths, !writes.unknown().is_empty())
}

/// Each row has the paths that a call writes, and the call. `?` means an unknown write, `-` means no path.
const FORMS: &str = r#"
/repo/a | {"tool_name":"Write","tool_input":{"file_path":"/repo/a","content":"x"}}
/w/src/a | {"tool_name":"Edit","tool_input":{"file_path":"src/a"},"cwd":"/w"}
/repo/a | {"tool_name":"MultiEdit","tool_input":{"file_path":"a","edits":[]}}
/repo/n.ipynb | {"tool_name":"NotebookEdit","tool_input":{"notebook_path":"n.ipynb"}}
/w/a | {"tool_name":"Bash","tool_input":{"command":"echo x > a"},"cwd":"/w"}
/w/a | {"tool_name":"Monitor","tool_input":{"command":"tail -f log > a","description":"log"},"cwd":"/w"}
? | {"tool_name":"Monitor","tool_input":{"description":"log"}}
? | {"tool_name":"PowerShell","tool_input":{"command":"Get-Date"}}
- | {"tool_name":"Read","tool_input":{"file_path":"a"}}
/repo/a | {"tool_name":"mcp__fs__write_file","tool_input":{"path":"a"}}
/repo/a | {"toolName":"write","input":{"filePath":"a"}}
/repo/a | {"toolName":"bash","input":{"command":"rm a"}}
/w/a | {"tool":"shell","params":{"command":["bash","-lc","rm a"],"workdir":"/w"}}
/repo/a b | {"tool":"shell","params":{"command":["touch","a b"]}}
/repo/a | {"name":"exec_command","arguments":"{\"cmd\":\"rm a\"}"}
/repo/a | {"tool_name":"apply_patch","tool_input":{"input":"*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"}}
/repo/b | {"tool_name":"apply_patch","tool_input":{"command":["apply_patch","*** Begin Patch\n*** Delete File: b\n*** End Patch"]}}
? | {"tool_name":"apply_patch","tool_input":{"input":"nonsense"}}
/repo/a,/repo/c | {"tool_name":"apply_patch","tool_input":{"input":"*** Begin Patch\n*** Add File: a\n+*** Add File: b\n  *** Delete File: c\n*** End Patch"}}
? | {"tool_name":"apply_patch","tool_input":{"input":""}}
? | {"tool_name":"apply_patch","tool_input":{"input":"*** Begin Patch\n*** End Patch"}}
? | {"tool_name":"apply_patch","tool_input":{"input":"*** Update File: a"}}
? | {"tool_name":"apply_patch","tool_input":{"input":"*** Begin Patch\n*** Add File:  \n*** End Patch"}}
? | {"tool_name":"apply_patch","tool_input":{"input":"--- a\n+++ b\n@@ -1 +1 @@"}}
/repo/a | {"tool":"shell","params":{"command":["apply_patch","*** Begin Patch\n*** Add File: a\n+((({{{\n*** End Patch"]}}
/repo/d/a,/repo/d/b | {"tool":"shell","params":{"command":["bash","-lc","cd d && apply_patch <<'E'\n*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** End Patch\nE"]}}
- | {"name":"str_replace_based_edit_tool","arguments":{"command":"view","path":"a"}}
/repo/a | {"name":"str_replace_based_edit_tool","arguments":{"command":"create","path":"a"}}
? | {"tool_name":"Write","tool_input":{}}
? | {"tool_name":"Bash","tool_input":{}}
? | {"tool_name":"Bash","tool_input":{"command":[1]}}
? | {"tool_name":"Frobnicate","tool_input":{}}
"#;

#[test]
fn each_form_is_read() {
    let rows: Vec<&str> = FORMS.lines().skip(1).collect();
    assert_eq!(rows.len(), 32);
    for row in rows {
        let (expected, call) = row.split_once(" | ").unwrap();
        let (mut written, unknown) = told(call);
        written.extend(unknown.then(|| "?".to_owned()));
        let written = written.join(",");
        let expected = expected.trim_matches('-');
        assert_eq!(written, expected, "{call}");
    }
}

#[test]
fn what_is_written_may_open_as_many_brackets_as_it_likes() {
    let text = "+([{`".repeat(300);
    let patch = format!("*** Begin Patch\n*** Add File: a\n{text}\n*** End Patch");
    for (command, unknown) in [
        (json!(["apply_patch", patch]), false),
        (json!(format!("apply_patch <<'E'\n{patch}\nE")), false),
        (
            json!(["bash", "-lc", format!("apply_patch <<\"E\"\n{patch}\nE\n")]),
            false,
        ),
        (json!(format!("cat > a <<-'E'\n{text}\n\tE\nls")), false),
        // The shell parses the text in the next two commands, so the brackets of the text count.
        (json!(format!("cat > a <<E\n{text}\nE")), true),
        (json!(format!("cat > a <<'E'\nE\necho {text}")), true),
    ] {
        let call = json!({"tool": "shell", "params": {"command": command}});
        let (paths, found) = told(&call.to_string());
        assert_eq!(found, unknown, "{command}");
        assert!(unknown || paths == ["/repo/a"], "{command}: {paths:?}");
    }
}

#[test]
fn what_is_no_call_says_why() {
    for (text, why) in [
        ("", "must be JSON"),
        ("[]", "must be a JSON object"),
        ("{}", "must name its tool"),
        (r#"{"tool_name":""}"#, "must name its tool"),
        (r#"{"tool_name":5}"#, "must name its tool"),
    ] {
        let error = Call::parse(text).unwrap_err().to_string();
        assert!(error.contains(why), "{text}: {error}");
    }
}

#[test]
fn a_tool_of_another_server_is_known_by_its_full_name() {
    for (tool, unknown) in [
        ("mcp__teamlog__state_write", false),
        ("mcp__github__get_issue", false),
        ("mcp__github__search_code", false),
        ("mcp__github__create_issue", true),
        ("mcp__github__get_all", true),
        ("mcp__fs__getter_of_all", true),
        ("mcp__fs__move_file", true),
        ("mcp__x__search_and_replace", true),
        ("mcp__x__read_write_file", true),
        ("mcp__x__get_design_context", true),
        ("mcp__x__read", true),
        ("mcp__x__list", true),
        ("mcp__x__bash", true),
        ("x__read", true),
        ("get_issue", true),
    ] {
        let call = json!({"tool_name": tool, "tool_input": {"x": 1}}).to_string();
        assert_eq!(told(&call), (vec![], unknown), "{tool}");
    }
}

#[test]
fn a_tool_that_reads_is_not_given_a_place_and_what_to_write_there() {
    for (input, unknown) in [
        (json!({"path": "a"}), false),
        (json!({"owner": "a", "repo": "b", "path": "c"}), false),
        (json!({"path": "a", "content": "x"}), true),
        (json!({"filePath": "a", "newText": "x"}), true),
        (json!({"dirForAssetWrites": "a"}), true),
        (json!({"output_dir": "a"}), true),
        (json!({"savePath": "a"}), true),
    ] {
        let call = json!({"tool_name": "mcp__github__get_file_contents", "tool_input": input});
        assert_eq!(told(&call.to_string()).1, unknown, "{call}");
    }
}

#[test]
fn a_team_may_trust_a_tool_of_another_server() {
    let call = r#"{"tool_name":"mcp__x__look","tool_input":{}}"#;
    let programs = Programs::trusting(Own::default(), "make, mcp__x__look");
    let call = Call::parse(call).unwrap();
    assert!(call.writes(&Place::at("/repo"), &programs).is_nothing());
    let call = Call::parse(r#"{"tool_name":"mcp__x__look_too","tool_input":{}}"#).unwrap();
    assert!(!call.writes(&Place::at("/repo"), &programs).is_nothing());
}

/// Calls that name the tool or a value in two fields. The rows have the same columns as the rows of `FORMS`.
const TWICE: &str = r#"
? | {"tool_name":"Read","toolName":"write","input":{"filePath":"a"},"tool_input":{}}
? | {"tool_name":"Read","tool":"bash","tool_input":{"command":"ls"}}
? | {"tool_name":"Read","name":"write","tool_input":{},"arguments":{}}
/repo/a,? | {"tool_name":"Write","tool_input":{"file_path":"a"},"input":{"file_path":"b"}}
/repo/a,? | {"tool_name":"Write","tool_input":{"command":"view","file_path":"a","content":"x"}}
/repo/a,? | {"tool_name":"Edit","tool_input":{"command":"view","path":"a","new_str":"x"}}
- | {"name":"str_replace_editor","arguments":{"command":"view","path":"a","view_range":[1,2]}}
? | {"tool_name":"Bash","tool_input":{"command":"ls","cmd":"rm a"}}
? | {"tool_name":"Bash","tool_input":{"command":"ls","script":"rm a"}}
? | {"tool_name":"Bash","tool_input":{"command":"rm a","cwd":"/w","workdir":"/v"}}
? | {"tool_name":"apply_patch","tool_input":{"input":"x","patch":"*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"}}
/repo/a,? | {"tool_name":"mcp__x__write_file","tool_input":{"path":"a","content":"x"}}
/w/a | {"tool":"shell","params":{"command":["rm","a"],"workdir":"/w"},"cwd":"/v"}
/v/w/a | {"tool":"shell","params":{"command":["rm","a"],"workdir":"w"},"cwd":"/v"}
"#;

#[test]
fn what_is_said_twice_is_asked() {
    for row in TWICE.lines().skip(1) {
        let (expected, call) = row.split_once(" | ").unwrap();
        let (mut written, unknown) = told(call);
        written.extend(unknown.then(|| "?".to_owned()));
        assert_eq!(written.join(","), expected.trim_matches('-'), "{call}");
    }
}

#[test]
fn a_field_that_is_named_twice_is_refused() {
    for call in [
        r#"{"tool_name":"Read","tool_name":"Write","tool_input":{"file_path":"a"}}"#,
        r#"{"tool_name":"Write","tool_input":{"file_path":"a","file_path":"b"}}"#,
        r#"{"tool_name":"Edit","tool_input":{"file_path":"a","edits":[{"x":1,"x":2}]}}"#,
        r#"{"name":"bash","arguments":"{\"cmd\":\"ls\",\"cmd\":\"rm a\"}"}"#,
        r#"{"tool_name":"Read","tool\u005fname":"Write","tool_input":{}}"#,
    ] {
        let error = Call::parse(call).unwrap_err().to_string();
        assert!(error.contains("named twice"), "{call}: {error}");
    }
}

/// Returns the entry of `guard.known` for each unknown write of a shell command.
fn entries(command: &str, known: &str) -> Vec<Option<String>> {
    let programs = Programs::trusting(Own::default(), known);
    let writes = teamlog_guard::shell::writes(command, &Place::at("/repo"), &programs);
    let unknown = writes.unknown().iter();
    unknown.map(|part| part.entry.clone()).collect()
}

#[test]
fn a_doubt_names_the_entry_that_settles_it() {
    for (command, entry) in [
        ("cargo test -p io --lib", Some("cargo test")),
        ("pytest -q tests/a.py", Some("pytest")),
        ("./ci/check --all", Some("./ci/check")),
        ("npm test", Some("npm test")),
        ("npm run build -- --x", Some("npm run build")),
        ("make", Some("make")),
        ("make -s test", Some("make -s test")),
        ("python3 -m pytest tests", Some("python3 -m pytest")),
        ("python3", None),
        ("node $SCRIPT", None),
        ("node build.js --watch", Some("node build.js")),
        ("node --loader x y.js", Some("node --loader x y.js")),
        ("make -C other test", Some("make -C other test")),
        ("poetry run pytest -q", Some("poetry run pytest")),
        ("cargo +nightly test", None),
    ] {
        let found = entries(command, "");
        assert_eq!(found, [entry.map(str::to_owned)], "{command}");
        if let Some(entry) = entry {
            assert_eq!(entries(command, entry), [], "{command}");
        }
    }
    assert_eq!(entries("echo $(date > $x)", ""), [None]);
}

#[test]
fn a_trusted_program_is_asked_about_where_it_rewrites_files() {
    for (command, known, asks) in [
        ("cargo clippy --workspace", "cargo clippy", false),
        ("cargo clippy --fix --lib", "cargo clippy", true),
        ("cargo clippy --fix --lib", "cargo clippy --fix", false),
        ("npm run lint -- --fix=true", "npm run lint", true),
    ] {
        assert_eq!(!entries(command, known).is_empty(), asks, "{command}");
    }
}
