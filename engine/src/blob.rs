//! Bytes beside a log, which events of the log name by their digest. The journal keeps the bytes for all hosts.

use crate::journal::read_error;
use crate::log::Log;
use crate::prelude::*;

impl Log {
    /// Stores bytes in the journal before an event names them. A repeated call changes nothing.
    ///
    /// # Errors
    /// `Journal`: this program cannot open the journal, or the journal does not answer.
    pub fn put_blob(&self, journal: &JournalIdentity, digest: &str, bytes: &[u8]) -> Result<()> {
        let mut handle = self.journal(journal)?;
        let put = handle.put_blob(self.identity().log, digest, bytes);
        put.map_err(|error| read_error(error, 0))
    }

    /// Returns the bytes that the journal keeps under a digest; `None` if the journal has no such bytes. The caller must check the bytes
    /// against the digest.
    ///
    /// # Errors
    /// `Journal`: this program cannot open the journal, or the journal does not answer.
    pub fn blob(&self, journal: &JournalIdentity, digest: &str) -> Result<Option<Vec<u8>>> {
        let mut handle = self.journal(journal)?;
        let blob = handle.blob(self.identity().log, digest);
        blob.map_err(|error| read_error(error, 0))
    }
}
