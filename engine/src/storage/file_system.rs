//! Kind of a root's file system. Locks and syncs are only trusted on local file systems.

use std::io;
use std::os::fd::AsFd;

/// Kind of a file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileSystemKind {
    /// Local: locks exclude every process, a sync reaches the disk.
    Local,
    /// A network or host-shared file system, by name (`nfs`, `9p`, …): another machine may change the files and ignore our locks. `fuse`
    /// counts as a network file system, because sshfs, s3fs and virtiofs all show as `fuse`, and other machines do not see their locks. A
    /// local disk that is mounted through FUSE (ntfs-3g) is refused too, to be safe.
    Network(String),
}

/// Free and total space of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    /// Bytes that this process may still write.
    pub free: u64,
    /// Bytes in all.
    pub total: u64,
}

/// Returns the space of the file system of `fd`.
pub(super) fn space(fd: impl AsFd) -> io::Result<Space> {
    let stat = rustix::fs::fstatvfs(fd)?;
    Ok(Space {
        free: stat.f_bavail.saturating_mul(stat.f_frsize),
        total: stat.f_blocks.saturating_mul(stat.f_frsize),
    })
}

/// Kinds that are not local, by the magic number of `statfs`.
const NETWORK: [(u32, &str); 16] = [
    (0x0000_6969, "nfs"),
    (0x0000_517b, "smb"),
    (0xff53_4d42, "cifs"),
    (0xfe53_4d42, "smb2"),
    (0x0102_1997, "9p"),
    (0x00c3_6400, "ceph"),
    (0x5346_414f, "afs"),
    (0x6b41_4653, "afs"),
    (0x7375_7245, "coda"),
    (0x6573_5546, "fuse"),
    (0x0bd0_0bd0, "lustre"),
    (0x4750_4653, "gpfs"),
    (0x0116_1970, "gfs2"),
    (0x7461_636f, "ocfs2"),
    (0x786f_4256, "vboxsf"),
    (0xbacb_acbc, "vmhgfs"),
];

/// Returns the kind of the file system of `fd`.
pub(super) fn kind(fd: impl AsFd) -> io::Result<FileSystemKind> {
    // The magic has 32 bits. On some machines, the field for the magic has another width or sign.
    Ok(by_magic(rustix::fs::fstatfs(fd)?.f_type as u32))
}

fn by_magic(magic: u32) -> FileSystemKind {
    match NETWORK.iter().find(|(known, _)| *known == magic) {
        Some((_, name)) => FileSystemKind::Network((*name).to_owned()),
        None => FileSystemKind::Local,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_disks_from_networks() {
        for local in [
            0xef53,
            0x5846_5342,
            0x9123_683e,
            0x0102_1994,
            0x794c_7630,
            0x2fc1_2fc1,
        ] {
            assert_eq!(by_magic(local), FileSystemKind::Local, "{local:#x}");
        }
        for (magic, name) in NETWORK {
            assert_eq!(by_magic(magic), FileSystemKind::Network(name.to_owned()));
        }
    }
}
