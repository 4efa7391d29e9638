//! The line of an event that readers see: the engine's public JSON, with the tags beside the payload.
//!
//! The log stores the tags of an event in its payload (`projections/src/tag.rs`). `export` writes such lines, and an import reads them.

use crate::operation::prelude::*;
use crate::projections::tag::{Content, TAGGED_VERSION, stored, tagged};
use teamlog_engine::internals::codec;

/// Start of the field with the tags, which is the last field of a line.
const TAGS: &str = ",\"tags\":[";

/// Appends the line of an event, without newline.
pub fn write(event: &Event<'_>, out: &mut Vec<u8>) {
    let Some(Content { tags, payload }) = tagged(event) else {
        return codec::public_json(event, out);
    };
    let shown = Event {
        kind: Cow::Borrowed(&event.kind),
        actor: Cow::Borrowed(&event.actor),
        refs: event.refs.clone(),
        payload: Cow::Borrowed(payload),
        ..*event
    };
    codec::public_json(&shown, out);
    out.pop();
    let tags = serde_json::to_string(&tags).unwrap_or_default();
    out.extend_from_slice(format!(",\"tags\":{tags}}}").as_bytes());
}

/// Parses a line. A payload in the stored form, with tags inside, is also accepted.
///
/// # Errors
/// The text names the field, its value and the rule.
pub fn parse(line: &str) -> Result<Event<'static>, String> {
    let Some((tags, rest)) = split_tags(line) else {
        return codec::parse_public_json(line);
    };
    let mut event = codec::parse_public_json(&rest)?;
    if !event.foreign || event.schema_version != TAGGED_VERSION {
        return Err(format!(
            "only a foreign event with schema_version {TAGGED_VERSION} may have the field tags"
        ));
    }
    let payload = Json::parse(&event.payload).map_err(|error| error.to_string())?;
    let payload = stored(&tags, &payload).map_err(|error| error.to_string())?;
    event.payload = Cow::Owned(payload.into_string());
    Ok(event)
}

/// Returns the tags, and the line without them. A field `tags` inside the payload is not split off: such a line ends with `}}`.
fn split_tags(line: &str) -> Option<(Vec<String>, String)> {
    let line = line.trim_end();
    let at = line.rfind(TAGS)?;
    let list = line.get(at + TAGS.len() - 1..)?.strip_suffix('}')?;
    let tags = serde_json::from_str(list).ok()?;
    Some((tags, format!("{}}}", line.get(..at)?)))
}
