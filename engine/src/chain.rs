//! The chain of digests: each segment's header holds name, length and BLAKE3 of the previous segment, so the bytes of one
//! segment prove the bytes of all earlier segments. A CRC shows that an event was not damaged after it was written. The chain
//! shows that the log held the event when the segment was sealed.

mod digests;

use crate::prelude::*;
use crate::reader::Reader;
use crate::storage::Stat;
use digests::Digests;

impl Reader {
    /// Compares every sealed segment up to the head with the header of the next segment. Reads and hashes all sealed segments.
    pub fn check_chain(&self) -> Result<()> {
        self.chained(&mut |name| Ok(self.seal(name)?.0))
    }

    /// Like [`Reader::check_chain`], but skips each segment that was hashed before, if the metadata of the segment's file is
    /// unchanged. The digests are stored in [`DIGESTS_FILE`], if that file can be written.
    pub(crate) fn check_chain_with_known_digests(&self) -> Result<()> {
        let mut digests = Digests::load(self.storage().as_ref(), self.dir());
        let checked = self.chained(&mut |name| {
            let path = self.dir().join(EVENTS_DIR).join(name);
            let stat = self.storage().named().stat(&path)?;
            if let Some(sealed) = stat.and_then(|stat| digests.get(name, &stat)) {
                return Ok(sealed);
            }
            digests.begin();
            let (sealed, stat) = self.seal(name)?;
            digests.put(&sealed, &stat);
            Ok(sealed)
        });
        match checked {
            Ok(()) => digests.keep(),
            Err(_) => digests.discard(),
        }
        checked
    }

    /// Checks every header up to the head: the header must hold the result of `seal` for the previous segment.
    pub(crate) fn chained(&self, seal: &mut dyn FnMut(&str) -> Result<Predecessor>) -> Result<()> {
        let names = self.segments()?;
        let mut previous: Option<Predecessor> = None;
        for (number, name) in (1..).zip(&names) {
            let header = self.header(number)?;
            if header.previous != previous {
                let sealed = previous.as_ref().map_or(name, |sealed| &sealed.name);
                let path = self.dir().join(EVENTS_DIR).join(sealed);
                let why = format!(
                    "it differs from its description in the header of {name} (name, length, digest)"
                );
                return Err(Error::corrupt(path, 0, None, why));
            }
            if number < self.head().segment {
                previous = Some(seal(name)?);
            }
        }
        Ok(())
    }

    /// Returns the description of this segment that the next header must hold, and the metadata that the file had while it was
    /// hashed.
    fn seal(&self, name: &str) -> Result<(Predecessor, Stat)> {
        let path = self.dir().join(EVENTS_DIR).join(name);
        let file = self.storage().named().open(&path, OpenMode::Read)?;
        let stat = file.stat()?;
        let sealed = Predecessor {
            name: name.to_owned(),
            len: stat.len,
            digest: *file.digest(stat.len)?.as_bytes(),
        };
        Ok((sealed, stat))
    }
}
