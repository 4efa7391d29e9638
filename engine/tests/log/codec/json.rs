//! Tests of canonical JSON: results, and refused texts.

use proptest::prelude::*;
use teamlog_engine::Json;

fn canonical(text: &str) -> Result<String, String> {
    Json::parse(text)
        .map(|json| json.as_str().to_owned())
        .map_err(|error| error.to_string())
}

#[test]
fn texts_become_canonical() {
    for (text, expected) in [
        ("{}", "{}"),
        (" [ ] ", "[]"),
        (
            "\t{ \"b\" : 1 ,\r\n\"a\" : [ true , false , null ] } \n",
            r#"{"b":1,"a":[true,false,null]}"#,
        ),
        (
            r#""\u0041\/\u00e9\u2028\ud83d\ude00\uD83D\uDE00""#,
            "\"A/é\u{2028}😀😀\"",
        ),
        (
            r#""\u0022\u005c\u0008\u000C\u000a\u000D\u0009\u0000\u001E\u001f\u007F""#,
            "\"\\\"\\\\\\b\\f\\n\\r\\t\\u0000\\u001e\\u001f\u{7f}\"",
        ),
        (r#""\b\f\n\r\t\"\\""#, r#""\b\f\n\r\t\"\\""#),
        (
            r#"{"\u0061b":{"\u0061b":1},"a":2}"#,
            r#"{"ab":{"ab":1},"a":2}"#,
        ),
        (
            "\"\u{2028}\u{2029}\u{7f}\u{85}\u{feff}\u{202e}\"",
            "\"\u{2028}\u{2029}\u{7f}\u{85}\u{feff}\u{202e}\"",
        ),
        ("-0", "-0"),
        ("1.50E+03", "1.50E+03"),
        ("0e999999999999", "0e999999999999"),
        ("1e308", "1e308"),
        ("100000000000000000000000", "100000000000000000000000"),
        ("1e-999", "1e-999"),
        (" \"x\" ", "\"x\""),
        ("[1 , 2]", "[1,2]"),
        (r#"{"a":"\u0041","b":1}"#, r#"{"a":"A","b":1}"#),
    ] {
        assert_eq!(canonical(text).as_deref(), Ok(expected), "{text}");
        assert_eq!(
            canonical(expected).as_deref(),
            Ok(expected),
            "canonical stays as it is"
        );
    }
}

#[test]
fn malformed_texts_are_refused_with_their_place() {
    for (text, message) in cases![
        ("" => "expected a value, found the end at byte 0"),
        (" " => "expected a value, found the end at byte 0"),
        ("{} x" => "unexpected text after the value at byte 3"),
        ("{}{}" => "unexpected text after the value at byte 2"),
        ("tru" => "expected a value at byte 0"),
        ("truex" => "unexpected text after the value at byte 4"),
        ("NaN" => "expected a value at byte 0"),
        ("Infinity" => "expected a value at byte 0"),
        ("+1" => "expected a value at byte 0"),
        (".5" => "expected a value at byte 0"),
        ("01" => "a number must have no leading zero at byte 0"),
        ("-01" => "a number must have no leading zero at byte 0"),
        ("-" => "expected a digit at byte 1"),
        ("1." => "expected a digit at byte 2"),
        ("1.e5" => "expected a digit at byte 2"),
        ("1e" => "expected a digit at byte 2"),
        ("1e+" => "expected a digit at byte 3"),
        ("0x10" => "unexpected text after the value at byte 1"),
        ("1e999" => "a number must fit a double at byte 0"),
        ("[-1e309]" => "a number must fit a double at byte 1"),
        ("[1,]" => "expected a value at byte 3"),
        ("[1 2]" => "expected , or ] at byte 3"),
        ("[" => "expected a value, found the end at byte 1"),
        ("]" => "expected a value at byte 0"),
        ("{\"a\":1,}" => "expected a key in quotes at byte 7"),
        ("{a:1}" => "expected a key in quotes at byte 1"),
        ("{\"a\"}" => "expected : at byte 4"),
        ("{\"a\":1]" => "expected , or } at byte 6"),
        ("{'a':1}" => "expected a key in quotes at byte 1"),
        ("\"a" => "the string does not end at byte 0"),
        ("\"a\\" => "unknown escape at byte 2"),
        ("\"\\x\"" => "unknown escape at byte 1"),
        ("\"\\é\"" => "unknown escape at byte 1"),
        ("\"\\u12\"" => "\\u needs four hexadecimal digits at byte 1"),
        ("\"\\u+123\"" => "\\u needs four hexadecimal digits at byte 1"),
        ("\"\\u12é4\"" => "\\u needs four hexadecimal digits at byte 1"),
        ("\"\\ud800\"" => "a surrogate must be one of a pair at byte 1"),
        ("\"\\udc00\"" => "a surrogate must be one of a pair at byte 1"),
        ("\"\\ud800\\u0041\"" => "a surrogate must be one of a pair at byte 1"),
        ("\"\\ud800\\ud800\"" => "a surrogate must be one of a pair at byte 1"),
        ("\"\\ud800x\"" => "a surrogate must be one of a pair at byte 1"),
        ("\"a\nb\"" => "a control character in a string must be escaped at byte 2"),
        ("\"\0\"" => "a control character in a string must be escaped at byte 1"),
        ("\"12345678\u{1e}\"" => "a control character in a string must be escaped at byte 9"),
        ("// no\n1" => "expected a value at byte 0"),
        ("1\u{a0}" => "unexpected text after the value at byte 1"),
        ("1\u{b}" => "unexpected text after the value at byte 1"),
    ] {
        assert_eq!(canonical(text).unwrap_err(), message, "{text}");
    }
    let digits = "9".repeat(400);
    shows!(canonical(&digits).unwrap_err() => is "a number must fit a double at byte 0");
    assert_eq!(canonical(&format!("0.{digits}")), Ok(format!("0.{digits}")));
}

#[test]
fn duplicate_keys_are_refused_however_they_are_written() {
    for (text, message) in cases![
        (r#"{"a":1,"a":2}"# => r#"duplicate key "a" at byte 7"#),
        (r#"{"a":1,"\u0061":2}"# => r#"duplicate key "a" at byte 7"#),
        (r#"{"\u0061":1, "b":2, "a":2}"# => r#"duplicate key "a" at byte 20"#),
        (r#"{"\n":1,"\u000a":2}"# => r#"duplicate key "\n" at byte 8"#),
        (r#"{"/":1,"\/":2}"# => r#"duplicate key "/" at byte 7"#),
        (r#"{"":1,"":2}"# => r#"duplicate key "" at byte 6"#),
        (r#"[{"x":{"é":1,"y":[{"é":1}],"\u00e9":2}}]"# => "duplicate key \"é\" at byte 29"),
    ] {
        assert_eq!(canonical(text).unwrap_err(), message);
    }
    assert!(canonical(r#"{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]}"#).is_ok());
    assert!(
        canonical("{\"\u{e9}\":1,\"e\u{301}\":2}").is_ok(),
        "no Unicode normalisation"
    );
}

#[test]
fn many_keys_are_compared_all_the_same() {
    let members: Vec<String> = (0..100_000).map(|key| format!("\"k{key}\":1")).collect();
    let text = format!("{{{}}}", members.join(","));
    assert_eq!(canonical(&text), Ok(text.clone()));
    for first in [0, 8, 99_999] {
        let twice = format!("{{{},\"\\u006b{first}\":2}}", members.join(","));
        let offset = text.len();
        shows!(canonical(&twice).unwrap_err() =>
            is format!("duplicate key \"k{first}\" at byte {offset}"));
    }
}

#[test]
fn nesting_ends_at_64() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        for depth in [63, 64] {
            let inner = if open == "[" { "" } else { "1" };
            let text = open.repeat(depth) + inner + &close.repeat(depth);
            assert_eq!(canonical(&text), Ok(text.clone()));
        }
        let text = open.repeat(65) + "1" + &close.repeat(65);
        let offset = open.len() * 64;
        shows!(canonical(&text).unwrap_err() =>
            is format!("nesting must be at most 64 deep at byte {offset}"));
        assert!(canonical(&open.repeat(1_000_000)).is_err());
    }
    let beside = format!("[{}]", vec!["[[]]"; 1000].join(","));
    assert_eq!(canonical(&beside), Ok(beside.clone()));
}

fn value() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        any::<String>().prop_map(Into::into),
        "[\\x00-\\x20\"\\\\/]{0,20}".prop_map(Into::into),
    ];
    leaf.prop_recursive(5, 60, 12, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..12).prop_map(Into::into),
            proptest::collection::btree_map(any::<String>(), inner, 0..12)
                .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    /// A compact text, a text with whitespace, and a text with every character escaped have one canonical text with the same
    /// meaning.
    #[test]
    fn one_value_has_one_text(value in value()) {
        let compact = serde_json::to_string(&value).unwrap();
        let canonical = canonical(&compact).unwrap();
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        for text in [pretty, all_escaped(&compact)] {
            prop_assert_eq!(Json::parse(&text).map(|json| json.as_str().to_owned()), Ok(canonical.clone()));
        }
        let meaning = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        prop_assert_eq!(meaning(&canonical), meaning(&compact));
    }

    /// The parser accepts the texts that another parser accepts, except for the limits of the engine.
    #[test]
    fn what_is_accepted_is_json(text in "[\\[\\]{}\",:\\\\utrfalsn0-9 eE.+-]{0,24}") {
        let theirs = serde_json::from_str::<serde_json::Value>(&text).is_ok();
        match Json::parse(&text) {
            Ok(_) => prop_assert!(theirs, "{}", text),
            Err(error) => prop_assert!(!theirs || error.message.starts_with("duplicate key"), "{}: {}", text, error),
        }
    }
}

/// Returns the JSON with every character of every string as a `\u` escape.
fn all_escaped(compact: &str) -> String {
    let (mut out, mut rest) = (String::new(), compact);
    while let Some(quote) = rest.find('"') {
        let (before, string) = rest.split_at(quote);
        let mut values = serde_json::Deserializer::from_str(string).into_iter::<String>();
        let text = values.next().unwrap().unwrap();
        let units: Vec<String> = text
            .encode_utf16()
            .map(|unit| format!("\\u{unit:04X}"))
            .collect();
        out += &format!("{before}\"{}\"", units.concat());
        rest = &string[values.byte_offset()..];
    }
    out + rest
}
