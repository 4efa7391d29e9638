//! Queries as MCP resources: `teamlog://TEAM/QUERY` and `teamlog://TEAM/QUERY/NAME`.

use crate::query::{QUERIES, Query};
use rmcp::model::{Resource, ResourceTemplate};
use serde_json::{Map, Value};

const SCHEME: &str = "teamlog://";
const JSON: &str = "application/json";

/// Returns the resources of each team: the queries without a further argument.
pub fn of_teams(teams: &[String]) -> Vec<Resource> {
    let mut resources = Vec::new();
    for team in teams {
        for query in QUERIES.iter().filter(|query| query.about.is_none()) {
            let name = query.name;
            let one = Resource::new(format!("{SCHEME}{team}/{name}"), format!("{team} {name}"));
            resources.push(one.with_description(query.doc).with_mime_type(JSON));
        }
    }
    resources
}

/// Returns templates for the queries with a further argument.
pub fn templates() -> Vec<ResourceTemplate> {
    let template = |query: &Query| {
        let named = query.about.map(|name| format!("/{{{name}}}"));
        let named = named.unwrap_or_default();
        let uri = format!("{SCHEME}{{team}}/{}{named}", query.name);
        let template = ResourceTemplate::new(uri, query.name);
        template.with_description(query.doc).with_mime_type(JSON)
    };
    QUERIES.iter().map(template).collect()
}

/// Returns the query of a resource URI and its arguments, or `None` if the URI is unknown.
pub fn asked(uri: &str) -> Option<(&'static Query, Map<String, Value>)> {
    let mut parts = uri.strip_prefix(SCHEME)?.splitn(3, '/');
    let (team, query) = (parts.next()?, Query::find(parts.next()?)?);
    let mut arguments = Map::from_iter([("team".to_owned(), team.into())]);
    match (query.about, parts.next()) {
        (Some(name), Some(value)) => {
            arguments.insert(name.to_owned(), Value::String(decoded(value)?));
        }
        (None, None) => {}
        _ => return None,
    }
    Some((query, arguments))
}

/// Decodes percent escapes (RFC 3986). Returns `None` if an escape is invalid.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => hex(rest.next()?)? << 4 | hex(rest.next()?)?,
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|value| value as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_taken_off_and_bad_ones_refused() {
        assert_eq!(decoded("tr%2F1%20a").as_deref(), Some("tr/1 a"));
        assert_eq!(decoded("plain").as_deref(), Some("plain"));
        for bad in ["%", "%2", "%zz", "%ff"] {
            assert_eq!(decoded(bad), None, "{bad}");
        }
    }

    #[test]
    fn every_query_has_one_resource_form() {
        let uris: Vec<String> = templates()
            .into_iter()
            .map(|one| one.uri_template)
            .collect();
        assert_eq!(uris.len(), QUERIES.len());
        assert!(
            uris.contains(&"teamlog://{team}/task/{task_id}".to_owned()),
            "{uris:?}"
        );
        assert_eq!(of_teams(&["a".to_owned()]).len(), 3);
    }
}
