"""Receives posted events and verifies their signature: receive_events.py SECRET_FILE FILE"""
import hashlib, hmac, http.server, sys, time

secret = open(sys.argv[1], "rb").read().strip()


def is_signed(headers, body):
    sent_at = headers.get("Teamlog-Timestamp", "0")
    signed = sent_at.encode() + b"." + body
    expected = "v1=" + hmac.new(secret, signed, hashlib.sha256).hexdigest()
    is_equal = hmac.compare_digest(expected, headers.get("Teamlog-Signature", ""))
    return is_equal and abs(time.time() - int(sent_at)) < 300


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if not is_signed(self.headers, body):
            return self.send_error(401)
        with open(sys.argv[2], "a") as file:
            file.write(self.headers["Teamlog-Seq"] + "\n")
        self.send_response(204)
        self.end_headers()


server = http.server.HTTPServer(("127.0.0.1", 0), Receiver)
print(server.server_port, flush=True)
server.serve_forever()
