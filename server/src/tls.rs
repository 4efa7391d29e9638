//! The daemon's TLS certificate and key. Certificate and key are reloaded when their files are renewed.

use crate::failure::{Result, StartError};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{Error, ServerConfig};

/// Paths of the certificate and its key.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    /// Certificate and its chain, as PEM.
    pub certificate: PathBuf,
    /// Private key of the certificate, as PEM.
    pub key: PathBuf,
}

/// The certificate for new connections. Renewed files replace the loaded certificate only if the new certificate and
/// the new key match.
pub(crate) struct Certificate {
    files: TlsFiles,
    loaded: Mutex<Loaded>,
}

struct Loaded {
    acceptor: TlsAcceptor,
    stamp: Stamp,
    /// Reason why the current files could not be loaded.
    failure: Option<String>,
}

/// Length and modification time of both files. `None` for a missing file.
type Stamp = [Option<(u64, SystemTime)>; 2];

impl Certificate {
    /// Loads certificate and key.
    ///
    /// # Errors
    /// A file cannot be read or is not PEM, or the key does not match the certificate.
    pub fn load(files: TlsFiles) -> Result<Certificate> {
        let stamp = stamp(&files);
        let loaded = Loaded {
            acceptor: acceptor(&files)?,
            stamp,
            failure: None,
        };
        Ok(Certificate {
            files,
            loaded: Mutex::new(loaded),
        })
    }

    /// Returns the acceptor for new connections.
    pub fn acceptor(&self) -> TlsAcceptor {
        self.loaded().acceptor.clone()
    }

    /// Returns the error of the last attempt to load the files, if it failed.
    pub fn failure(&self) -> Option<String> {
        self.loaded().failure.clone()
    }

    /// Reloads the files if a file changed since the last attempt. Open connections keep their certificate.
    pub fn reload_if_changed(&self) {
        let is_current = {
            let loaded = self.loaded();
            loaded.failure.is_none() && loaded.stamp == stamp(&self.files)
        };
        if !is_current {
            self.reload();
        }
    }

    /// Reloads the files.
    pub fn reload(&self) {
        // Record the state before reading, so that the next check notices a change during the read.
        let stamp = stamp(&self.files);
        let read = acceptor(&self.files);
        let mut loaded = self.loaded();
        match read {
            Ok(acceptor) => {
                *loaded = Loaded {
                    acceptor,
                    stamp,
                    failure: None,
                };
            }
            Err(error) => loaded.failure = Some(error.to_string()),
        }
    }

    fn loaded(&self) -> MutexGuard<'_, Loaded> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn stamp(files: &TlsFiles) -> Stamp {
    [&files.certificate, &files.key].map(|path| {
        let metadata = fs::metadata(path).ok()?;
        Some((metadata.len(), metadata.modified().ok()?))
    })
}

fn acceptor(files: &TlsFiles) -> Result<TlsAcceptor> {
    let failed = |field: &'static str, path: &Path, why: String| StartError::Tls {
        field,
        path: path.to_owned(),
        why,
    };
    // Refuse a pipe, because opening a pipe would wait for a writer.
    for (field, path) in [("tls_cert", &files.certificate), ("tls_key", &files.key)] {
        let metadata = fs::metadata(path);
        let metadata = metadata.map_err(|error| failed(field, path, error.to_string()))?;
        if !metadata.is_file() {
            return Err(failed(field, path, "it is no regular file".to_owned()));
        }
        if field == "tls_key" && metadata.permissions().mode() & 0o077 != 0 {
            let why = "other users can read it; run chmod 600 on it".to_owned();
            return Err(failed(field, path, why));
        }
    }
    let certificates = CertificateDer::pem_file_iter(&files.certificate)
        .and_then(|certificates| certificates.collect::<std::result::Result<Vec<_>, _>>())
        .map_err(|error| failed("tls_cert", &files.certificate, error.to_string()))?;
    let key = PrivateKeyDer::from_pem_file(&files.key)
        .map_err(|error| failed("tls_key", &files.key, error.to_string()))?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| {
            builder
                .with_no_client_auth()
                .with_single_cert(certificates, key)
        })
        .map_err(|error| {
            let why = match error {
                Error::InconsistentKeys(_) => {
                    format!("{} is the key of another certificate", files.key.display())
                }
                other => other.to_string(),
            };
            failed("tls_cert", &files.certificate, why)
        })?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
