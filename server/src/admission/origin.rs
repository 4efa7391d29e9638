//! Checks the `Origin` header, so that a browser sends requests only from the daemon's own pages.

use crate::admission::host::NAMES;
use crate::reply::Reply;
use hyper::header::{HeaderMap, ORIGIN};

/// Checks `Origin`. Returns a 403 reply for another origin.
pub(crate) fn check(headers: &HeaderMap, port: u16) -> Result<(), Reply> {
    let foreign = headers
        .get_all(ORIGIN)
        .iter()
        .any(|origin| !is_ours(origin.as_bytes(), port));
    match foreign {
        true => Err(Reply::error(
            403,
            "forbidden",
            "the origin header must be absent or name the daemon",
        )),
        false => Ok(()),
    }
}

fn is_ours(origin: &[u8], port: u16) -> bool {
    NAMES.iter().any(|name| {
        origin == format!("http://{name}:{port}").as_bytes()
            || (port == 80 && origin == format!("http://{name}").as_bytes())
    })
}
