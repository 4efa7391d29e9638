//! Bare loops: the limits of the disk, the processor and a hand-written group commit.

use crate::contestant::{Appender, Depth, History, Sink, take};
use crate::draft::record;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use teamlog_benches::group_commit::GroupCommit;

const FILE: &str = "bare";
/// Bytes of zeros in a pre-written file: more than any measurement writes.
const FILLED: u64 = 32 << 20;

fn growing(dir: &Path) -> File {
    File::create_new(dir.join(FILE)).unwrap()
}

fn prewritten(dir: &Path) -> File {
    let mut file = growing(dir);
    // The zeros are written page by page. A larger write would make larger pieces of the page cache, and each change of a piece
    // would write the whole piece.
    for _ in 0..FILLED >> 12 {
        file.write_all(&[0; 1 << 12]).unwrap();
    }
    file.sync_all().unwrap();
    file
}

/// One write and one sync per event, by one thread at a time.
pub struct Loop {
    file: File,
    end: Mutex<u64>,
    most: u64,
}

impl Loop {
    pub fn growing(dir: &Path) -> Loop {
        Loop::on(growing(dir), u64::MAX)
    }

    pub fn prewritten(dir: &Path) -> Loop {
        Loop::on(prewritten(dir), FILLED)
    }

    fn on(file: File, most: u64) -> Loop {
        Loop {
            file,
            end: Mutex::new(0),
            most,
        }
    }
}

impl Sink for Loop {
    fn appender(&self) -> Appender<'_> {
        Box::new(|draft| {
            let line = draft.record().line;
            let mut end = self.end.lock().unwrap();
            self.file.write_all_at(&line, *end).unwrap();
            self.file.sync_data().unwrap();
            *end += line.len() as u64;
            assert!(*end <= self.most, "the pre-written file is too short");
        })
    }
}

/// The group commit that `cargo bench` also uses.
pub struct Group(GroupCommit);

impl Group {
    pub fn growing(dir: &Path) -> Group {
        Group(GroupCommit::new(growing(dir)))
    }

    pub fn prewritten(dir: &Path) -> Group {
        Group(GroupCommit::new(prewritten(dir)))
    }
}

impl Sink for Group {
    fn appender(&self) -> Appender<'_> {
        Box::new(|draft| self.0.append(&draft.record().line))
    }
}

/// Checksums each event, and writes all events into a file in large pieces. In the file of a history, the length of each line
/// precedes the line.
pub struct Written(Mutex<BufWriter<File>>);

impl Written {
    pub fn create(dir: &Path) -> Written {
        let file = BufWriter::with_capacity(1 << 20, growing(dir));
        Written(Mutex::new(file))
    }
}

impl Sink for Written {
    fn appender(&self) -> Appender<'_> {
        let mut file = self.0.lock().unwrap();
        Box::new(move |draft| write(&mut file, &draft.record().line))
    }
}

fn write(file: &mut BufWriter<File>, line: &[u8]) {
    let head = [(line.len() as u32).to_le_bytes(), crc(line)].concat();
    file.write_all(&head).unwrap();
    file.write_all(line).unwrap();
}

fn crc(line: &[u8]) -> [u8; 4] {
    crc32fast::hash(line).to_le_bytes()
}

pub fn load(dir: &Path, count: u64) {
    let mut file = BufWriter::with_capacity(1 << 20, growing(dir));
    for seq in 0..count {
        write(&mut file, &record(seq).line);
    }
    file.flush().unwrap();
    file.get_ref().sync_all().unwrap();
}

/// A file of lines; each line is checked against its CRC when it is read.
pub struct Lines(PathBuf);

impl Lines {
    pub fn open(dir: &Path) -> Lines {
        Lines(dir.join(FILE))
    }
}

impl History for Lines {
    fn scan(&self, depth: Depth, threads: u64) -> Option<u64> {
        if threads > 1 {
            return None;
        }
        let mut file = BufReader::with_capacity(1 << 18, File::open(&self.0).unwrap());
        let (mut head, mut line, mut seen) = ([0; 8], Vec::new(), 0);
        while file.read_exact(&mut head).is_ok() {
            let (length, stored) = head.split_at(4);
            let length = u32::from_le_bytes(length.try_into().unwrap());
            line.resize(length as usize, 0);
            file.read_exact(&mut line).unwrap();
            assert_eq!(crc(&line), stored);
            take(&line, depth);
            seen += 1;
        }
        Some(seen)
    }
}
