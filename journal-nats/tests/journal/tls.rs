//! Encrypted connections: who the server is, is checked, and who asks may have to show it.

use crate::cluster::{Cluster, Settings};
use std::path::{Path, PathBuf};
use std::process::Command;
use teamlog_engine::JournalFault;
use teamlog_journal_nats::{Config, NatsJournals};

const NEW_KEY: &str = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";

/// Certificates of the test's own, and who vouches for them.
struct Authority(tempfile::TempDir);

impl Authority {
    fn new(name: &str) -> Authority {
        let authority = Authority(tempfile::tempdir().unwrap());
        let extension = "basicConstraints=critical,CA:TRUE";
        authority.openssl(&format!(
            "req -x509 {NEW_KEY} -keyout ca.key -out ca.pem -subj /CN={name} -days 2 -addext {extension}"
        ));
        authority
    }

    fn openssl(&self, line: &str) {
        let mut command = Command::new("openssl");
        let output = command
            .args(line.split(' '))
            .current_dir(self.0.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "openssl {line}: {output:?}");
    }

    /// Makes `NAME.pem` and `NAME.key`, for that other name of it.
    fn vouch(&self, name: &str, also: &str) {
        std::fs::write(self.path("extensions"), format!("subjectAltName={also}\n")).unwrap();
        self.openssl(&format!(
            "req {NEW_KEY} -keyout {name}.key -out {name}.csr -subj /CN={name}"
        ));
        self.openssl(&format!(
            "x509 -req -in {name}.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out {name}.pem -days 2 -extfile extensions"
        ));
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// One server that shows a certificate, and asks for one or not.
    fn serve(&self, name: &str, verify: bool) -> Option<Cluster> {
        let file = |ending: &str| self.path(&format!("{name}.{ending}")).display().to_string();
        let more = format!(
            "tls {{ cert_file: \"{}\", key_file: \"{}\", ca_file: \"{}\", verify: {verify} }}\n",
            file("pem"),
            file("key"),
            self.path("ca.pem").display()
        );
        Cluster::with(&Settings {
            servers: 1,
            more,
            ..Settings::default()
        })
    }
}

fn encrypted(cluster: &Cluster, authority: &Path) -> Config {
    let config = cluster.config();
    Config {
        url: config.url.replace("nats://", "tls://"),
        sslrootcert: Some(authority.to_owned()),
        ..config
    }
}

/// Why no server is reached.
#[track_caller]
fn why(config: &Config) -> String {
    let error = NatsJournals::look(config).unwrap_err();
    assert_eq!(
        error.journal_fault(),
        Some(JournalFault::Unreachable),
        "{error}"
    );
    error.to_string()
}

#[test]
fn connections_are_encrypted_to_the_server_that_is_meant() {
    let (authority, stranger) = (Authority::new("authority"), Authority::new("stranger"));
    authority.vouch("server", "IP:127.0.0.1");
    authority.vouch("other", "DNS:n1");
    authority.vouch("client", "DNS:client");
    let ca = authority.path("ca.pem");
    let Some(server) = authority.serve("server", false) else {
        return;
    };
    let copies = NatsJournals::create(&encrypted(&server, &ca), 1).unwrap();
    assert_eq!(copies.wrong, Vec::<String>::new());
    let unknown = why(&encrypted(&server, &stranger.path("ca.pem")));
    assert!(unknown.contains("certificate"), "{unknown}");
    // The server asks for encryption, and nobody vouches for it.
    why(&server.config());
    let other = authority.serve("other", false).unwrap();
    let another = why(&encrypted(&other, &ca));
    assert!(another.contains("not valid for name"), "{another}");
    let plain = Cluster::with(&Settings {
        servers: 1,
        ..Settings::default()
    });
    why(&encrypted(&plain.unwrap(), &ca));

    let asking = authority.serve("server", true).unwrap();
    why(&encrypted(&asking, &ca));
    let config = Config {
        sslcert: Some(authority.path("client.pem")),
        sslkey: Some(authority.path("client.key")),
        ..encrypted(&asking, &ca)
    };
    NatsJournals::create(&config, 1).unwrap();
}
