//! Forged segments in which every CRC is correct.

use super::dir;
use std::path::{Path, PathBuf};
use teamlog_engine::internals::codec::{self, SegmentHeader};
use teamlog_engine::internals::layout::EVENTS_DIR;
use teamlog_engine::storage::{OpenMode, Storage};
use teamlog_engine::{Event, Format};

/// A segment, decoded.
pub struct Segment {
    pub header: SegmentHeader,
    pub groups: Vec<Vec<Event<'static>>>,
}

pub fn names(storage: &dyn Storage) -> Vec<String> {
    storage.list(&dir().join(EVENTS_DIR)).unwrap()
}

pub fn path(name: &str) -> PathBuf {
    dir().join(EVENTS_DIR).join(name)
}

pub fn read(storage: &dyn Storage, path: &Path) -> Vec<u8> {
    storage.read(path, 1 << 24).unwrap()
}

/// Writes a file in place, so that its identity stays.
pub fn write(storage: &dyn Storage, path: &Path, bytes: &[u8]) {
    let file = storage.open(path, OpenMode::Create).unwrap();
    file.set_len(bytes.len() as u64).unwrap();
    file.write_all_at(bytes, 0).unwrap();
}

impl Segment {
    pub fn read(storage: &dyn Storage, format: Format, name: &str) -> Segment {
        let bytes = read(storage, &path(name));
        let (header, mut at) = SegmentHeader::decode(format, &bytes).unwrap();
        let mut groups: Vec<Vec<Event<'static>>> = Vec::new();
        while at < bytes.len() {
            let frame = codec::decode(format, &bytes[at..]).unwrap();
            at += frame.len;
            if frame.group.index == 0 {
                groups.push(Vec::new());
            }
            groups.last_mut().unwrap().push(frame.event.into_owned());
        }
        Segment { header, groups }
    }

    pub fn write(&self, storage: &dyn Storage, format: Format, name: &str) {
        let mut bytes = self.header.encode(format);
        for group in &self.groups {
            codec::encode_group(format, group, &mut bytes);
        }
        write(storage, &path(name), &bytes);
    }
}

/// Changes an event of a segment to another text of the same length.
pub fn change_an_event(storage: &dyn Storage, format: Format, name: &str) {
    let mut segment = Segment::read(storage, format, name);
    let event = &mut segment.groups[0][0];
    assert!(event.payload.contains("xxx"), "{}", event.payload);
    event.payload = event.payload.replace("xxx", "yyy").into();
    segment.write(storage, format, name);
}

/// Updates the header of segment `index` (from 0), so that the header describes the changed previous segment.
pub fn chain_again(storage: &dyn Storage, format: Format, index: usize) {
    let names = names(storage);
    let before = read(storage, &path(&names[index - 1]));
    let mut segment = Segment::read(storage, format, &names[index]);
    let previous = segment.header.previous.as_mut().unwrap();
    previous.len = before.len() as u64;
    previous.digest = *blake3::hash(&before).as_bytes();
    segment.write(storage, format, &names[index]);
}
