//! The Unix socket, in a directory that only its owner can enter.

use crate::failure::{Result, StartError};
use crate::lock::{DIR, private_dir};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

const SOCKET_FILE: &str = "teamd.sock";
/// Maximum length of a socket path. Socket addresses have 108 bytes, and the last byte is zero.
const PATH_BYTES_MAX: usize = 107;

/// Returns the path of a data root's socket: the given path, or a path in the data root. If this path is too long for a socket, returns a
/// path in the user's runtime directory.
pub(crate) fn place(
    root: &Path,
    request: Option<&Path>,
    runtime_dir: Option<&Path>,
) -> Result<PathBuf> {
    let absolute = |path: &Path| {
        std::path::absolute(path).map_err(StartError::io(format!(
            "find the directory of {}",
            path.display()
        )))
    };
    let beneath = absolute(&root.join(DIR).join(SOCKET_FILE))?;
    let chosen = match (request, runtime_dir) {
        (Some(request), _) => absolute(request)?,
        (None, Some(dir)) if !fits(&beneath) => {
            let of_root = blake3::hash(beneath.as_os_str().as_bytes()).to_hex();
            let name = format!("teamlog-{}", of_root.get(..16).unwrap_or_default());
            absolute(&dir.join(name).join(SOCKET_FILE))?
        }
        (None, _) => beneath,
    };
    match fits(&chosen) {
        true => Ok(chosen),
        false => Err(StartError::SocketPathTooLong {
            path: chosen,
            max: PATH_BYTES_MAX,
        }),
    }
}

fn fits(path: &Path) -> bool {
    path.as_os_str().len() <= PATH_BYTES_MAX
}

/// Listens on the socket. Replaces the socket of a daemon that was killed.
pub(crate) fn listen(path: &Path) -> Result<UnixListener> {
    if let Some(dir) = path.parent() {
        private_dir(dir)?;
    }
    clear(path)?;
    let listening = || {
        let listener = UnixListener::bind(path)?;
        // No other user can have connected before this call, because the directory is private.
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o600))?;
        listener.set_nonblocking(true)?;
        Ok(listener)
    };
    listening().map_err(StartError::io(format!("listen at {}", path.display())))
}

fn clear(path: &Path) -> Result<()> {
    let doing = format!("look at {}", path.display());
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(StartError::io(doing)(error)),
        Ok(found) if !found.file_type().is_socket() => {
            Err(StartError::SocketTaken(path.to_owned()))
        }
        Ok(_) => match UnixStream::connect(path) {
            // A daemon of another data root listens on this socket.
            Ok(_) => Err(StartError::SocketTaken(path.to_owned())),
            Err(_) => std::fs::remove_file(path)
                .map_err(StartError::io(format!("remove {}", path.display()))),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_is_too_long_is_replaced_by_one_of_the_session() {
        let short = place(Path::new("/data"), None, Some(Path::new("/run/me"))).unwrap();
        assert_eq!(short, Path::new("/data/teamd/teamd.sock"));
        let long = PathBuf::from(format!("/{}", "d".repeat(100)));
        let elsewhere = place(&long, None, Some(Path::new("/run/me"))).unwrap();
        assert!(elsewhere.starts_with("/run/me"), "{elsewhere:?}");
        let other = place(&long.join("x"), None, Some(Path::new("/run/me"))).unwrap();
        assert_ne!(elsewhere, other);
        assert!(matches!(
            place(&long, None, None),
            Err(StartError::SocketPathTooLong { max: 107, .. })
        ));
    }

    #[test]
    fn only_what_a_dead_daemon_left_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s/teamd.sock");
        let first = listen(&path).unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(&dir.path().join("s"))), (0o600, 0o700));
        assert!(matches!(listen(&path), Err(StartError::SocketTaken(_))));
        drop(first);
        drop(listen(&path).unwrap());
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, "kept").unwrap();
        assert!(matches!(listen(&path), Err(StartError::SocketTaken(_))));
        assert_eq!(std::fs::read(&path).unwrap(), b"kept");
    }

    #[test]
    fn a_directory_that_others_may_enter_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755)).unwrap();
        let refused = listen(&dir.path().join("teamd.sock"));
        assert!(matches!(refused, Err(StartError::SocketDirectory(_))));
    }
}
