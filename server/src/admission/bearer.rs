//! Who asks: whoever presents a token or a page session, or a one-time code where that is traded. All are compared by their
//! digests, in constant time, with all that there are; guessing 256 bits is hopeless, and slow on top.

use crate::connection_slots::Connection;
use crate::reply::Reply;
use crate::served::Admitted;
use crate::state::AppState;
use crate::token::Digest;
use crate::unauthorized::{CODE_WANTED, unauthorized};
use hyper::header::{AUTHORIZATION, HeaderMap};

/// Whoever presents a token or a page session, and keeps their place by that.
///
/// # Errors
/// 401, after a while if there were many.
pub(crate) async fn caller(
    state: &AppState,
    connection: &Connection,
    headers: &HeaderMap,
) -> Result<Admitted, Reply> {
    let found = presented(headers).and_then(|token| state.served.admit(&Digest::of(token)));
    let wanted = "authorization must be Bearer and the token of runtime.json";
    known(state, connection, found, wanted).await
}

/// Whoever presents a one-time code.
///
/// # Errors
/// 401, after a while if there were many.
pub(crate) async fn code(
    state: &AppState,
    connection: &Connection,
    headers: &HeaderMap,
) -> Result<Admitted, Reply> {
    let found = presented(headers).and_then(|code| state.served.admit_code(&Digest::of(code)));
    known(state, connection, found, CODE_WANTED).await
}

async fn known(
    state: &AppState,
    connection: &Connection,
    found: Option<Admitted>,
    wanted: &str,
) -> Result<Admitted, Reply> {
    if let Some(admitted) = found {
        connection.is_known();
        return Ok(admitted);
    }
    if state.guesses.one_more(state.limits.guesses) {
        tokio::time::sleep(state.limits.guess_delay).await;
    }
    Err(unauthorized(wanted))
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
