//! Events to encode: random valid events, and a few fixed events.

use proptest::prelude::*;
use std::borrow::Cow;
use teamlog_engine::internals::codec::{GroupPart, encode_group};
use teamlog_engine::{Event, EventId, Format, Json, Ref, Refs, Timestamp};

pub const FORMATS: [Format; 2] = [Format::Jsonl, Format::Binary];

pub fn id(at: &str, random: u64) -> EventId {
    EventId::new(Timestamp::from_canonical(at.as_bytes()).unwrap(), random)
}

/// Returns an event with only the mandatory fields.
pub fn bare(seq: u64) -> Event<'static> {
    let id = id("2026-11-21T10:00:00.000001Z", seq);
    given!(Event; seq, id, created_at: id.created_at(), kind: "note", actor: "ann",
        refs: Refs::default(), schema_version: 1, foreign: false, payload: "{}")
}

/// Returns an event with every field, names that need escapes, and a payload with every kind of value.
pub fn full(seq: u64) -> Event<'static> {
    let mut refs = Refs::default();
    for (kind, name) in Ref::ALL.into_iter().zip([
        "trace-1",
        "7",
        "worker \"two\"",
        "m\\1",
        "Gespräch ☂",
        "s-1",
        "key/1",
    ]) {
        refs.set(kind, name);
    }
    refs.cause = Some(id("2026-11-21T09:59:59.999999Z", 1));
    given!(Event, refs, foreign: true, schema_version: u32::MAX, actor: "ann \u{1F600}",
        payload: r#"{"a":[1,-0.5e3,"x\n\u0001\"",null,true],"b":{"c":{}}}"#, ..bare(seq))
}

pub fn alone(format: Format, event: &Event<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    encode_group(format, std::slice::from_ref(event), &mut out);
    out
}

pub fn part(index: u32, len: u32) -> GroupPart {
    GroupPart { index, len }
}

/// Generates names that the engine accepts: 1 to 128 bytes without control characters.
pub fn identifier() -> impl Strategy<Value = Cow<'static, str>> {
    let any = proptest::collection::vec(
        prop_oneof![4 => proptest::char::range(' ', '~'), 1 => any::<char>(), 1 => Just('"'), 1 => Just('\\')],
        1..=32,
    );
    any.prop_map(|chars| {
        let text: String = chars
            .into_iter()
            .filter(|char| !char.is_control())
            .collect();
        Cow::Owned(if text.is_empty() {
            "x".to_owned()
        } else {
            text
        })
    })
}

/// Generates canonical JSON of any shape, a few levels deep.
pub fn payload() -> impl Strategy<Value = Cow<'static, str>> {
    let text =
        any::<String>().prop_map(|text| Json::from_value(&text).unwrap().as_str().to_owned());
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        any::<i64>().prop_map(|number| number.to_string()),
        any::<f64>()
            .prop_filter("finite", |number| number.is_finite())
            .prop_map(|number| format!("{number:e}")),
        text.clone(),
    ];
    leaf.prop_recursive(4, 24, 6, move |inner| {
        let key = text.clone();
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6)
                .prop_map(|items| format!("[{}]", items.join(","))),
            proptest::collection::btree_map(key, inner, 0..6).prop_map(|members| {
                let members: Vec<_> = members
                    .iter()
                    .map(|(key, value)| format!("{key}:{value}"))
                    .collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
    .prop_map(Cow::Owned)
}

pub fn event_id() -> impl Strategy<Value = EventId> {
    (0..=Timestamp::MAX.micros(), any::<u64>())
        .prop_map(|(micros, random)| EventId::new(Timestamp::from_micros(micros).unwrap(), random))
}

prop_compose! {
    pub fn event()(
        seq in prop_oneof![1..=u64::MAX, 1..=1_000_u64],
        id in event_id(),
        kind in "[a-z][a-z0-9_]{0,40}",
        actor in identifier(),
        names in proptest::array::uniform7(proptest::option::of(identifier())),
        cause in proptest::option::of(event_id()),
        schema_version in any::<u32>(),
        foreign in any::<bool>(),
        payload in payload(),
    ) -> Event<'static> {
        given!(Event; seq, id, created_at: id.created_at(), kind, actor,
            refs: Refs { names, cause }, schema_version, foreign, payload)
    }
}
