//! Bytes beside a log that its events name by their digest, where other hosts need them too: its journal keeps them.

use crate::journal::of_read;
use crate::log::Log;
use crate::prelude::*;

impl Log {
    /// Has a journal keep bytes, before an event names them. Repeating it is harmless.
    ///
    /// # Errors
    /// `Journal`: it is not known here, or does not take part.
    pub fn put_blob(&self, journal: &JournalIdentity, digest: &str, bytes: &[u8]) -> Result<()> {
        let mut handle = self.journal(journal)?;
        let put = handle.put_blob(self.identity().log, digest, bytes);
        put.map_err(|error| of_read(error, 0))
    }

    /// What a journal keeps under a digest, if anything. To be held against it.
    ///
    /// # Errors
    /// `Journal`: it is not known here, or does not take part.
    pub fn blob(&self, journal: &JournalIdentity, digest: &str) -> Result<Option<Vec<u8>>> {
        let mut handle = self.journal(journal)?;
        let blob = handle.blob(self.identity().log, digest);
        blob.map_err(|error| of_read(error, 0))
    }
}
