//! TLS to a PostgreSQL server: checks the server's certificate and name, and may show a certificate of this host.

use std::fmt;
use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::Socket;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{self, CertificateError, ClientConfig, RootCertStore};

/// Files for TLS, as PEM.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TlsFiles {
    /// Certificates of the trusted authorities; default: the authorities of the system.
    pub sslrootcert: Option<PathBuf>,
    /// Certificate of this host, with its chain.
    pub sslcert: Option<PathBuf>,
    /// Secret key of this host.
    pub sslkey: Option<PathBuf>,
}

/// TLS settings for handshakes.
#[derive(Clone)]
pub struct Tls(TlsConnector);

impl Tls {
    /// Loads the files.
    ///
    /// # Errors
    /// A description: a file cannot be read or has the wrong content, or a certificate has no key.
    pub fn with(files: &TlsFiles) -> Result<Tls, String> {
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_root_certificates(roots(files.sslrootcert.as_deref())?);
        let config = match (&files.sslcert, &files.sslkey) {
            (None, None) => builder.with_no_client_auth(),
            (Some(certificate), Some(key)) => {
                let secret = PrivateKeyDer::from_pem_file(key);
                let secret = secret.map_err(|error| unreadable("sslkey", key, &error))?;
                builder
                    .with_client_auth_cert(certificates("sslcert", certificate)?, secret)
                    .map_err(|error| unreadable("sslcert", certificate, &error))?
            }
            (Some(_), None) => return Err("sslkey must be given with sslcert".into()),
            (None, Some(_)) => return Err("sslcert must be given with sslkey".into()),
        };
        Ok(Tls(TlsConnector::from(Arc::new(config))))
    }
}

fn roots(file: Option<&Path>) -> Result<RootCertStore, String> {
    let trusted = match file {
        Some(file) => certificates("sslrootcert", file)?,
        None => rustls_native_certs::load_native_certs().certs,
    };
    let mut roots = RootCertStore::empty();
    let (taken, _) = roots.add_parsable_certificates(trusted);
    match (taken, file) {
        (0, Some(file)) => Err(format!(
            "sslrootcert must hold certificates, but {} holds none",
            file.display()
        )),
        (0, None) => {
            Err("sslrootcert must be given, because the system has no trusted certificates".into())
        }
        _ => Ok(roots),
    }
}

fn certificates(field: &str, file: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    CertificateDer::pem_file_iter(file)
        .and_then(|certificates| certificates.collect::<Result<Vec<_>, _>>())
        .map_err(|error| unreadable(field, file, &error))
}

fn unreadable(field: &str, file: &Path, error: &dyn std::fmt::Display) -> String {
    format!("{field} {} cannot be used: {error}", file.display())
}

impl MakeTlsConnect<Socket> for Tls {
    type Stream = Encrypted;
    type TlsConnect = Handshake;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> io::Result<Handshake> {
        let name = ServerName::try_from(host.to_owned());
        let name = name.map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        Ok(Handshake(self.0.clone(), name))
    }
}

/// A handshake with the named server.
pub struct Handshake(TlsConnector, ServerName<'static>);

impl TlsConnect<Socket> for Handshake {
    type Stream = Encrypted;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted>> + Send>>;

    fn connect(self, socket: Socket) -> Self::Future {
        Box::pin(async move {
            let shaken = self.0.connect(self.1, socket).await;
            shaken.map(Encrypted).map_err(in_words)
        })
    }
}

/// Explains the error for an unknown authority, because rustls has only a short name for the error.
fn in_words(error: io::Error) -> io::Error {
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref());
    match cause {
        Some(rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer)) => {
            io::Error::new(error.kind(), UnknownIssuer)
        }
        _ => error,
    }
}

/// The error that no trusted authority signed the server's certificate.
#[derive(Debug)]
struct UnknownIssuer;

impl std::error::Error for UnknownIssuer {}

impl fmt::Display for UnknownIssuer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the server's certificate is not signed by a trusted authority: set sslrootcert to the authority's certificate (UnknownIssuer)")
    }
}

/// An encrypted connection.
pub struct Encrypted(client::TlsStream<Socket>);

impl TlsStream for Encrypted {
    /// Channel binding is not needed, because the name in the certificate was checked.
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for Encrypted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, into)
    }
}

impl AsyncWrite for Encrypted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

/// Returns true if a connection failed because of a certificate: the server's certificate or this host's certificate.
pub(crate) fn is_of_certificate(error: &(dyn std::error::Error + 'static)) -> bool {
    use tokio_rustls::rustls::{AlertDescription as Alert, Error};
    let wrapped = error
        .downcast_ref::<io::Error>()
        .and_then(io::Error::get_ref);
    let inner = wrapped.and_then(|inner| inner.downcast_ref::<Error>());
    if wrapped.is_some_and(|inner| inner.is::<UnknownIssuer>()) {
        return true;
    }
    match inner.or_else(|| error.downcast_ref::<Error>()) {
        Some(Error::InvalidCertificate(_) | Error::NoCertificatesPresented) => true,
        Some(Error::AlertReceived(alert)) => matches!(
            alert,
            Alert::BadCertificate
                | Alert::UnsupportedCertificate
                | Alert::CertificateRevoked
                | Alert::CertificateExpired
                | Alert::CertificateUnknown
                | Alert::UnknownCA
                | Alert::AccessDenied
                | Alert::CertificateRequired
        ),
        _ => error.source().is_some_and(is_of_certificate),
    }
}
