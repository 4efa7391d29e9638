//! Opening the file of an export: creates a new database, and refuses a file of another program.

use crate::error::{Error, Result};
use crate::schema::{APPLICATION_ID, SCHEMA, SCHEMA_VERSION};
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

/// Longest wait for another writer of the database.
const BUSY: Duration = Duration::from_secs(10);
/// First bytes of every SQLite database.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// Opens the database of an export, and creates it if the file is missing or empty.
///
/// # Errors
/// `Foreign` for a file of another program; `Version`, unless `any_version` is set; `File`, `Database`.
pub(crate) fn open(path: &Path, any_version: bool) -> Result<Connection> {
    let is_new = create(path)?;
    if !is_new {
        check_magic(path)?;
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY)?;
    check(&connection, path, any_version).map_err(|error| not_readable(error, path))?;
    if is_empty(&connection)? {
        // The tables come before the journal of WAL, so the header of the file always has the application id.
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        if is_empty(&transaction)? {
            create_tables(&transaction)?;
        }
        transaction.commit()?;
    }
    connection.pragma_update(None, "journal_mode", "wal")?;
    // A power loss may lose the last transactions, each as a whole. The next run stores them again.
    connection.pragma_update(None, "synchronous", "normal")?;
    connection.pragma_update(None, "cache_size", -65_536)?;
    Ok(connection)
}

/// Creates a missing file, which only its owner can read, like the files of a team. Returns true if the file is empty.
fn create(path: &Path) -> Result<bool> {
    let failed = |doing| move |source| file_error(doing, path, source);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    match options.open(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let found = fs::metadata(path).map_err(failed("read"))?;
            match found.is_file() {
                true => Ok(found.len() == 0),
                false => Err(foreign(path, "is no file")),
            }
        }
        Err(error) => Err(failed("create")(error)),
    }
}

fn check_magic(path: &Path) -> Result<()> {
    let mut magic = [0; MAGIC.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut magic));
    match read {
        Ok(()) if magic == *MAGIC => Ok(()),
        Err(error) if error.kind() != ErrorKind::UnexpectedEof => {
            Err(file_error("read", path, error))
        }
        _ => Err(foreign(path, "is no SQLite database")),
    }
}

/// Checks that the database is new or belongs to an export.
fn check(connection: &Connection, path: &Path, any_version: bool) -> Result<()> {
    let application: i64 = pragma(connection, "application_id")?;
    let version: i64 = pragma(connection, "user_version")?;
    match application {
        APPLICATION_ID if version == SCHEMA_VERSION || any_version => Ok(()),
        APPLICATION_ID => Err(Error::Version {
            path: path.display().to_string(),
            found: version,
            own: SCHEMA_VERSION,
        }),
        0 if version == 0 && is_empty(connection)? => Ok(()),
        _ => Err(foreign(
            path,
            "is an SQLite database of another program, not of an export",
        )),
    }
}

/// Returns true if the database has no tables and no application id.
fn is_empty(connection: &Connection) -> Result<bool> {
    let application: i64 = pragma(connection, "application_id")?;
    let things: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(application == 0 && things == 0)
}

fn pragma(connection: &Connection, name: &str) -> Result<i64> {
    Ok(connection.pragma_query_value(None, name, |row| row.get(0))?)
}

fn create_tables(transaction: &Transaction<'_>) -> Result<()> {
    transaction.execute_batch(SCHEMA)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    Ok(())
}

/// Removes all tables and views, and creates them anew.
pub(crate) fn create_anew(transaction: &Transaction<'_>) -> Result<()> {
    let mut things = transaction.prepare(
        "SELECT type, name FROM sqlite_schema WHERE type IN ('view', 'table') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
         ORDER BY type = 'table', rowid DESC",
    )?;
    let things = things.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let things: Vec<(String, String)> = things.collect::<rusqlite::Result<_>>()?;
    for (kind, name) in things {
        let name = name.replace('"', "\"\"");
        transaction.execute_batch(&format!("DROP {kind} \"{name}\""))?;
    }
    create_tables(transaction)
}

/// Names the file in the error of a database that SQLite cannot read.
fn not_readable(error: Error, path: &Path) -> Error {
    match &error {
        Error::Database(rusqlite::Error::SqliteFailure(cause, _))
            if matches!(
                cause.code,
                ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt
            ) =>
        {
            foreign(path, &format!("is a damaged database ({cause})"))
        }
        _ => error,
    }
}

fn foreign(path: &Path, why: &str) -> Error {
    Error::Foreign {
        path: path.display().to_string(),
        why: why.to_owned(),
    }
}

fn file_error(doing: &'static str, path: &Path, source: std::io::Error) -> Error {
    Error::File {
        doing,
        path: path.display().to_string(),
        source,
    }
}
