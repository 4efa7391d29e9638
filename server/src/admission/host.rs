//! Whom a request believes to speak with. A page whose name was pointed at this machine (DNS rebinding) gives its own
//! name, and is told that nobody of that name is here.

use crate::reply::Reply;
use crate::via::Via;
use crate::wire::watched::malformed;
use hyper::Request;
use hyper::body::Incoming;
use hyper::header::HOST;

/// The names of the loopback.
pub(crate) const NAMES: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// Checks `Host`, and that the target names no host of its own; else 400 or 421.
pub(crate) fn check(request: &Request<Incoming>, via: Via, port: u16) -> Result<(), Reply> {
    let uri = request.uri();
    if uri.scheme().is_some() {
        // Whoever takes this for a proxy has more to say that is not meant for it.
        let refused = malformed("target must be a path: this is no proxy");
        return Err(refused.header("connection", "close"));
    }
    let mut hosts = request.headers().get_all(HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else {
        return Err(malformed("host must be given once"));
    };
    match std::str::from_utf8(host.as_bytes()) {
        // The client made sure by the certificate; which name leads here is known to nobody else.
        Ok(_) if via == Via::Tls => Ok(()),
        Ok(host) if is_ours(host, via, port) => Ok(()),
        _ => Err(Reply::error(
            421,
            "misdirected",
            "host must be the address that the daemon listens on",
        )),
    }
}

fn is_ours(host: &str, via: Via, port: u16) -> bool {
    NAMES.iter().any(|name| {
        let Some((given, rest)) = host.split_at_checked(name.len()) else {
            return false;
        };
        given.eq_ignore_ascii_case(name)
            && match rest.strip_prefix(':') {
                // No other machine reaches the socket, and who speaks on it knows of no port.
                None => rest.is_empty() && (port == 80 || via == Via::Socket),
                Some(digits) => digits == port.to_string(),
            }
    })
}
