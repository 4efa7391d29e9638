//! The URL of a subscription's receiver.

use std::net::{SocketAddr, ToSocketAddrs};

/// A URL to which events are posted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostUrl {
    /// True for `https`.
    pub is_tls: bool,
    /// Host name, or IP address without brackets.
    pub host: String,
    pub port: u16,
    /// Path and query.
    pub target: String,
}

impl PostUrl {
    /// Parses a URL.
    ///
    /// # Errors
    /// The rule that the URL breaks.
    pub fn parse(url: &str) -> Result<PostUrl, String> {
        let (is_tls, rest) = match (url.strip_prefix("https://"), url.strip_prefix("http://")) {
            (Some(rest), _) => (true, rest),
            (None, Some(rest)) => (false, rest),
            (None, None) => return Err("must begin with https:// or http://".to_owned()),
        };
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (place, target) = rest.split_at_checked(end).unwrap_or((rest, ""));
        if place.contains('@') {
            return Err("must not name a user or a password".to_owned());
        }
        if target.contains('#') {
            return Err("must not have a fragment (#)".to_owned());
        }
        if !url.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("must have printable ASCII characters without spaces only".to_owned());
        }
        let usual = if is_tls { 443 } else { 80 };
        let malformed = || "must be https://HOST:PORT/PATH".to_owned();
        let (host, port) = place_parts(place, usual).ok_or_else(malformed)?;
        Ok(PostUrl {
            is_tls,
            host: host.to_owned(),
            port,
            target: match target.starts_with('/') {
                true => target.to_owned(),
                false => format!("/{target}"),
            },
        })
    }

    /// Returns the value of the `Host` header.
    pub fn authority(&self) -> String {
        let host = match self.host.contains(':') {
            true => format!("[{}]", self.host),
            false => self.host.clone(),
        };
        let usual = if self.is_tls { 443 } else { 80 };
        match self.port == usual {
            true => host,
            false => format!("{host}:{}", self.port),
        }
    }

    /// Returns scheme, host and port. Path and query can be secrets.
    pub fn origin(&self) -> String {
        let scheme = if self.is_tls { "https" } else { "http" };
        format!("{scheme}://{}", self.authority())
    }

    /// Resolves the host. Without TLS, only addresses of the loopback are allowed.
    ///
    /// # Errors
    /// The host has no address, or an address of another machine without TLS.
    pub fn addresses(&self) -> Result<Vec<SocketAddr>, String> {
        let resolved = (self.host.as_str(), self.port).to_socket_addrs();
        let addresses: Vec<SocketAddr> = resolved
            .map_err(|error| format!("cannot resolve {}: {error}", self.host))?
            .collect();
        self.check(&addresses)?;
        Ok(addresses)
    }

    fn check(&self, addresses: &[SocketAddr]) -> Result<(), String> {
        let mut others = addresses.iter().map(SocketAddr::ip);
        match others.find(|ip| !self.is_tls && !ip.to_canonical().is_loopback()) {
            Some(ip) => Err(format!(
                "http is only for this machine, but {} has the address {ip}; use https",
                self.host
            )),
            None => Ok(()),
        }
    }
}

fn place_parts(place: &str, usual: u16) -> Option<(&str, u16)> {
    let port = |text: &str| text.parse().ok().filter(|port| *port != 0);
    let (host, port) = match place.strip_prefix('[') {
        Some(rest) => match rest.split_once(']')? {
            (host, "") => (host, usual),
            (host, rest) => (host, port(rest.strip_prefix(':')?)?),
        },
        None => match place.split_once(':') {
            Some((host, text)) => (host, port(text)?),
            None => (place, usual),
        },
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._:".contains(c);
    (!host.is_empty() && host.chars().all(is_plain)).then_some((host, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_has_scheme_host_port_and_target() {
        for (text, origin, target) in [
            ("https://example.org", "https://example.org", "/"),
            (
                "https://example.org/a/b?c=d",
                "https://example.org",
                "/a/b?c=d",
            ),
            ("http://127.0.0.1:8080/x", "http://127.0.0.1:8080", "/x"),
            ("http://[::1]:9/?q", "http://[::1]:9", "/?q"),
            ("http://localhost?x", "http://localhost", "/?x"),
        ] {
            let url = PostUrl::parse(text).unwrap();
            assert_eq!((&*url.origin(), &*url.target), (origin, target), "{text}");
        }
        for text in [
            "",
            "ftp://h/",
            "example.org",
            "https://",
            "https://:1/",
            "https://h:0/",
            "https://h:65536/",
            "https://ada:secret@h/",
            "https://h/#x",
            "https://h/a b",
            "https://h/\r\nX: y",
            "http://[::1/",
        ] {
            assert!(PostUrl::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn without_tls_every_address_must_be_of_this_machine() {
        let url = PostUrl::parse("http://localhost:1/").unwrap();
        let address = |text: &str| text.parse::<SocketAddr>().unwrap();
        let own = [
            address("127.0.0.2:1"),
            address("[::1]:1"),
            address("[::ffff:127.0.0.1]:1"),
        ];
        assert_eq!(url.check(&own), Ok(()));
        // A name that resolves to this machine and to another one, as in DNS rebinding.
        for other in [
            "10.0.0.1:1",
            "0.0.0.0:1",
            "[fe80::1]:1",
            "[::ffff:8.8.8.8]:1",
        ] {
            let error = url.check(&[own[0], address(other)]).unwrap_err();
            assert!(error.contains("use https"), "{error}");
        }
        let tls = PostUrl::parse("https://localhost:1/").unwrap();
        assert_eq!(tls.check(&[address("10.0.0.1:1")]), Ok(()));
        assert!(
            PostUrl::parse("http://192.0.2.1/")
                .unwrap()
                .addresses()
                .is_err()
        );
    }
}
