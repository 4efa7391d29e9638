//! Handles obstacles: a file in place of a store's directory, or a directory in place of a store's file. Removes the obstacle,
//! because the store can be rebuilt.

use crate::prelude::*;

/// Reason for which a file of the store cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WhyUnused {
    /// A file has the name of a directory of the store: there is no store.
    NoDirectory,
    /// A directory has the file's name: the file's content is lost.
    NoFile,
}

impl WhyUnused {
    /// Reads the reason from an error of opening a file of the store.
    pub(super) fn from_error(error: &io::Error) -> Option<WhyUnused> {
        match error.kind() {
            io::ErrorKind::NotADirectory => Some(WhyUnused::NoDirectory),
            io::ErrorKind::IsADirectory => Some(WhyUnused::NoFile),
            _ => None,
        }
    }
}

/// Creates the store's directory. Removes a file that has the name of this directory or of its parent. Never changes the directory above
/// the parent.
pub(super) fn create_dir(storage: &dyn Storage, dir: &Path) -> Result<()> {
    let above = dir.parent().and_then(Path::parent);
    let above = above.unwrap_or(Path::new(""));
    let Err(error) = storage.create_dir_below(above, dir) else {
        return Ok(());
    };
    if WhyUnused::from_error(&error) != Some(WhyUnused::NoDirectory) {
        return Err(Error::io("create", dir)(error));
    }
    // Directories further up belong to the log and are not derived, so they are not checked.
    for part in dir.parent().into_iter().chain([dir]) {
        if let Ok(Some(stat)) = storage.stat(part)
            && !stat.is_dir
        {
            storage
                .remove_file(part)
                .map_err(Error::io("remove", part))?;
        }
    }
    let created = storage.create_dir_below(above, dir);
    created.map_err(Error::io("create", dir))
}

/// Removes a directory that has the name of a file of the store.
pub(super) fn clear_file(storage: &dyn Storage, path: &Path) -> Result<()> {
    match storage.stat(path) {
        Ok(Some(stat)) if stat.is_dir => storage
            .remove_dir_all(path)
            .map_err(Error::io("remove", path)),
        // The next write reports any other error.
        _ => Ok(()),
    }
}
