//! Where the file of a domain was found: by its absolute path, else by the relative one.

use super::*;

/// How the file of a domain may have been found.
pub const ORIGINS: [&str; 2] = ["absolute", "relative_fallback"];

/// Checks that a path and how it was found are both given and agree. The result in a message (`of_message`) holds the
/// path alone.
pub fn check(path: Option<&str>, origin: Option<&str>, of_message: bool) -> Result<(), Refusal> {
    let field = "domain_file_path";
    let relative = |path: &str| path.strip_prefix("references/").is_some_and(inside);
    let (path, origin) = match (path, origin) {
        (None, None) => return Ok(()),
        (Some(path), Some(origin)) => (path, origin),
        (Some(path), None) if of_message => {
            let is_one = path.starts_with('/') || relative(path);
            let rule = "must begin with /, or be references/… without ..";
            return is_one
                .then_some(())
                .ok_or_else(|| invalid(field, path, rule));
        }
        (Some(_), None) => {
            let rule = "is required beside data.domain_file_path";
            return Err(broken(Code::InvalidInput, "path_origin", rule));
        }
        (None, Some(_)) => {
            let rule = "is required beside data.path_origin";
            return Err(broken(Code::InvalidInput, field, rule));
        }
    };
    let rule = match origin {
        "absolute" if !path.starts_with('/') => "must begin with /",
        "relative_fallback" if !relative(path) => "must be references/… without ..",
        _ => return Ok(()),
    };
    let rule = format!("{rule} where data.path_origin is {origin}");
    Err(invalid(field, path, rule))
}

/// Whether what stands behind the directory names something in it.
fn inside(rest: &str) -> bool {
    !rest.is_empty() && !rest.split(['/', '\\']).any(|part| part == "..")
}
