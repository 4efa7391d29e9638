//! `write-leader-attention`: records an observation of the leader's session. `read-stall-state` uses the last observation.

use crate::command;
use crate::operation::prelude::*;
use crate::projections::worker::supervision::{attention, attention_set};
use crate::worker::stall::Decision;

operation! {
    /// Record the state of the leader's session, for read-stall-state
    "write-leader-attention": Records(WriteAttention) -> AttentionWritten as write_leader_attention
}

/// Source of an observation
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AttentionSource {
    /// A notification hook
    NotifyHook,
    /// The leader's program, when it stops
    NativeStop,
    /// The leader's program, when its session ends
    NativeSessionEnd,
}

/// Input of `write-leader-attention`. Unknown fields are dropped.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteAttention {
    /// Source of the observation
    pub source: AttentionSource,
    /// True if the leader's session is still running
    pub leader_session_active: bool,
    /// Id of the leader's session
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leader_session_id: Option<String>,
    /// Time at which the session stopped, ISO 8601; now if absent and the session is not running
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leader_session_stopped_at: Option<String>,
    /// Decision that the leader has to make
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leader_decision_state: Option<Decision>,
    /// True if the leader has something to attend to
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leader_attention_pending: Option<bool>,
    /// Main reason why the leader is needed
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leader_attention_reason: Option<String>,
    /// All reasons why the leader is needed
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attention_reasons: Option<Vec<String>>,
    /// True if the leader was seen to have stopped
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leader_stale: Option<bool>,
    /// Number of the leader's undelivered messages
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread_leader_message_count: Option<u64>,
    /// True if work remains
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_remaining: Option<bool>,
    /// Milliseconds without any progress
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stalled_for_ms: Option<u64>,
}

/// The last recorded observation of the leader
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AttentionShown {
    /// Name of the team
    pub team_name: String,
    /// Time of the record
    pub updated_at: String,
    /// Source of the observation
    pub source: AttentionSource,
    /// Decision that the leader has to make
    pub leader_decision_state: Decision,
    /// True if the leader had something to attend to
    pub leader_attention_pending: bool,
    /// Main reason why the leader is needed
    pub leader_attention_reason: Option<String>,
    /// All reasons why the leader is needed
    pub attention_reasons: Vec<String>,
    /// True if the leader was seen to have stopped
    pub leader_stale: bool,
    /// True if the leader's session was running
    pub leader_session_active: bool,
    /// Id of the leader's session
    pub leader_session_id: Option<String>,
    /// Time at which the session stopped
    pub leader_session_stopped_at: Option<String>,
    /// Number of the leader's undelivered messages
    pub unread_leader_message_count: u64,
    /// True if work remained
    pub work_remaining: bool,
    /// Milliseconds without any progress
    pub stalled_for_ms: Option<u64>,
}

/// The answer `{}`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AttentionWritten {}

impl AttentionShown {
    /// Reads an observation from its event. Absent fields get empty values.
    fn from_event(event: &Event<'_>, team: &str) -> Result<AttentionShown> {
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

/// Returns the last observation of the leader. The flag is true if the leader stopped and has recorded nothing since.
pub(crate) fn last(live: &Live, reader: &Reader) -> Result<Option<(AttentionShown, bool)>> {
    let Some(seq) = live.leader_attention()? else {
        return Ok(None);
    };
    let event = page::event(live, reader, seq)?;
    let shown = AttentionShown::from_event(&event, &reader.identity().name)?;
    // The event that recorded the stop does not count as activity, even if the leader recorded that
    // event.
    let acted = live.activity(LEADER)?;
    let acted = acted.is_some_and(|acted| acted.seq > seq);
    let stopped = shown.tells_of_stop() && !acted;
    Ok(Some((shown, stopped)))
}

impl Command for WriteAttention {
    type Decided = ();
    type Answer = AttentionWritten;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Anyone)
    }

    fn decide(&self, ctx: &Ctx, _: &Live) -> Result<command::Decision<()>> {
        let mut said = self.clone();
        match &self.leader_session_stopped_at {
            Some(at) if Timestamp::parse(at).is_err() => {
                let rule = "must be an ISO 8601 time";
                return Err(Refusal::invalid("leader_session_stopped_at", at, rule).into());
            }
            None if !self.leader_session_active => {
                said.leader_session_stopped_at = Some(ctx.now.to_string());
            }
            _ => {}
        }
        let event = attention_set(DEFAULT_ACTOR, &said).map_err(|error| {
            let message = format!("input cannot be stored: {error}");
            Refusal::new(Code::InvalidInput, message).field("input")
        })?;
        Ok(command::Decision::Granted((), vec![event]))
    }

    fn answer(&self, (): &(), _: &After<'_>) -> Result<AttentionWritten> {
        Ok(AttentionWritten {})
    }
}
