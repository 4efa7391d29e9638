//! `GET /`: the page for browsers. The page contains no data, so it needs no token. The page fetches its data with a
//! page session.
//!
//! The page is one file that is built from `dashboard/` and contains its script and style. The content security
//! policy has the digests of script and style, so that a browser runs no other code. The policy allows the page to
//! contact only this daemon.

use crate::reply::Reply;
use crate::state::AppState;

const TYPE: &str = "text/html; charset=utf-8";
/// The HTML of the page.
const PAGE: &[u8] = include_bytes!("dashboard/index.html");
/// Content security policy of the page.
const POLICY: &str = include_str!("dashboard/policy.txt");

/// Replies with the page.
pub(super) fn page(state: &AppState) -> Reply {
    let reply = Reply::new(200, TYPE, PAGE)
        .header("content-security-policy", POLICY.trim_ascii_end())
        .header("x-frame-options", "DENY")
        .header("cross-origin-opener-policy", "same-origin");
    state.metrics.replied(&reply);
    reply
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine;
    use base64::prelude::BASE64_STANDARD;
    use sha2::{Digest, Sha256};

    /// Returns the contents of all elements with this name.
    fn inline<'a>(page: &'a str, name: &str) -> Vec<&'a str> {
        let begin = format!("<{name}");
        page.split(&begin[..])
            .skip(1)
            .map(|part| {
                let (_, rest) = part.split_once('>').unwrap();
                rest.split(&format!("</{name}>")[..]).next().unwrap()
            })
            .collect()
    }

    /// Returns the sources that the policy allows for one directive.
    fn allowed(kind: &str) -> Vec<String> {
        let mut rules = POLICY.trim_ascii_end().split("; ");
        let rule = rules.find_map(|rule| rule.strip_prefix(&format!("{kind} ")[..]));
        let sources = rule.unwrap().split(' ');
        sources.map(str::to_owned).collect()
    }

    #[test]
    fn the_policy_names_the_script_and_the_style_of_the_page_and_nothing_else() {
        let page = std::str::from_utf8(PAGE).unwrap();
        for (element, kind) in [("script", "script-src"), ("style", "style-src")] {
            let parts = inline(page, element);
            assert!(!parts.is_empty(), "{element}");
            let digests: Vec<String> = parts
                .iter()
                .map(|part| format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(part))))
                .collect();
            assert_eq!(allowed(kind), digests, "{element}");
        }
        for (kind, sources) in [
            ("default-src", &["'none'"][..]),
            ("connect-src", &["'self'"]),
            ("img-src", &["'self'", "data:"]),
            ("base-uri", &["'none'"]),
            ("form-action", &["'none'"]),
            ("frame-ancestors", &["'none'"]),
        ] {
            assert_eq!(allowed(kind), sources, "{kind}");
        }
        assert_eq!(POLICY.trim_ascii_end().split("; ").count(), 8);
        assert_eq!(POLICY.lines().count(), 1);
    }

    #[test]
    fn the_page_loads_nothing() {
        let page = std::str::from_utf8(PAGE).unwrap();
        // The script handles data as text only, and the policy forbids it to load anything.
        let script: String = inline(page, "script").concat();
        let markup = page.replace(&script, "");
        for loads in [
            " src=",
            "<iframe",
            "<base",
            "http-equiv",
            "@import",
            " style=\"",
            " onload",
        ] {
            assert!(!markup.contains(loads), "{loads}");
        }
        for link in markup.split("<link").skip(1) {
            assert!(link.contains("href=\"data:"), "{link}");
        }
    }
}
