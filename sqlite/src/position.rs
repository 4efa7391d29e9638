//! The position of an export: the log, and the last event that the tables contain.

use crate::error::Result;
use crate::schema::SCHEMA_VERSION;
use rusqlite::{Connection, OptionalExtension, params};
use teamlog_team::engine::Reader;
use teamlog_team::projections::Live;

/// The row of `teamlog_position`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Position {
    pub team: String,
    pub log_id: String,
    /// Seq of the last event; 0 if there is none.
    pub seq: u64,
    /// Id of the last event.
    pub event_id: Option<String>,
}

impl Position {
    /// Reads the position. Returns `None` if nothing was stored yet.
    pub fn read(connection: &Connection) -> Result<Option<Position>> {
        let row = connection.query_row(
            "SELECT team, log_id, seq, event_id FROM teamlog_position",
            [],
            |row| {
                Ok(Position {
                    team: row.get(0)?,
                    log_id: row.get(1)?,
                    seq: row.get(2)?,
                    event_id: row.get(3)?,
                })
            },
        );
        Ok(row.optional()?)
    }

    pub fn write(&self, connection: &Connection) -> Result<()> {
        connection.execute(
            "INSERT OR REPLACE INTO teamlog_position VALUES (1, ?1, ?2, ?3, ?4, ?5)",
            params![
                self.team,
                self.log_id,
                self.seq,
                self.event_id,
                SCHEMA_VERSION
            ],
        )?;
        Ok(())
    }

    /// Returns the difference between this position and the log; `None` if the log continues this position.
    pub fn difference(&self, live: &Live, reader: &Reader) -> Result<Option<String>> {
        let log = reader.identity().log.to_string();
        if log != self.log_id {
            let why = format!(
                "it has events of log {}, of team {}, but the log of the team is {log}",
                self.log_id, self.team
            );
            return Ok(Some(why));
        }
        if self.seq > live.seq() {
            let why = format!(
                "it has {} events, but the log ends after event {}",
                self.seq,
                live.seq()
            );
            return Ok(Some(why));
        }
        if self.seq == 0 {
            return Ok(None);
        }
        let found = live.event(reader, self.seq)?;
        let found = found.map(|event| event.id.to_string());
        let differs = found != self.event_id;
        Ok(differs.then(|| format!("its event {} has another id than in the log", self.seq)))
    }
}
