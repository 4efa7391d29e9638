//! TLS: the certificate that the daemon shows to other machines, and the key that goes with it.

use crate::failure::{Result, StartError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Where other machines are listened to, and with what.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    /// The certificate and those that vouch for it, as PEM.
    pub certificate: PathBuf,
    /// Its secret key, as PEM.
    pub key: PathBuf,
}

/// What shakes hands with clients.
pub(crate) fn acceptor(files: &TlsFiles) -> Result<TlsAcceptor> {
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
