//! The archive: originals from before a repair.

use crate::layout::ARCHIVE_DIR;
use crate::prelude::*;

/// Largest number of originals under one name.
const ATTEMPTS_MAX: u32 = 1_000;

/// Copies files of the log's directory into `archive/<name>/`, durably and all or none, and adds the `own` files. If that
/// directory exists with other bytes, uses `<name>.2` and so on; if it exists with the same bytes, does nothing. Returns the path
/// of the directory, relative to the log's directory.
pub(super) fn keep(
    storage: &dyn Storage,
    dir: &Path,
    name: &str,
    files: &[PathBuf],
    own: &[(&str, Vec<u8>)],
) -> Result<String> {
    let archive = dir.join(ARCHIVE_DIR);
    let found = free(storage, dir, &archive, name, files, own)?;
    let relative = format!("{ARCHIVE_DIR}/{}", found.name);
    if found.exists {
        return Ok(relative);
    }
    let aside = archive.join(format!("{}.tmp", found.name));
    storage.named().remove_dir_all(&aside)?;
    storage.named().create_dir_below(dir, &aside)?;
    let mut dirs = vec![aside.clone()];
    for file in files {
        let from = dir.join(file);
        let bytes = storage.named().sealed(&from)?;
        put(storage, &aside.join(file), &bytes, &mut dirs)?;
    }
    for (file, bytes) in own {
        put(storage, &aside.join(file), bytes, &mut dirs)?;
    }
    for made in dirs.iter().rev() {
        storage.named().sync_dir(made)?;
    }
    let to = archive.join(&found.name);
    storage.named().rename(&aside, &to)?;
    for above in [&archive, dir] {
        storage.named().sync_dir(above)?;
    }
    Ok(relative)
}

struct ArchiveName {
    name: String,
    /// True if the directory already holds exactly the bytes to keep.
    exists: bool,
}

fn free(
    storage: &dyn Storage,
    dir: &Path,
    archive: &Path,
    name: &str,
    files: &[PathBuf],
    own: &[(&str, Vec<u8>)],
) -> Result<ArchiveName> {
    for attempt in 1..ATTEMPTS_MAX {
        let name = match attempt {
            1 => name.to_owned(),
            attempt => format!("{name}.{attempt}"),
        };
        let to = archive.join(&name);
        if storage.named().stat(&to)?.is_none() {
            return Ok(ArchiveName {
                name,
                exists: false,
            });
        }
        if holds(storage, dir, &to, files, own) {
            return Ok(ArchiveName { name, exists: true });
        }
    }
    let full = std::io::Error::other("there are too many originals of this name");
    Err(Error::io("keep originals in", archive)(full))
}

fn holds(
    storage: &dyn Storage,
    dir: &Path,
    there: &Path,
    files: &[PathBuf],
    own: &[(&str, Vec<u8>)],
) -> bool {
    let read = |path: PathBuf| storage.sealed(&path).ok();
    let copied = files.iter().all(|file| {
        let (kept, now) = (read(there.join(file)), read(dir.join(file)));
        kept.is_some_and(|kept| now.is_some_and(|now| *kept == *now))
    });
    copied
        && own
            .iter()
            .all(|(file, bytes)| read(there.join(file)).is_some_and(|kept| *kept == **bytes))
}

fn put(storage: &dyn Storage, path: &Path, bytes: &[u8], dirs: &mut Vec<PathBuf>) -> Result<()> {
    if let Some(parent) = path.parent()
        && !dirs.iter().any(|dir| dir == parent)
    {
        let base = dirs.first().map_or(parent, PathBuf::as_path);
        storage.named().create_dir_below(base, parent)?;
        dirs.push(parent.to_path_buf());
    }
    let file = storage.named().open(path, OpenMode::CreateNew)?;
    file.write_all_at(bytes, 0)?;
    file.sync_all()
}
