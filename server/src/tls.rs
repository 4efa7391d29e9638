//! The daemon's certificate for TLS, with its key, and how a renewed one is taken over.

use crate::failure::{Result, StartError};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Where the certificate and its key lie.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    /// The certificate and those that vouch for it, as PEM.
    pub certificate: PathBuf,
    /// Its secret key, as PEM.
    pub key: PathBuf,
}

/// The certificate that new connections get. A renewed one replaces it once certificate and key fit each other; until then the
/// loaded one stays.
pub(crate) struct Certificate {
    files: TlsFiles,
    loaded: Mutex<Loaded>,
}

struct Loaded {
    acceptor: TlsAcceptor,
    stamp: Stamp,
    /// Why the files that lie there now could not be loaded.
    failure: Option<String>,
}

/// Length and time of change of both files; of a file that is not there, `None`.
type Stamp = [Option<(u64, SystemTime)>; 2];

impl Certificate {
    /// Loads certificate and key.
    ///
    /// # Errors
    /// A file cannot be read or holds no PEM, or the key is of another certificate.
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

    /// Returns the acceptor for one more connection.
    pub fn acceptor(&self) -> TlsAcceptor {
        self.loaded().acceptor.clone()
    }

    /// Returns why the files could not be loaded when they were last read, if so.
    pub fn failure(&self) -> Option<String> {
        self.loaded().failure.clone()
    }

    /// Loads the files again if one of them changed since they were loaded. Open connections keep the certificate that they
    /// began with.
    pub fn reload_if_changed(&self) {
        if stamp(&self.files) != self.loaded().stamp {
            self.reload();
        }
    }

    /// Loads the files again.
    pub fn reload(&self) {
        // Taken before the files are read: a change while they are read is seen by the next check.
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
        .map_err(|error| failed("tls_cert", &files.certificate, error.to_string()))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
