//! Read-only maps of sealed files: the only module that may use unsafe.

use super::{Bytes, Content, Reads};
use memmap2::{Advice, Mmap, MmapOptions};
use std::fs::File;
use std::io;
use std::sync::Arc;

struct Mapped(Mmap);

impl Content for Mapped {
    fn bytes(&self) -> &[u8] {
        &self.0
    }
    /// Without advice the system reads up to 8 MiB around each byte in use.
    fn expect(&self, reads: Reads) {
        let advice = match reads {
            Reads::Scattered => Advice::Random,
            Reads::InOrder => Advice::Normal,
        };
        // If the system ignores the advice, reading is only slower.
        let _ = self.0.advise(advice);
    }
}

/// Maps a sealed file of `len` bytes.
///
/// # Errors
/// Errors of the system; `FileTooLarge` if the address space is too small.
#[expect(
    unsafe_code,
    reason = "a map is the only way to read a sealed file without copying it"
)]
pub(super) fn map(file: &File, len: u64) -> io::Result<Bytes> {
    let len = usize::try_from(len).map_err(|_| io::ErrorKind::FileTooLarge)?;
    if len == 0 {
        // The system cannot map zero bytes.
        return Ok(Bytes::new([]));
    }
    // SAFETY: The map is read-only, and its length is the length that the file had a moment ago. Only sealed files are mapped.
    // teamlog never writes or cuts them again; it only unlinks them, which leaves the map whole. Another program can change any
    // mapped file. If that program overwrites the file, the mapped bytes change; every reader checks them (CRC, BLAKE3), and
    // memory safety does not depend on their values. If that program cuts the file, access to the lost pages ends this process
    // with SIGBUS and never reads foreign memory.
    let map = unsafe { MmapOptions::new().len(len).map(file)? };
    Ok(Bytes(Arc::new(Mapped(map))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn shows_the_whole_file() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[7; 10_000]).unwrap();
        assert_eq!(&*map(&file, 10_000).unwrap(), &[7; 10_000]);
        assert_eq!(&*map(&file, 3).unwrap(), &[7; 3]);
    }

    #[test]
    fn an_empty_file_has_no_bytes() {
        let file = tempfile::tempfile().unwrap();
        assert_eq!(&*map(&file, 0).unwrap(), &[] as &[u8]);
    }

    #[test]
    fn outlives_the_name_and_the_handle() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"sealed").unwrap();
        let bytes = map(file.as_file(), 6).unwrap();
        file.close().unwrap();
        assert_eq!(&*bytes, b"sealed");
    }
}
