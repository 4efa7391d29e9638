//! Encrypted connections: who the server is, is checked, and who asks may have to show it.

use crate::authority::Authority;
use crate::cluster::{Cluster, Settings};
use std::path::Path;
use teamlog_engine::JournalFault;
use teamlog_engine::journal::Way;
use teamlog_journal_nats::Config;

/// One server that shows a certificate, and asks for one or not.
fn serve(authority: &Authority, name: &str, verify: bool) -> Option<Cluster> {
    let file = |name: String| authority.path(&name).display().to_string();
    let more = format!(
        "tls {{ cert_file: \"{}\", key_file: \"{}\", ca_file: \"{}\", verify: {verify} }}\n",
        file(format!("{name}.pem")),
        file(format!("{name}.key")),
        file("ca.pem".to_owned())
    );
    Cluster::with(&Settings {
        servers: 1,
        more,
        ..Settings::default()
    })
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
    let error = config.look().unwrap_err();
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
    authority.vouch("server", "server", "IP:127.0.0.1", 2);
    authority.vouch("other", "other", "DNS:n1", 2);
    authority.vouch("client", "client", "DNS:client", 2);
    let ca = authority.path("ca.pem");
    let Some(server) = serve(&authority, "server", false) else {
        return;
    };
    let copies = encrypted(&server, &ca).create(1).unwrap();
    assert_eq!(copies.wrong, Vec::<String>::new());
    let unknown = why(&encrypted(&server, &stranger.path("ca.pem")));
    assert!(unknown.contains("certificate"), "{unknown}");
    // The server asks for encryption, and nobody vouches for it.
    why(&server.config());
    let other = serve(&authority, "other", false).unwrap();
    let another = why(&encrypted(&other, &ca));
    assert!(another.contains("not valid for name"), "{another}");
    let plain = Cluster::with(&Settings {
        servers: 1,
        ..Settings::default()
    });
    why(&encrypted(&plain.unwrap(), &ca));

    let asking = serve(&authority, "server", true).unwrap();
    why(&encrypted(&asking, &ca));
    let config = Config {
        sslcert: Some(authority.path("client.pem")),
        sslkey: Some(authority.path("client.key")),
        ..encrypted(&asking, &ca)
    };
    config.create(1).unwrap();
}
