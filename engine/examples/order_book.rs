//! An order book: the open orders of a market, folded from `order_placed` and `order_filled`. Reads the best order now, and as it was
//! earlier: `cargo run -p teamlog-engine --example order_book -- DIRECTORY`
#![allow(clippy::print_stdout, reason = "the output of a program")]

use serde::{Deserialize, Serialize};
use std::{env, error::Error, path::Path, sync::Arc};
use teamlog_engine::projection::{
    Projection, ProjectionError, ProjectionOptions, ProjectionRows, Projections, RowChanges,
};
use teamlog_engine::storage::Files;
use teamlog_engine::{Durability, Event, Json, Log, LogOptions, NewEvent, NewLog, Point};

#[derive(Serialize, Deserialize)]
struct Order {
    id: String,
    price: u64,
    quantity: i64,
}

/// Rows: price and id, so that a scan finds the lowest price first; the open quantity as a number.
struct OrderBook;

impl Projection for OrderBook {
    fn name(&self) -> &str {
        "book"
    }
    fn version(&self) -> u64 {
        1 // Raise this number if the rows or the rules below change.
    }
    fn apply(&self, rows: &mut RowChanges<'_>, event: &Event<'_>) -> Result<(), ProjectionError> {
        let order: Order = serde_json::from_str(&event.payload)
            .map_err(|error| ProjectionError::new(error.to_string()))?;
        let key = format!("{:08} {}", order.price, order.id).into_bytes();
        if event.kind == "order_placed" {
            return rows.put_number(&key, order.quantity);
        }
        let left = rows.number(&key)?.unwrap_or_default() - order.quantity;
        match left {
            0 => rows.delete(&key),
            1.. => rows.put_number(&key, left)?,
            _ => return Err(ProjectionError::new(format!("{} too many", -left))),
        }
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let dir = env::args().nth(1).ok_or("name a directory")?;
    println!("{}", traded(Path::new(&dir))?.join("\n"));
    Ok(())
}

/// Returns price and id of the cheapest order.
fn cheapest(book: &ProjectionRows) -> teamlog_engine::Result<String> {
    let first = book.scan("book", .., false)?.next().transpose()?;
    let key = first.map(|(key, _)| String::from_utf8_lossy(&key).into_owned());
    Ok(key.unwrap_or_default())
}

/// Records some orders in a new log, and returns the cheapest one: now, after the second event, and after a wrong event.
pub fn traded(dir: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let (storage, at) = (Arc::new(Files::create(dir)?), Path::new("market"));
    let log = Log::create(storage, at, NewLog::new("market"), LogOptions::default())?;
    let record = |kind: &'static str, id: &str, price, quantity| -> Result<(), Box<dyn Error>> {
        let id = id.to_owned();
        let order = Json::from_value(&Order {
            id,
            price,
            quantity,
        })?;
        let writer = log.lock()?.into_writer(());
        writer.append(
            vec![NewEvent::new(kind, "market", order)],
            Durability::Synced,
        )?;
        Ok(writer.close()?)
    };
    record("order_placed", "a", 101, 5)?;
    record("order_placed", "b", 99, 3)?;
    record("order_filled", "b", 99, 3)?;
    let options = ProjectionOptions::default();
    let mut book = Projections::open(&log, "orders", vec![Arc::new(OrderBook)], options)?;
    book.catch_up()?;
    let mut lines = vec![cheapest(&book)?, cheapest(&book.at(Point::Seq(2))?)?];
    record("order_filled", "a", 101, 9)?;
    lines.extend(book.catch_up().err().map(|error| error.to_string()));
    lines.push(cheapest(&book)?); // The book is as of the event before the wrong one.
    Ok(lines)
}
