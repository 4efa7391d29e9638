//! Verifies the certificate of a server: of a daemon on another machine, or of the receiver of a subscription. A certificate is accepted if a trusted certificate signed it according to the usual
//! rules of TLS, or if it is itself a trusted certificate, byte for byte.
//!
//! The second way is needed for self-signed certificates. Such certificates are often marked as authorities, and the
//! usual rules refuse such a certificate for a server.

use crate::exit::CommandError;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Returns the configuration of a client that trusts the certificates.
pub fn client_config(trusted: Vec<CertificateDer<'static>>) -> Result<ClientConfig, Error> {
    let provider = Arc::new(ring::default_provider());
    let verifier = Trust::in_these(trusted, provider.clone())?;
    let builder = ClientConfig::builder_with_provider(provider);
    Ok(builder
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth())
}

/// Reads the certificates of a PEM file. `name` is the field or variable that names the file.
pub fn certificates(name: &str, file: &Path) -> Result<Vec<CertificateDer<'static>>, CommandError> {
    let invalid = |why: &str| {
        let message = format!(
            "{} (from {name}) holds no PEM certificate: {why}",
            file.display()
        );
        CommandError::invalid(name, message)
    };
    let certificates = CertificateDer::pem_file_iter(file)
        .and_then(|certificates| certificates.collect::<Result<Vec<_>, _>>())
        .map_err(|error| invalid(&error.to_string()))?;
    match certificates.is_empty() {
        true => Err(invalid("it has no certificate")),
        false => Ok(certificates),
    }
}

/// Describes a failed TLS handshake. Explains certificate errors. `trusted` names the field or variable of the trusted
/// certificates.
pub fn handshake_failure(error: &io::Error, trusted: &str) -> String {
    let cause = error.get_ref().and_then(|inner| inner.downcast_ref());
    match cause {
        Some(Error::InvalidCertificate(why)) => match why {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                "its certificate has expired".to_owned()
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                "its certificate is not valid yet".to_owned()
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                "its certificate is of another name".to_owned()
            }
            _ => format!("it shows a certificate that {trusted} does not vouch for"),
        },
        _ => format!("TLS: {error}"),
    }
}

/// A verifier of server certificates.
#[derive(Debug)]
pub struct Trust {
    certificates: Vec<CertificateDer<'static>>,
    rules: Arc<WebPkiServerVerifier>,
}

impl Trust {
    /// Builds a verifier that trusts `certificates`.
    pub fn in_these(
        certificates: Vec<CertificateDer<'static>>,
        provider: Arc<CryptoProvider>,
    ) -> Result<Trust, Error> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(certificates.iter().cloned());
        let rules = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider);
        let rules = rules.build();
        Ok(Trust {
            certificates,
            rules: rules.map_err(|error| Error::General(error.to_string()))?,
        })
    }
}

/// Returns true if a refused certificate is one of the `known` certificates and was not refused because of its dates. A known
/// certificate is valid for every host name.
fn is_pinned(
    error: &CertificateError,
    known: &[CertificateDer<'_>],
    end_entity: &CertificateDer<'_>,
) -> bool {
    let in_time = !matches!(
        error,
        CertificateError::Expired
            | CertificateError::ExpiredContext { .. }
            | CertificateError::NotValidYet
            | CertificateError::NotValidYetContext { .. }
    );
    in_time && known.iter().any(|known| known == end_entity)
}

impl ServerCertVerifier for Trust {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let rules = &self.rules;
        let verified =
            rules.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        match verified {
            Err(Error::InvalidCertificate(error))
                if is_pinned(&error, &self.certificates, end_entity) =>
            {
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.rules.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.rules.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.rules.supported_verify_schemes()
    }
}
