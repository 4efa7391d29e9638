//! `list-deliveries`: lists messages that wait for their ack, the earliest due first.

use crate::operation::prelude::*;
use crate::projections::delivery::Delivery;

operation! {
    /// List the messages that wait for their ack, the earliest due first
    "list-deliveries": Reads(DeliveryList {
        /// Largest number of deliveries, at most 1000; 50 if absent
        #[schemars(range(min = 1, max = 1000))]
        #[arg(long, value_name = "N", value_parser = crate::argv::whole::<usize>)]
        limit: Option<usize>,
        /// `next_cursor` of the previous page
        #[arg(long, value_name = "CURSOR")]
        cursor: Option<String>,
    }) -> DeliveryListAnswer = |team, asked| team.open_deliveries(&asked),
    refuses = [CursorUnknown]
}

/// Maximum number of deliveries on a page.
const PAGE_MAX: usize = 1_000;
/// Separator between the due time and the message id in a cursor.
const OF: char = '@';

/// The answer `{team, deliveries, count, next_cursor}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeliveryListAnswer {
    /// Name of the team
    pub team: String,
    /// The open deliveries, the earliest due first
    pub deliveries: Vec<DeliveryShown>,
    /// Number of deliveries on the page
    pub count: usize,
    /// Cursor of the next page; `null` on the last page
    pub next_cursor: Option<String>,
}

/// A message that waits for its ack
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeliveryShown {
    /// Id of the message
    pub message_id: String,
    /// Sender of the message; `null` if the log does not contain the message
    pub from: Option<String>,
    /// Recipient of the message
    pub to: String,
    /// Type of the message; `null` if the log does not contain the message
    #[serde(rename = "type")]
    pub kind: Option<MessageType>,
    /// Task of the message
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// Number of recorded attempts. The last attempt may have timed out since
    pub attempt: u32,
    /// Number of attempts before the message becomes a dead letter
    pub attempts_max: u32,
    /// Start of the first attempt
    pub sent_at: Timestamp,
    /// End of the current attempt
    pub due_at: Timestamp,
    /// True if the first attempt has ended without an ack
    pub overdue: bool,
}

impl Team {
    /// Lists messages that wait for their ack, the earliest due first.
    pub fn open_deliveries(&mut self, list: &DeliveryList) -> Result<DeliveryListAnswer> {
        let (team, now) = (self.name().to_owned(), self.now());
        let limit = page::at_most(list.limit, page::PAGE, PAGE_MAX);
        let behind = list.behind()?;
        self.query(|live, reader| {
            let behind = behind.as_ref().map(|(due, id)| (*due, &**id));
            let mut open = live.open_deliveries_behind(behind, limit + 1)?;
            let more = page::cut(&mut open, limit);
            let last = open.last().filter(|_| more);
            let next_cursor =
                last.map(|last| format!("{}{OF}{}", last.due_at().micros(), last.message_id));
            let open = open.into_iter();
            let shown = open.map(|delivery| shown(live, reader, delivery, now));
            let deliveries = shown.collect::<Result<Vec<DeliveryShown>>>()?;
            Ok(DeliveryListAnswer {
                team: team.clone(),
                count: deliveries.len(),
                deliveries,
                next_cursor,
            })
        })
    }
}

impl DeliveryList {
    /// Parses the cursor into the due time and the message of the previous page's last delivery. That delivery is possibly closed
    /// by now.
    fn behind(&self) -> Result<Option<(Timestamp, String)>> {
        let Some(cursor) = &self.cursor else {
            return Ok(None);
        };
        let found = cursor.split_once(OF).and_then(|(due, id)| {
            let due = Timestamp::from_micros(due.parse().ok()?)?;
            Some((due, id.to_owned()))
        });
        let unknown = || page::unknown_cursor(cursor, "the next_cursor of this listing");
        Ok(Some(found.ok_or_else(unknown)?))
    }
}

fn shown(
    live: &Live,
    reader: &Reader,
    delivery: Delivery,
    now: Timestamp,
) -> Result<DeliveryShown> {
    let known = live.message(&delivery.message_id)?;
    let sent = known.map(|known| page::sent(live, reader, known.seq));
    let sent = sent.transpose()?;
    Ok(DeliveryShown {
        from: sent.as_ref().map(|sent| sent.from.clone()),
        kind: sent.as_ref().map(|sent| sent.kind),
        task_id: sent.and_then(|sent| sent.task_id),
        attempt: delivery.attempt,
        attempts_max: delivery.policy.max_retries.saturating_add(1),
        sent_at: delivery.started_at,
        due_at: delivery.due_at(),
        overdue: delivery.first_due_at() <= now,
        message_id: delivery.message_id,
        to: delivery.to,
    })
}
