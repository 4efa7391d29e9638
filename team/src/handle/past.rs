//! A team at a point in its past.
//!
//! Each query on such a handle reads the log as if it ended at that point, and takes the time of the point as the current
//! time. The handle refuses mutations.

use crate::handle::prelude::*;
use teamlog_engine::Point;

/// A point in the past of a team.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PastPoint {
    /// Seq of the last event that the queries see.
    pub seq: u64,
    /// Current time of the queries: the requested time, or the time of the event.
    pub time: Timestamp,
}

#[derive(Debug)]
pub(crate) struct Past {
    pub reader: Reader,
    pub moment: PastPoint,
}

/// Parses a point in the past: a seq, or a time in ISO 8601.
pub fn point(text: &str) -> Result<Point, String> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Timestamp::parse(text).map(Point::Time);
    }
    let seq = text.parse().map(Point::Seq);
    seq.map_err(|_| format!("a seq must be below 2^64, but is {text}"))
}

fn last_time(reader: &Reader) -> Timestamp {
    let last = reader.head().last_id;
    last.map(|id| id.created_at()).unwrap_or_default()
}

impl Team {
    /// Returns the team at a point in its past: up to and including a seq, or with all events up to a time.
    ///
    /// # Errors
    /// `point_unknown` if the point is before the first event, after the last event, or in the future; errors of the log.
    pub fn at(self, point: Point) -> Result<Team> {
        let past = self.look_back("at", point)?;
        Ok(self.at_past(past))
    }

    /// Returns the log up to a point. Refusals name the input `field`.
    pub(crate) fn look_back(&self, field: &'static str, point: Point) -> Result<Past> {
        let reader = self.reader()?;
        let then = match point {
            Point::Seq(seq) if seq > reader.head().last_seq => None,
            Point::Time(time) if time > self.options.clock.now() => None,
            point => reader.upto(point)?,
        };
        let Some(then) = then else {
            return Err(self.no_such_point(&reader, field, point)?.into());
        };
        let seq = then.head().last_seq;
        let time = match point {
            Point::Time(time) => time,
            Point::Seq(_) => last_time(&then),
        };
        Ok(Past {
            reader: then,
            moment: PastPoint { seq, time },
        })
    }

    fn no_such_point(&self, reader: &Reader, field: &'static str, point: Point) -> Result<Refusal> {
        let team = self.name();
        let message = match (point, reader.upto(Point::Seq(1))?) {
            (_, None) => {
                format!("{field} cannot be used: team {team} has no events yet")
            }
            (Point::Seq(seq), _) => {
                let last = reader.head().last_seq;
                format!("{field} must be an event of {team}, 1 to {last}, but is {seq}")
            }
            (Point::Time(time), Some(first)) => format!(
                "{field} must be between the first event of {team} ({}) and now, but is {time}",
                last_time(&first)
            ),
        };
        let refusal = Refusal::new(Code::PointUnknown, message);
        Ok(refusal.field(field))
    }

    /// Returns the point in the past of this handle; `None` if the handle is at the present.
    pub fn moment(&self) -> Option<PastPoint> {
        self.past().map(|past| past.moment)
    }

    /// Returns the current time of queries on this handle.
    pub fn now(&self) -> Timestamp {
        let past = self.past().map(|past| past.moment.time);
        past.unwrap_or_else(|| self.options.clock.now())
    }
}

impl Past {
    /// Returns the refusal of a mutation on a handle at a point in the past.
    pub fn unchangeable(&self) -> Refusal {
        let PastPoint { seq, time } = self.moment;
        let message =
            format!("nothing can be recorded at a point in the past: event {seq} ({time})");
        Refusal::new(Code::PastReadOnly, message)
    }
}
