//! Scripts that run too long, recurse too deep or grow too large. A test thread has a stack of 2 MiB.

use crate::folds::{event, fold};
use teamlog_script::{Script, Source};

fn error(source: &str) -> String {
    let script = match Script::compile(&Source {
        fold: source,
        init: "{}",
        key: None,
    }) {
        Ok(script) => script,
        Err(error) => return error.to_string(),
    };
    let event = event("seen", "{\"a\":[[[[1]]]]}");
    fold(&script, &event, "{}").map_or_else(
        |error| error.to_string(),
        |state| format!("state of {} bytes", state.len()),
    )
}

#[test]
fn a_fold_ends_with_an_error() {
    for (body, rule) in [
        ("loop {}", "Too many operations"),
        ("while true { this.n = 1; }", "Too many operations"),
        ("for i in range(0, 1000000000000) {}", "Too many operations"),
        ("let s = \"x\"; loop { s += s; }", "too large"),
        ("let s = \"x\"; loop { s = s + s; }", "too large"),
        ("let s = \"x\"; loop { s = `${s}${s}`; }", "too large"),
        ("let s = \"x\"; s.pad(1000000000, 'y')", "too large"),
        ("let a = [1]; loop { a += a; }", "too large"),
        ("let a = [1]; loop { a.push(a); }", "too large"),
        ("let a = []; a.pad(1000000000, 1)", "too large"),
        ("let a = []; loop { a = [a]; }", ""),
        ("let a = []; loop { a = [a, a]; }", ""),
        ("let m = #{}; loop { m = #{a: m, b: m}; }", ""),
        (
            "let m = #{}; loop { let n = #{}; n[\"a\"] = m; m = n; }",
            "",
        ),
        ("let m = #{}; loop { let n = #{}; n.a = m; m = n; }", ""),
        ("let a = [0]; loop { let b = [0]; b[0] = a; a = b; }", ""),
        ("loop { let b = #{}; b.a = this; this = b; }", ""),
        ("let i = 0; loop { this[i.to_string()] = i; i += 1; }", ""),
        (
            "let i = 0; while i < 3000 { this[i.to_string()] = i; i += 1; }",
            "",
        ),
        (
            "let i = 0; let s = \"x\"; s.pad(60000, 'y'); loop { this[i.to_string()] = s + i; i += 1; }",
            "",
        ),
        (
            "let i = 0; let a = []; a.pad(900, 1); loop { this[i.to_string()] = a; i += 1; }",
            "",
        ),
        (
            "let m = #{}; for i in 0..900 { m[i.to_string()] = 1; } let i = 0; loop { this[i.to_string()] = m; i += 1; }",
            "",
        ),
        (
            "let m = #{}; for i in 0..3000 { m[i.to_string()] = 1; } this = m",
            "",
        ),
        (
            "let s = \"x\"; s.pad(65530, 'y'); this.s = s",
            "at most 65536 bytes",
        ),
        (
            "let a = 1; for i in 0..40 { a = [a]; } this.a = a",
            "at most 32 deep",
        ),
        ("let a = [3, 1]; a.sort(|x, y| { loop {} })", ""),
        ("9223372036854775807 + 1", "overflow"),
        ("-9223372036854775807 - 2", "overflow"),
        ("1 / 0", "zero"),
        ("1 << 1000; this.x = 1", ""),
        ("this.x.y.z = 1", ""),
        ("\"äö\"[1]", ""),
        ("\"äö\".sub_string(1, 99999999999)", ""),
        ("[1][5]", "out of bounds"),
        ("[1].remove(-9223372036854775807)", ""),
        ("\"x\".split(-9223372036854775807)", ""),
        ("[1,2].splice(-9, 99999999999, [3])", ""),
        (
            "[1,2].extract(-9223372036854775807..=9223372036854775807)",
            "",
        ),
        ("[1,2].chop(-1)", ""),
        ("range(0, 10, 0)", ""),
        ("this.x = 1.0 / 0.0", "finite"),
    ] {
        let begin = std::time::Instant::now();
        let error = error(&format!("fn fold(event) {{ {body} }}"));
        eprintln!("{body}: {error} {:?}", begin.elapsed());
        assert!(error.contains(rule), "{body}: {error}");
    }
    let recursion = "fn fold(event) { deeper(1) } fn deeper(n) { deeper(n + 1) }";
    assert!(error(recursion).contains("Stack overflow"));
    let recursion = "fn fold(event) { fold(event) }";
    assert!(error(recursion).contains("Stack overflow"));
    // The deepest call with the deepest expression.
    let open = "(1 + ".repeat(12);
    let close = ")".repeat(12);
    let deep =
        format!("fn fold(event) {{ deeper(1) }} fn deeper(n) {{ {open} deeper(n + 1) {close} }}");
    eprintln!("{}", error(&deep));
}

#[test]
fn a_source_cannot_overflow_the_parser() {
    let half = 20_000;
    let nested = |open: &str, close: &str| {
        let count = half / open.len().max(1);
        format!("{}1{}", open.repeat(count), close.repeat(count))
    };
    let long = |part: &str| part.repeat(2 * half / part.len());
    for body in [
        nested("(", ")"),
        nested("[", "]"),
        nested("#{a:", "}"),
        nested("{", "}"),
        nested("if true {", "}"),
        nested("`${", "}`"),
        nested("|x| ", ""),
        nested("f(", ")"),
        nested("a[", "]"),
        nested("/*", "*/"),
        nested("switch 1 { _ => ", "}"),
        nested("try {", "} catch {}"),
        nested("!", ""),
        nested("-", ""),
        nested("- ", ""),
        format!("1{}", long("+1")),
        format!("1{}", long("*1+1")),
        format!("true{}", long("&&true")),
        format!("event{}", long(".a")),
        format!("event{}", long("?.a")),
        format!("event{}", long("[0]")),
        format!("event{}", long(".a()")),
        format!("\"\"{}", long("+`${1}`")),
        format!("let a = 1; a{}", long("=a")),
        format!("if true {{}}{}", long(" else if true {}")),
        long("let a = 1;"),
        long(";"),
        format!("[{}]", long("1,")),
        format!(
            "#{{{}}}",
            (0..4000).map(|n| format!("a{n}:1,")).collect::<String>()
        ),
        format!(
            "switch 1 {{ {} }}",
            (0..2000).map(|n| format!("{n}=>1,")).collect::<String>()
        ),
        format!("1{}", long("??1")),
        format!("1{}", long("..1")),
        format!("1{}", long(" in 1")),
        "9".repeat(60_000),
        format!("\"{}", "x".repeat(60_000)),
        format!("{}.0", "9".repeat(60_000)),
        format!("0x{}", "f".repeat(60_000)),
        "\u{0}".to_owned(),
    ] {
        let source = format!("fn fold(event) {{ {body} }}");
        let head: String = body.chars().take(24).collect();
        eprintln!("{head} … {}", error(&source));
        if let Err(error) = Script::compile(&Source {
            fold: "fn fold(event) {}",
            init: "0",
            key: Some(&body),
        }) {
            assert_eq!(error.field, "key");
        }
        // Shorter, as a key may be.
        let short: String = body.chars().take(1000).collect();
        let compiled = Script::compile(&Source {
            fold: "fn fold(event) {}",
            init: "0",
            key: Some(&short),
        });
        if let Ok(script) = compiled {
            let _ = script.begin(&event("seen", "{}"));
        }
        let source = Source {
            fold: "fn fold(event) {}",
            init: &body,
            key: None,
        };
        let _ = Script::compile(&source);
    }
}
