//! Where the file of a domain was found: by its absolute path, else by the relative one.

use super::fields::invalid;
use crate::refusal::{Code, Refusal};

/// How the file of a domain may have been found.
pub const ORIGINS: [&str; 2] = ["absolute", "relative_fallback"];

/// A path and how it was found come together, and are of each other.
pub fn check(path: Option<&str>, origin: Option<&str>) -> Result<(), Refusal> {
    let field = "domain_file_path";
    let (path, origin) = match (path, origin) {
        (None, None) => return Ok(()),
        (Some(path), Some(origin)) => (path, origin),
        (Some(_), None) => {
            let message = "data.path_origin is required beside data.domain_file_path";
            return Err(Refusal::new(Code::InvalidInput, message).field("data.path_origin"));
        }
        (None, Some(_)) => {
            let message = "data.domain_file_path is required beside data.path_origin";
            return Err(Refusal::new(Code::InvalidInput, message).field(format!("data.{field}")));
        }
    };
    let relative = path.strip_prefix("references/");
    let inside = |rest: &str| !rest.is_empty() && !rest.split(['/', '\\']).any(|part| part == "..");
    match origin {
        "absolute" if !path.starts_with('/') => Err(invalid(
            field,
            path,
            "must begin with / where data.path_origin is absolute",
        )),
        "relative_fallback" if !relative.is_some_and(inside) => Err(invalid(
            field,
            path,
            "must be references/… without .. where data.path_origin is relative_fallback",
        )),
        _ => Ok(()),
    }
}
