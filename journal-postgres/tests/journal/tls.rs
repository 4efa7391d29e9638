//! Tests of encrypted connections: the client checks the server's identity, and a server can require a certificate of the
//! client.

use crate::authority::Authority;
use crate::cluster::{Cluster, config};
use crate::conformance::identity;
use std::path::Path;
use std::thread;
use std::time::Duration;
use teamlog_engine::journal::{Connector, Journals, LogState};
use teamlog_engine::{Error, JournalFault};
use teamlog_journal_postgres::{Config, PostgresJournals, TlsFiles};

/// Returns a `pg_hba.conf` that allows only TLS connections; `option` says if clients need a certificate.
fn hba(option: &str) -> String {
    format!(
        "hostssl journal all 127.0.0.1/32 trust {option}\nhost journal all 127.0.0.1/32 reject\n\
         host all all 127.0.0.1/32 trust\nhost replication all 127.0.0.1/32 trust\n"
    )
}

/// Returns a configuration with the primary alone, because the standbys would give other errors.
fn plain(cluster: &Cluster) -> Config {
    config(&[cluster.servers[0].port], "ada")
}

fn encrypted(cluster: &Cluster, tls: TlsFiles) -> Config {
    let config = plain(cluster);
    Config {
        url: format!("{}?sslmode=verify-full", config.url),
        tls,
        ..config
    }
}

fn trusting(authority: &Path) -> TlsFiles {
    TlsFiles {
        sslrootcert: Some(authority.to_owned()),
        ..TlsFiles::default()
    }
}

/// Returns the reason why the journal refuses this host permanently.
fn why(config: &Config) -> String {
    match config.inspect() {
        Err(Error::Journal {
            fault: JournalFault::Denied,
            why,
        }) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn connections_are_encrypted_to_the_server_that_is_meant() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let (authority, stranger) = (Authority::new("authority"), Authority::new("stranger"));
    authority.vouch("server", "server", "IP:127.0.0.1", 2);
    authority.vouch("other", "other", "DNS:db1", 2);
    // The certificate expires in its first second.
    authority.vouch("expired", "server", "IP:127.0.0.1", 0);
    thread::sleep(Duration::from_millis(2_100));
    authority.vouch("client", "teamlog", "DNS:client", 2);
    let ca = authority.path("ca.pem");
    let serve = |name: &str, option: &str| {
        let file = |ending: &str| authority.path(&format!("{name}.{ending}"));
        cluster.encrypt(0, [&file("pem"), &file("key"), &ca], &hba(option));
    };
    serve("server", "");
    let config = encrypted(&cluster, trusting(&ca));
    let copies = config.create(2).unwrap();
    assert_eq!(copies.wrong, Vec::<String>::new());
    let journals = PostgresJournals::new(config.clone(), copies.journal.clone());
    let log = identity(1, &copies.journal);
    journals.enroll(&log, LogState::Open).unwrap();
    let encrypted_now = "select bool_and(ssl) from pg_stat_ssl s join pg_stat_activity a using (pid) \
        where a.application_name = 'teamlog'";
    assert_eq!(cluster.sql(0, encrypted_now), "t");

    let refused = why(&plain(&cluster));
    assert!(refused.contains("pg_hba.conf"), "{refused}");
    let unknown = why(&encrypted(&cluster, trusting(&stranger.path("ca.pem"))));
    assert!(
        unknown.contains("not signed by a trusted authority"),
        "{unknown}"
    );
    serve("other", "");
    let another = why(&config);
    assert!(another.contains("not valid for name"), "{another}");
    serve("expired", "");
    let expired = why(&config);
    assert!(expired.contains("certificate expired"), "{expired}");

    serve("server", "clientcert=verify-full");
    let nobody = why(&config);
    assert!(nobody.contains("client certificate"), "{nobody}");
    let with = |name: &str| TlsFiles {
        sslcert: Some(authority.path(&format!("{name}.pem"))),
        sslkey: Some(authority.path(&format!("{name}.key"))),
        ..trusting(&ca)
    };
    let expired = why(&encrypted(&cluster, with("expired")));
    assert!(expired.to_lowercase().contains("certificate"), "{expired}");
    let config = encrypted(&cluster, with("client"));
    let looked = config.inspect().unwrap();
    assert_eq!(looked.journal, copies.journal);
}
