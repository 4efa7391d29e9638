//! A team as it was: a handle that stands at a point of the log's past.
//!
//! Every query of such a handle reads the log as if it ended there, and takes the point's time for now. It has no
//! future: whatever would record something is refused.

use crate::handle::prelude::*;
use teamlog_engine::Point;

/// Where a handle stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Moment {
    /// The last event that it knows.
    pub seq: u64,
    /// Its now: the time asked for, or that of the event.
    pub time: Timestamp,
}

#[derive(Debug)]
pub(crate) struct Past {
    pub reader: Reader,
    pub moment: Moment,
}

/// Reads a point as people write it: a seq, or a time in ISO 8601.
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
    /// The team as it was at that point: a seq counts with its event, a time with all events up to it.
    ///
    /// # Errors
    /// `point_unknown` for a point before the first event, behind the last one, or in the future; the log's.
    pub fn at(self, point: Point) -> Result<Team> {
        let past = self.look_back("at", point)?;
        Ok(self.standing_at(past))
    }

    /// The log up to a point that `field` names.
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
            moment: Moment { seq, time },
        })
    }

    fn no_such_point(&self, reader: &Reader, field: &'static str, point: Point) -> Result<Refusal> {
        let team = self.name();
        let message = match (point, reader.upto(Point::Seq(1))?) {
            (_, None) => format!("{field} must be a point of the log, but that of {team} is empty"),
            (Point::Seq(seq), _) => {
                let last = reader.head().last_seq;
                format!("{field} must be an event of {team}, 1 to {last}, but is {seq}")
            }
            (Point::Time(time), Some(first)) => format!(
                "{field} must lie between the first event of {team} ({}) and now, but is {time}",
                last_time(&first)
            ),
        };
        let refusal = Refusal::new(Code::PointUnknown, message);
        Ok(refusal.field(field))
    }

    /// Where this handle stands, unless it goes with the log.
    pub fn moment(&self) -> Option<Moment> {
        self.past().map(|past| past.moment)
    }

    /// The time that queries take for now.
    pub fn now(&self) -> Timestamp {
        let past = self.past().map(|past| past.moment.time);
        past.unwrap_or_else(|| self.options.clock.now())
    }
}

impl Past {
    /// The refusal of a mutation on such a handle.
    pub fn unchangeable(&self) -> Refusal {
        let Moment { seq, time } = self.moment;
        let message =
            format!("the past cannot be changed: this handle stands at event {seq} ({time})");
        Refusal::new(Code::PastReadOnly, message)
    }
}
