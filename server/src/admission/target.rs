//! Parses request targets. Path segments and query parameters are split before they are decoded, so an encoded separator
//! does not split.

use crate::reply::Reply;
use crate::route::Problem;
use hyper::Uri;

type Query = Vec<(String, String)>;

/// Returns the segments of the path and the parameters of the query, or a 400 reply. `/v1/tasks/` ends with an empty segment.
pub(crate) fn decode(uri: &Uri) -> Result<(Vec<String>, Query), Reply> {
    let path = uri.path();
    let path = path.strip_prefix('/').unwrap_or(path);
    let segments = path.split('/').map(|segment| plain("path", segment));
    let mut query = Query::new();
    for pair in uri.query().unwrap_or_default().split('&') {
        if pair.is_empty() {
            continue;
        }
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let decoded = |text: &str| plain("query", &text.replace('+', " "));
        query.push((decoded(name)?, decoded(value)?));
    }
    Ok((segments.collect::<Result<_, _>>()?, query))
}

/// Decodes a segment of a path. Returns a 400 reply if it is malformed.
pub(crate) fn decode_segment(segment: &str) -> Result<String, Reply> {
    plain("path", segment)
}

fn plain(part: &str, encoded: &str) -> Result<String, Reply> {
    let fault = |rule: &str| Problem::invalid(part, format!("{part} must {rule}")).into_reply();
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut rest = encoded.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
        match (digit(rest.next()), digit(rest.next())) {
            (Some(high), Some(low)) => bytes.push((high * 16 + low) as u8),
            _ => return Err(fault("have two hexadecimal digits after %")),
        }
    }
    String::from_utf8(bytes).map_err(|_| fault("be UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segments(target: &str) -> Option<Vec<String>> {
        Some(decode(&target.parse().unwrap()).ok()?.0)
    }

    #[test]
    fn segments_are_decoded_one_by_one() {
        let cases: [(&str, Option<&[&str]>); 11] = [
            ("/", Some(&[""])),
            ("//", Some(&["", ""])),
            ("/v1/tasks", Some(&["v1", "tasks"])),
            ("/v1/tasks/", Some(&["v1", "tasks", ""])),
            (
                "/v1/tasks/..%2Fruntime",
                Some(&["v1", "tasks", "../runtime"]),
            ),
            ("/v1/%2e%2E/x", Some(&["v1", "..", "x"])),
            ("/v1/a+b%20c%00", Some(&["v1", "a+b c\0"])),
            ("/v1/%E2%82%AC", Some(&["v1", "€"])),
            ("/v1/%FF", None),
            ("/v1/%4", None),
            ("/v1/%+1", None),
        ];
        for (target, expected) in cases {
            let expected =
                expected.map(|parts| parts.iter().map(|part| part.to_string()).collect());
            assert_eq!(segments(target), expected, "{target}");
        }
    }

    #[test]
    fn a_query_keeps_its_order_and_its_repetitions() {
        let (_, query) = decode(&"/x?a=1&b&&a=2%263&c=x+y%2B=".parse().unwrap()).unwrap();
        let query: Vec<_> = query
            .iter()
            .map(|(a, b)| (a.as_str(), b.as_str()))
            .collect();
        assert_eq!(query, [("a", "1"), ("b", ""), ("a", "2&3"), ("c", "x y+=")]);
        assert!(decode(&"/x?a=%zz".parse().unwrap()).is_err());
    }
}
