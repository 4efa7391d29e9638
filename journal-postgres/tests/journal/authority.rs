//! Certificates for the tests, and the authority that signs them.

use std::path::PathBuf;
use std::process::Command;

/// An authority that signs certificates.
pub struct Authority(tempfile::TempDir);

const NEW_KEY: &str = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";

impl Authority {
    pub fn new(name: &str) -> Authority {
        let authority = Authority(tempfile::tempdir().unwrap());
        let extension = "basicConstraints=critical,CA:TRUE";
        authority.openssl(&format!(
            "req -x509 {NEW_KEY} -keyout ca.key -out ca.pem -subj /CN={name} -days 2 -addext {extension}"
        ));
        authority
    }

    fn openssl(&self, line: &str) {
        let mut command = Command::new("openssl");
        command.args(line.split(' ')).current_dir(self.0.path());
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "openssl {line}: {said}");
    }

    /// Creates the certificate `NAME.pem` and the key `NAME.key` for a subject, valid for `days` days. `also` is a further name
    /// of the subject.
    pub fn vouch(&self, name: &str, subject: &str, also: &str, days: u32) {
        let extensions = self.path("extensions");
        std::fs::write(extensions, format!("subjectAltName={also}\n")).unwrap();
        self.openssl(&format!(
            "req {NEW_KEY} -keyout {name}.key -out {name}.csr -subj /CN={subject}"
        ));
        self.openssl(&format!(
            "x509 -req -in {name}.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out {name}.pem -days {days} -extfile extensions"
        ));
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}
