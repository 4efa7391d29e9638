//! Verifies the daemon's certificate. A certificate is accepted if a trusted certificate signed it according to the usual
//! rules of TLS, or if it is itself a trusted certificate, byte for byte.
//!
//! The second way is needed for self-signed certificates. Such certificates are often marked as authorities, and the
//! usual rules refuse such a certificate for a server.

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use std::sync::Arc;

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
