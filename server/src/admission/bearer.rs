//! Who asks: the team whose token is presented. Tokens are compared by their digests, in constant time, with those of
//! every team; guessing 256 bits is hopeless, and slow on top.

use crate::connection_slots::Connection;
use crate::reply::Reply;
use crate::served::Admitted;
use crate::state::AppState;
use crate::token::Digest;
use hyper::header::{AUTHORIZATION, HeaderMap};

/// The team whose token is presented. Who presents one keeps its place.
///
/// # Errors
/// 401, after a while if there were many.
pub(crate) async fn team(
    state: &AppState,
    connection: &Connection,
    headers: &HeaderMap,
) -> Result<Admitted, Reply> {
    let found = presented(headers).and_then(|token| state.served.admit(&Digest::of(token)));
    if let Some(admitted) = found {
        connection.is_known();
        return Ok(admitted);
    }
    if state.guesses.one_more(state.limits.guesses) {
        tokio::time::sleep(state.limits.guess_delay).await;
    }
    Err(unauthorized(
        "authorization must be Bearer and the token of runtime.json",
    ))
}

/// What is answered to whoever has no token, or not any more.
pub(crate) fn unauthorized(message: &str) -> Reply {
    Reply::error(401, "unauthorized", message).header("www-authenticate", "Bearer")
}

fn presented(headers: &HeaderMap) -> Option<&[u8]> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return None;
    };
    let (scheme, token) = value.as_bytes().split_at_checked(6)?;
    let spaced = token.first() == Some(&b' ');
    let token = token.trim_ascii();
    let sound = scheme.eq_ignore_ascii_case(b"bearer") && spaced && !token.is_empty();
    sound.then_some(token)
}
