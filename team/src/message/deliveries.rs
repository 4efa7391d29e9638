//! `list-deliveries`: messages that wait for their ack, the next one that is due first.

use crate::operation::prelude::*;
use crate::projections::delivery::Delivery;

operation! {
    /// List the messages that wait for their ack, the next one that is due first
    "list-deliveries": Reads(DeliveryList {
        /// Most on the page; 50 if left out
        #[schemars(range(min = 1, max = 1000))]
        limit: Option<usize>,
        /// The `next_cursor` of the page before
        cursor: Option<String>,
    }) -> DeliveryListAnswer = |team, asked| team.open_deliveries(&asked),
    refuses = [CursorUnknown]
}

/// Most deliveries of a page.
const PAGE_MAX: usize = 1_000;
/// Stands in a cursor between when a delivery was due and its message.
const OF: char = '@';

/// `{team, deliveries, count, next_cursor}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeliveryListAnswer {
    /// The team
    pub team: String,
    /// The page: the next one that is due first
    pub deliveries: Vec<DeliveryShown>,
    /// Deliveries on the page
    pub count: usize,
    /// Where to go on while more remain
    pub next_cursor: Option<String>,
}

/// A message that waits for its ack
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeliveryShown {
    /// The message
    pub message_id: String,
    /// Its sender; `null` where the log does not hold the message
    pub from: Option<String>,
    /// Its recipient
    pub to: String,
    /// Its type; `null` where the log does not hold the message
    #[serde(rename = "type")]
    pub kind: Option<MessageType>,
    /// Its task
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// Attempts that are recorded; one that ended may not be yet
    pub attempt: u32,
    /// How many there are before it becomes a dead letter
    pub attempts_max: u32,
    /// When its first attempt began
    pub sent_at: Timestamp,
    /// When its attempt ends
    pub due_at: Timestamp,
    /// Whether its first attempt ended without an ack
    pub overdue: bool,
}

impl Team {
    /// Messages that wait for their ack, the next one that is due first.
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
    /// When the last delivery of the page before was due, and its message. It need not wait any longer.
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
