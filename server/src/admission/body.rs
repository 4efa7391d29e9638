//! Reads request bodies within limits. If the declared length is too large, the request is refused before anything is
//! read. A body without a declared length is refused when it exceeds the limit. All bodies together have a memory limit. Only
//! a few large bodies are read and answered at a time, because a call makes several copies of its body.

use crate::admission::busy;
use crate::reply::Reply;
use crate::state::AppState;
use crate::wire::watched;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::{CONTENT_LENGTH, HeaderMap};
use std::sync::Arc;
use tokio::sync::OwnedSemaphorePermit;

/// Permits for the memory of a body, and for the slot of a large body. The permits are held until the request is
/// answered.
pub(crate) type BodyPermits = Vec<OwnedSemaphorePermit>;

/// Message for a request whose body does not fit into the memory limit of all bodies.
const FULL: &str = "the daemon has reached its memory limit for request bodies; try again";

/// Reads a body. On failure returns a 400, 408, 413 or 503 reply.
pub(crate) async fn read(
    state: &Arc<AppState>,
    headers: &HeaderMap,
    body: Incoming,
) -> Result<(Vec<u8>, BodyPermits), Reply> {
    let declared = headers
        .get(CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok());
    let declared: u64 = declared.and_then(|text| text.parse().ok()).unwrap_or(0);
    if declared > state.limits.body_bytes as u64 {
        return Err(too_large(state));
    }
    let mut held = BodyPermits::new();
    let declared = usize::try_from(declared).unwrap_or(usize::MAX);
    if declared > state.limits.small_body_bytes {
        held.push(large_slot(state).await?);
    }
    let reading = collect(state, body, declared, held);
    match tokio::time::timeout(state.limits.body_time, reading).await {
        Ok(read) => read,
        Err(_) => Err(
            Reply::error(408, "request_timeout", "the body did not arrive in time")
                .header("connection", "close"),
        ),
    }
}

/// Waits for a slot for a large body. Returns a 503 reply if no slot becomes free in time.
async fn large_slot(state: &Arc<AppState>) -> Result<OwnedSemaphorePermit, Reply> {
    let slot = state.large_bodies.clone().acquire_owned();
    let slot = tokio::time::timeout(state.limits.large_body_wait, slot).await;
    slot.ok().and_then(Result::ok).ok_or_else(|| busy(FULL))
}

async fn collect(
    state: &Arc<AppState>,
    mut body: Incoming,
    declared: usize,
    mut held: BodyPermits,
) -> Result<(Vec<u8>, BodyPermits), Reply> {
    let mut bytes = Vec::with_capacity(declared);
    let mut is_large = !held.is_empty();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| {
            Reply::error(
                400,
                "malformed_request",
                "the body is shorter than its content-length",
            )
        })?;
        let Some(data) = frame.data_ref() else {
            continue;
        };
        if bytes.len() + data.len() > state.limits.body_bytes {
            return Err(too_large(state));
        }
        if !is_large && bytes.len() + data.len() > state.limits.small_body_bytes {
            held.push(large_slot(state).await?);
            is_large = true;
        }
        let by = u32::try_from(data.len()).unwrap_or(u32::MAX);
        let more = state.bodies.clone().try_acquire_many_owned(by);
        held.push(more.map_err(|_| busy(FULL))?);
        bytes.extend_from_slice(data);
    }
    Ok((bytes, held))
}

fn too_large(state: &AppState) -> Reply {
    watched::too_large(state.limits.body_bytes).header("connection", "close")
}
