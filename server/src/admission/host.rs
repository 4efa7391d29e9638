//! Checks the `Host` header against DNS rebinding. An attacker can make the host name of a web page point at this
//! machine. The browser then still sends that host name, so the daemon refuses the request.

use crate::reply::Reply;
use crate::via::Via;
use crate::wire::watched::malformed;
use hyper::Request;
use hyper::body::Incoming;
use hyper::header::HOST;

/// Names of the loopback address.
pub(crate) const NAMES: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// Checks that `Host` and the request target name this daemon. Otherwise returns a 400 or 421 reply.
pub(crate) fn check(request: &Request<Incoming>, via: Via, port: u16) -> Result<(), Reply> {
    let uri = request.uri();
    if uri.scheme().is_some() {
        // A client that takes this server for a proxy may send requests for another host.
        let refused = malformed("the request target must be a path; this server is not a proxy");
        return Err(refused.header("connection", "close"));
    }
    let mut hosts = request.headers().get_all(HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else {
        return Err(malformed("host must be given once"));
    };
    match std::str::from_utf8(host.as_bytes()) {
        // TLS clients check the name in the certificate. The daemon does not know its own host names.
        Ok(_) if via == Via::Tls => Ok(()),
        Ok(host) if is_ours(host, via, port) => Ok(()),
        _ => Err(Reply::error(
            421,
            "misdirected",
            "the host header must be the address that the daemon listens on",
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
                // The port may be missing on port 80 and on the socket. Other machines cannot reach the socket.
                None => rest.is_empty() && (port == 80 || via == Via::Socket),
                Some(digits) => digits == port.to_string(),
            }
    })
}
