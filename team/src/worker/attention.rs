//! `write-leader-attention`: what a hook saw of the leader's session; the last of it counts in `read-stall-state`.

use crate::command;
use crate::operation::prelude::*;
use crate::projections::worker::supervision::{attention, attention_set};
use crate::worker::stall::Decision;

operation! {
    /// Record what was seen of the leader's session, for read-stall-state
    "write-leader-attention": Records(WriteAttention) -> AttentionWritten as write_leader_attention
}

/// Who saw it
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AttentionSource {
    /// A hook that tells of notifications
    NotifyHook,
    /// The leader's program, when it stopped
    NativeStop,
    /// The leader's program, when its session ended
    NativeSessionEnd,
}

/// What `write-leader-attention` is asked; what is not known is left out.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteAttention {
    /// Who saw it
    pub source: AttentionSource,
    /// Whether the leader's session goes on
    pub leader_session_active: bool,
    /// The session
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leader_session_id: Option<String>,
    /// When it stopped, ISO 8601; else, where it does not go on, now
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leader_session_stopped_at: Option<String>,
    /// What the leader had to decide
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leader_decision_state: Option<Decision>,
    /// Whether something waited for the leader
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leader_attention_pending: Option<bool>,
    /// What did
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leader_attention_reason: Option<String>,
    /// All that did
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attention_reasons: Option<Vec<String>>,
    /// Whether the leader was taken to have stopped
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leader_stale: Option<bool>,
    /// The leader's mail that was not delivered
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread_leader_message_count: Option<u64>,
    /// Whether work was left
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_remaining: Option<bool>,
    /// For how long nothing had moved, in milliseconds
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stalled_for_ms: Option<u64>,
}

/// What was last seen of the leader
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AttentionShown {
    /// The team
    pub team_name: String,
    /// When it was recorded
    pub updated_at: String,
    /// Who saw it
    pub source: AttentionSource,
    /// What the leader had to decide
    pub leader_decision_state: Decision,
    /// Whether something waited for the leader
    pub leader_attention_pending: bool,
    /// What did
    pub leader_attention_reason: Option<String>,
    /// All that did
    pub attention_reasons: Vec<String>,
    /// Whether the leader was taken to have stopped
    pub leader_stale: bool,
    /// Whether the leader's session went on
    pub leader_session_active: bool,
    /// The session
    pub leader_session_id: Option<String>,
    /// When it stopped
    pub leader_session_stopped_at: Option<String>,
    /// The leader's mail that was not delivered
    pub unread_leader_message_count: u64,
    /// Whether work was left
    pub work_remaining: bool,
    /// For how long nothing had moved, in milliseconds
    pub stalled_for_ms: Option<u64>,
}

/// `{}`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AttentionWritten {}

impl AttentionShown {
    /// What an event recorded; what it leaves out is taken as nothing.
    fn of(event: &Event<'_>, team: &str) -> Result<AttentionShown> {
        let said: WriteAttention = attention(event)?;
        let decision = said.leader_decision_state;
        Ok(AttentionShown {
            team_name: team.to_owned(),
            updated_at: event.created_at.to_string(),
            source: said.source,
            leader_decision_state: decision.unwrap_or(Decision::StillActionable),
            leader_attention_pending: said.leader_attention_pending.unwrap_or_default(),
            leader_attention_reason: said.leader_attention_reason,
            attention_reasons: said.attention_reasons.unwrap_or_default(),
            leader_stale: said.leader_stale.unwrap_or_default(),
            leader_session_active: said.leader_session_active,
            leader_session_id: said.leader_session_id,
            leader_session_stopped_at: said.leader_session_stopped_at,
            unread_leader_message_count: said.unread_leader_message_count.unwrap_or_default(),
            work_remaining: said.work_remaining.unwrap_or_default(),
            stalled_for_ms: said.stalled_for_ms,
        })
    }

    fn tells_of_stop(&self) -> bool {
        !self.leader_session_active && self.source == AttentionSource::NativeStop
    }
}

/// What was last seen of the leader, and whether it stopped and did nothing since.
pub(crate) fn last(live: &Live, reader: &Reader) -> Result<Option<(AttentionShown, bool)>> {
    let Some(seq) = live.leader_attention()? else {
        return Ok(None);
    };
    let event = page::event(live, reader, seq)?;
    let shown = AttentionShown::of(&event, &reader.identity().name)?;
    // The event that records the stop is no sign of life, even where the leader recorded it.
    let acted = live.activity(LEADER)?;
    let acted = acted.is_some_and(|acted| acted.seq > seq);
    let stopped = shown.tells_of_stop() && !acted;
    Ok(Some((shown, stopped)))
}

impl Command for WriteAttention {
    type Decided = ();
    type Answer = AttentionWritten;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::of(Authority::Anyone)
    }

    fn decide(&self, ctx: &Ctx, _: &Live) -> Result<command::Decision<()>> {
        let mut said = self.clone();
        match &self.leader_session_stopped_at {
            Some(at) if Timestamp::parse(at).is_err() => {
                let rule = "must be a time as ISO 8601 has it";
                return Err(Refusal::invalid("leader_session_stopped_at", at, rule).into());
            }
            None if !self.leader_session_active => {
                said.leader_session_stopped_at = Some(ctx.now.to_string());
            }
            _ => {}
        }
        let event = attention_set(DEFAULT_ACTOR, &said).map_err(|error| {
            let text = page::json_text(&said).unwrap_or_default();
            Refusal::invalid("input", &text, format!("must fit into an event ({error})"))
        })?;
        Ok(command::Decision::Granted((), vec![event]))
    }

    fn answer(&self, (): &(), _: &After<'_>) -> Result<AttentionWritten> {
        Ok(AttentionWritten {})
    }
}
