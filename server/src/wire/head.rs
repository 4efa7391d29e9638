//! Second check of request heads, against request smuggling. This check refuses heads that the HTTP parser accepts
//! but that another program could interpret differently.
//!
//! The parser accepts a lone line feed as the end of a line, and ignores `Content-Length` if there is `Transfer-Encoding`. A proxy between
//! client and server may interpret the head differently. Such a head is refused and its connection is closed.

/// The bytes of a connection that were read since the last body ended. They contain request heads.
#[derive(Debug, Default)]
pub(crate) struct Heads {
    raw: Vec<u8>,
    /// Number of bytes of the current body that are still to be read.
    body_left: u64,
    /// True if no further head may be answered.
    over: bool,
}

/// Description of the fault in a head.
pub(crate) type HeadFault = &'static str;

impl Heads {
    /// Adds bytes that were read from the connection.
    pub fn heard(&mut self, mut bytes: &[u8]) {
        if self.over {
            return;
        }
        let body = usize::try_from(self.body_left).unwrap_or(usize::MAX);
        let skipped = body.min(bytes.len());
        self.body_left -= skipped as u64;
        bytes = bytes.get(skipped..).unwrap_or_default();
        self.raw.extend_from_slice(bytes);
    }

    /// Checks the head that the parser has just accepted. After a fault or a head that closes the connection, later
    /// bytes are not checked, so the connection must be closed.
    pub fn next(&mut self) -> Result<(), HeadFault> {
        let framing = self.examine();
        if let Ok(Framing {
            head,
            body: Some(body),
        }) = framing
        {
            let rest = self.raw.split_off(head.min(self.raw.len()));
            self.raw.clear();
            self.body_left = body;
            self.heard(&rest);
        } else {
            self.over = true;
            self.raw = Vec::new();
        }
        framing.map(drop)
    }

    /// Returns true if the connection must be closed after the current request.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Returns the length of the body that the head declares. Returns `None` if the head is malformed or declares no length.
    pub fn declared(&self) -> Option<u64> {
        self.examine().ok()?.body
    }

    fn examine(&self) -> Result<Framing, HeadFault> {
        let mut rest = self.raw.as_slice();
        while let Some(after) = rest.strip_prefix(b"\r\n") {
            rest = after;
        }
        let before = self.raw.len() - rest.len();
        let Some(end) = rest.windows(4).position(|four| four == b"\r\n\r\n") else {
            return Err("a line of the head must end in CR LF");
        };
        let head = rest.get(..end).unwrap_or_default();
        let mut lengths = Vec::new();
        let mut codings = 0;
        for line in lines(head)?.into_iter().skip(1) {
            if let Some(b' ' | b'\t') = line.first() {
                return Err("a header must be on one line");
            }
            let Some(colon) = line.iter().position(|byte| *byte == b':') else {
                return Err("a header must have a colon");
            };
            let (name, value) = line.split_at(colon);
            let value = value.get(1..).unwrap_or_default().trim_ascii();
            if name.eq_ignore_ascii_case(b"content-length") {
                lengths.push(value);
            } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
                codings += 1;
                // The parser accepts any list that ends with `chunked`, and would pass on a body with the other codings
                // undecoded.
                if !value.eq_ignore_ascii_case(b"chunked") {
                    return Err("transfer-encoding must be chunked");
                }
            }
        }
        let body = match (lengths.as_slice(), codings) {
            ([], 0) => Some(0),
            ([length], 0) => Some(decimal(length)?),
            ([], 1) => None,
            ([], _) => return Err("transfer-encoding must be given once"),
            (_, 0) => return Err("content-length must be given once"),
            _ => return Err("content-length and transfer-encoding must not be given together"),
        };
        Ok(Framing {
            head: before + end + 4,
            body,
        })
    }
}

/// The end of a head, and the length of the body. The length is `None` for a chunked body.
struct Framing {
    head: usize,
    body: Option<u64>,
}

fn lines(head: &[u8]) -> Result<Vec<&[u8]>, HeadFault> {
    let mut lines: Vec<&[u8]> = head.split(|byte| *byte == b'\n').collect();
    // The last line has no line end, because the end of the head was removed before.
    let ended = lines.len().saturating_sub(1);
    for line in lines.iter_mut().take(ended) {
        let stripped = line.strip_suffix(b"\r");
        *line = stripped.ok_or("a line of the head must end in CR LF")?;
    }
    Ok(lines)
}

/// Parses a decimal number. A number that is too large becomes `u64::MAX`.
fn decimal(digits: &[u8]) -> Result<u64, HeadFault> {
    let digits = std::str::from_utf8(digits)
        .ok()
        .filter(|text| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()));
    let digits = digits.ok_or("content-length must be a number")?;
    Ok(digits.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(head: &str) -> Option<HeadFault> {
        let mut heads = Heads::default();
        heads.heard(head.as_bytes());
        let fault = heads.next().err();
        assert_eq!(fault.is_some(), heads.is_over(), "{head:?}");
        fault
    }

    #[test]
    fn what_can_be_understood_in_two_ways_is_refused() {
        let one_line = "a line of the head must end in CR LF";
        let both = "content-length and transfer-encoding must not be given together";
        let cases = [
            ("GET / HTTP/1.1\r\nHost: h\r\n\r\n", None),
            ("\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n", None),
            ("POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", None),
            ("GET / HTTP/1.1\nHost: h\r\n\r\n", Some(one_line)),
            ("GET / HTTP/1.1\r\nHost: h\n\n", Some(one_line)),
            ("GET / HTTP/1.1\r\nA: b\nC: d\r\n\r\n", Some(one_line)),
            ("\nGET / HTTP/1.1\r\n\r\n", Some(one_line)),
            (
                "GET / HTTP/1.1\r\nA: b\r\n c\r\n\r\n",
                Some("a header must be on one line"),
            ),
            (
                "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n",
                Some(both),
            ),
            (
                "POST / HTTP/1.1\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n",
                Some(both),
            ),
            (
                "POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
                Some("transfer-encoding must be chunked"),
            ),
            (
                "POST / HTTP/1.1\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n",
                Some("content-length must be given once"),
            ),
            (
                "POST / HTTP/1.1\r\nContent-Length: +2\r\n\r\n",
                Some("content-length must be a number"),
            ),
            (
                "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n",
                None,
            ),
        ];
        for (head, expected) in cases {
            assert_eq!(fault(head), expected, "{head:?}");
        }
    }

    #[test]
    fn a_head_is_found_behind_the_body_before_it_however_the_bytes_arrive() {
        let stream = "POST /1 HTTP/1.1\r\nContent-Length: 9\r\n\r\nbare\nline\
                      GET /2 HTTP/1.1\r\nHost: h\r\n\r\n\r\nGET /3 HTTP/1.1\nHost: h\r\n\r\n";
        for size in 1..stream.len() {
            let mut heads = Heads::default();
            for piece in stream.as_bytes().chunks(size) {
                heads.heard(piece);
            }
            assert_eq!(heads.next(), Ok(()), "by {size}");
            assert_eq!(heads.next(), Ok(()), "by {size}");
            assert!(heads.next().is_err(), "by {size}");
        }
    }

    #[test]
    fn nothing_is_looked_for_behind_a_body_in_chunks() {
        let mut heads = Heads::default();
        heads.heard(b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
        assert_eq!(heads.next(), Ok(()));
        assert!(heads.is_over());
        heads.heard(b"GET / HTTP/1.1\r\n\r\n");
        assert!(heads.raw.is_empty());
    }
}
