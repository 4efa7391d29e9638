//! Authentication by a token, by a page session, or by a one-time code on the path that trades the code for a page session.
//!
//! Digests are compared in constant time with every known digest. Guessing 256 bits is hopeless, and answers to wrong
//! guesses are delayed. TLS connections accept only tokens of agents.

use crate::admission::{busy, overloaded};
use crate::agent_token;
use crate::agents::{NotAdmitted, REST};
use crate::caller::Admitted;
use crate::connection_slots::Connection;
use crate::page_sessions::CODE_WANTED;
use crate::pool::on_a_thread;
use crate::reply::Reply;
use crate::state::AppState;
use crate::token::Digest;
use crate::via::Via;
use hyper::header::{AUTHORIZATION, HeaderMap};

/// Returns the caller for the presented token or page session, and marks the connection as authenticated. Otherwise
/// returns a 401 reply, delayed after many wrong tokens, or a 429 reply.
pub(crate) async fn caller(
    state: &AppState,
    via: Via,
    connection: &Connection,
    headers: &HeaderMap,
) -> Result<Admitted, Reply> {
    let presented = presented(headers);
    let local = presented.filter(|_| via != Via::Tls);
    let mut found = local.and_then(|token| state.served.admit(&Digest::new(token)));
    if found.is_none() {
        found = agent(state, presented).await?;
    }
    let wanted = match via {
        Via::Tls => {
            "this path requires the header Authorization: Bearer TOKEN, with an agent's token"
        }
        Via::Tcp | Via::Socket => {
            "this path requires the header Authorization: Bearer TOKEN, with the token in runtime.json"
        }
    };
    known(state, connection, found, wanted).await
}

/// Returns the agent for the presented token.
async fn agent(state: &AppState, presented: Option<&[u8]>) -> Result<Option<Admitted>, Reply> {
    let token = presented.and_then(|token| str::from_utf8(token).ok());
    let Some(token) = token.filter(|token| agent_token::named(token).is_some()) else {
        return Ok(None);
    };
    // Limit the lookups by unauthenticated clients, because each lookup reads the disk.
    let Ok(_place) = state.lookups.try_acquire() else {
        return Err(overloaded());
    };
    let (served, token) = (state.served.clone(), token.to_owned());
    let Some(admitted) = on_a_thread(move || served.admit_agent(&token)) else {
        return Err(overloaded());
    };
    match admitted.await {
        Ok(Ok(admitted)) => Ok(Some(admitted)),
        Ok(Err(NotAdmitted::Unknown)) => Ok(None),
        Ok(Err(NotAdmitted::TooOften)) => {
            let most = state.limits.agent_calls;
            let message =
                format!("the token is used for more than {most} calls a second; nothing was done");
            let seconds = REST.as_secs().to_string();
            Err(Reply::error(429, "rate_limited", &message).header("retry-after", seconds))
        }
        // Do not tell unauthenticated clients the reason.
        Ok(Err(NotAdmitted::Failed)) | Err(_) => {
            state.guesses.one_more(state.limits.guesses);
            Err(busy("the token cannot be checked now; try again"))
        }
    }
}

/// Returns the caller for the presented one-time code. Otherwise returns a 401 reply, delayed after many wrong codes.
pub(crate) async fn code(
    state: &AppState,
    via: Via,
    connection: &Connection,
    headers: &HeaderMap,
) -> Result<Admitted, Reply> {
    let presented = presented(headers).filter(|_| via != Via::Tls);
    let found = presented.and_then(|code| state.served.admit_code(&Digest::new(code)));
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
    Err(Reply::unauthorized(wanted))
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
