//! Format of messages: a length (`u32`, little-endian) and that number of bytes.

use std::io::{self, Read, Write};

/// Maximum length of a message. This length suffices for an artifact of maximum size with every byte escaped.
pub const BYTES_MAX: u32 = 64 << 20;

/// Sends a message.
///
/// # Errors
/// The errors of the stream; `InvalidInput` if the message is too large.
pub fn send(to: &mut (impl Write + ?Sized), message: &[u8]) -> io::Result<()> {
    let length = u32::try_from(message.len())
        .ok()
        .filter(|length| *length <= BYTES_MAX)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "message is too large"))?;
    let mut bytes = Vec::with_capacity(message.len() + 4);
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(message);
    to.write_all(&bytes)?;
    to.flush()
}

/// Receives a message. Allocates memory only for received bytes.
///
/// # Errors
/// The errors of the stream; `UnexpectedEof` at the end of the stream; `InvalidData` if the length is too large.
pub fn receive(from: &mut (impl Read + ?Sized)) -> io::Result<Vec<u8>> {
    let length = length(from)?;
    body(from, length)
}

/// Receives the length of a message.
pub(super) fn length(from: &mut (impl Read + ?Sized)) -> io::Result<u32> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length);
    if length > BYTES_MAX {
        let why = "the length of a message is out of bounds";
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    }
    Ok(length)
}

/// Receives the bytes of a message.
pub(super) fn body(from: &mut (impl Read + ?Sized), length: u32) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    Read::take(from, length.into()).read_to_end(&mut bytes)?;
    match u32::try_from(bytes.len()) == Ok(length) {
        true => Ok(bytes),
        false => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_sent_is_received_and_what_was_cut_is_an_error(
            messages in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..99), 1..4),
            at in any::<prop::sample::Index>()
        ) {
            let mut bytes = Vec::new();
            for message in &messages {
                send(&mut bytes, message).unwrap();
            }
            let mut from = bytes.as_slice();
            for message in &messages {
                prop_assert_eq!(&receive(&mut from).unwrap(), message);
            }
            prop_assert!(from.is_empty());
            let last = messages.last().unwrap().len() + 4;
            let cut = &bytes[bytes.len() - last..][..at.index(last)];
            prop_assert!(receive(&mut &*cut).is_err());
        }
    }

    #[test]
    fn a_length_that_lies_takes_no_memory() {
        for (length, kind) in [
            (BYTES_MAX + 1, io::ErrorKind::InvalidData),
            (u32::MAX, io::ErrorKind::InvalidData),
            (BYTES_MAX, io::ErrorKind::UnexpectedEof),
        ] {
            let mut bytes = length.to_le_bytes().to_vec();
            bytes.push(0);
            let error = receive(&mut bytes.as_slice()).unwrap_err();
            assert_eq!(error.kind(), kind, "{length}");
        }
    }
}
