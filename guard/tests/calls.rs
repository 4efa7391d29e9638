//! Tool calls in the forms of the common agents.

#![allow(clippy::unwrap_used, reason = "tests")]

use serde_json::json;
use teamlog_guard::{Call, Place, Programs};

fn told(call: &str) -> (Vec<String>, bool) {
    let writes = Call::parse(call)
        .unwrap()
        .writes(&Place::at("/repo"), &Programs::default());
    let paths = writes.paths().map(str::to_owned).collect();
    (paths, !writes.doubts().is_empty())
}

/// What a call writes, and the call; `?` stands for a doubt, `-` for nothing.
const FORMS: &str = r#"
/repo/a | {"tool_name":"Write","tool_input":{"file_path":"/repo/a","content":"x"}}
/w/src/a | {"tool_name":"Edit","tool_input":{"file_path":"src/a"},"cwd":"/w"}
/repo/a | {"tool_name":"MultiEdit","tool_input":{"file_path":"a","edits":[]}}
/repo/n.ipynb | {"tool_name":"NotebookEdit","tool_input":{"notebook_path":"n.ipynb"}}
/w/a | {"tool_name":"Bash","tool_input":{"command":"echo x > a"},"cwd":"/w"}
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
    assert_eq!(rows.len(), 29);
    for row in rows {
        let (expected, call) = row.split_once(" | ").unwrap();
        let (mut written, doubt) = told(call);
        written.extend(doubt.then(|| "?".to_owned()));
        let written = written.join(",");
        let expected = expected.trim_matches('-');
        assert_eq!(written, expected, "{call}");
    }
}

#[test]
fn what_is_written_may_open_as_many_brackets_as_it_likes() {
    let text = "+([{`".repeat(300);
    let patch = format!("*** Begin Patch\n*** Add File: a\n{text}\n*** End Patch");
    for (command, doubt) in [
        (json!(["apply_patch", patch]), false),
        (json!(format!("apply_patch <<'E'\n{patch}\nE")), false),
        (
            json!(["bash", "-lc", format!("apply_patch <<\"E\"\n{patch}\nE\n")]),
            false,
        ),
        (json!(format!("cat > a <<-'E'\n{text}\n\tE\nls")), false),
        // Where the shell reads it, it counts.
        (json!(format!("cat > a <<E\n{text}\nE")), true),
        (json!(format!("cat > a <<'E'\nE\necho {text}")), true),
    ] {
        let call = json!({"tool": "shell", "params": {"command": command}});
        let (paths, doubts) = told(&call.to_string());
        assert_eq!(doubts, doubt, "{command}");
        assert!(doubt || paths == ["/repo/a"], "{command}: {paths:?}");
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
fn a_tool_of_another_server_is_known_by_its_name() {
    for (tool, doubt) in [
        ("mcp__teamlog__state_write", false),
        ("mcp__github__get_issue", false),
        ("mcp__github__search-code", false),
        ("mcp__github__create_issue", true),
        ("mcp__fs__getter_of_all", true),
        ("mcp__fs__move_file", true),
        ("get_issue", true),
    ] {
        let call = json!({"tool_name": tool, "tool_input": {"x": 1}}).to_string();
        assert_eq!(told(&call), (vec![], doubt), "{tool}");
    }
}
