#!/usr/bin/env python3
"""Reads a team's log from its directory and prints its events, one line of JSON each.

Written from docs/format.md alone, to show that the document suffices. Checks everything that the
document asks a reader to check: CRCs, order, groups, headers, the head. The digests that chain the
segments are checked too if the module `blake3` is installed. Reads only; takes no lock.

    python3 read_log.py teams/demo

Exit code 0 if the log is sound up to its head, 65 with a message if it is not, 74 if it cannot be read.
"""

import json
import os
import re
import struct
import sys
import zlib
from datetime import datetime, timedelta, timezone

try:
    from blake3 import blake3
except ImportError:
    blake3 = None

VERSION = {"jsonl": 1, "binary": 2}
LOG_VERSION = 4
SLOT_VERSION = 1
UNDECLARED = ["trace_id", "task_id", "agent", "message_id", "thread_id", "session_id"]
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
MICROS_MAX = 253_402_300_799_999_999
KIND = re.compile(r"[a-z][a-z0-9_]{0,127}\Z")
UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
NUMBER = r"(?:0|[1-9][0-9]*)"
STRING = r'"(?:[^"\\\x00-\x1f]|\\.)*"'


class Damage(Exception):
    """The log is not as it must be."""


def require(condition, what):
    if not condition:
        raise Damage(what)


def read(path):
    with open(path, "rb") as file:
        return file.read()


# --- texts, times, ids (sections 4 and 6) ---------------------------------------------------------


def quoted(text):
    """A string as canonical JSON."""
    short = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
    return '"' + "".join(short.get(c) or ("\\u%04x" % ord(c) if c < " " else c) for c in text) + '"'


def identifier(text):
    require(1 <= len(text.encode()) <= 128, "an identifier has 1 to 128 bytes")
    require(not any(ord(c) < 0x20 or 0x7F <= ord(c) <= 0x9F for c in text), "a control character")
    return text


def time_text(micros):
    return (EPOCH + timedelta(microseconds=micros)).strftime("%Y-%m-%dT%H:%M:%S.%fZ").rjust(27, "0")


def uuid_text(raw):
    text = raw.hex()
    return "-".join([text[:8], text[8:12], text[12:16], text[16:20], text[20:]])


def uuid_bytes(text):
    require(re.fullmatch(UUID, text), "not a UUID: " + text)
    return bytes.fromhex(text.replace("-", ""))


def id_micros(raw):
    """The time that an event id encodes."""
    number = int.from_bytes(raw, "big")
    require(number >> 76 & 0xF == 7 and number >> 62 & 3 == 2, "an id is not a UUIDv7")
    millis, fraction = number >> 80, number >> 64 & 0xFFF
    micros = -(-fraction * 1000 // 4096)
    require(micros < 1000 and micros * 4096 // 1000 == fraction, "an id is not of a whole microsecond")
    require(millis * 1000 + micros <= MICROS_MAX, "an id lies past the year 9999")
    return millis * 1000 + micros


# --- the public form (section 5) ------------------------------------------------------------------


def public(event, refs):
    parts = ['{"seq":%d,"id":"%s"' % (event["seq"], uuid_text(event["id"]))]
    parts.append(',"created_at":"%s"' % time_text(event["created_at"]))
    parts.append(',"kind":%s,"actor":%s' % (quoted(event["kind"]), quoted(event["actor"])))
    parts += [',"%s":%s' % (name, quoted(event[name])) for name in refs if name in event]
    if "cause" in event:
        parts.append(',"cause":"%s"' % uuid_text(event["cause"]))
    if "key" in event:
        parts.append(',"key":%s' % quoted(event["key"]))
    parts.append(',"schema_version":%d' % event["schema_version"])
    parts.append(',"foreign":true' if event["foreign"] else "")
    parts.append(',"payload":%s}' % event["payload"])
    return "".join(parts)


# --- jsonl (sections 3 and 5) ---------------------------------------------------------------------

TAIL = re.compile(rb',"crc":"([0-9a-f]{8})"')


def line_pattern(refs):
    return re.compile(
        r'\{"seq":(?P<seq>%s),"id":"(?P<id>%s)","created_at":"(?P<created_at>.{27})"'
        r',"kind":(?P<kind>%s),"actor":(?P<actor>%s)' % (NUMBER, UUID, STRING, STRING)
        + "".join(r'(?:,"%s":(?P<%s>%s))?' % (name, name, STRING) for name in refs)
        + r'(?:,"cause":"(?P<cause>%s)")?(?:,"key":(?P<key>%s))?' % (UUID, STRING)
        + r',"schema_version":(?P<schema_version>%s)(?P<foreign>,"foreign":true)?' % NUMBER
        + r',"payload":(?P<payload>.*?)(?:,"group":\[(?P<i>%s),(?P<n>%s)\])?\Z' % (NUMBER, NUMBER),
        re.DOTALL,
    )


def checked_line(data, at, closing):
    """The text of the line at `at` that its CRC covers, and where the line ends."""
    newline = data.find(b"\n", at)
    require(newline >= 0, "the line at byte %d does not end" % at)
    line = data[at : newline + 1]
    require(line.endswith(closing), "the line at byte %d ends oddly" % at)
    body, tail = line[: -len(closing) - 17], line[-len(closing) - 17 : -len(closing)]
    match = TAIL.fullmatch(tail)
    require(match and int(match.group(1), 16) == zlib.crc32(body), "CRC of the line at byte %d" % at)
    return body.decode(), newline + 1


def jsonl_frame(data, at, refs):
    body, end = checked_line(data, at, b"}\n")
    match = line_pattern(refs).match(body)
    require(match, "the line at byte %d is not an event" % at)
    found = match.groupdict()
    event = {"seq": int(found["seq"]), "id": uuid_bytes(found["id"]), "foreign": bool(found["foreign"])}
    event["created_at"] = id_micros(event["id"])
    require(time_text(event["created_at"]) == found["created_at"], "created_at at byte %d" % at)
    for name in ["kind", "actor", "key"] + refs:
        if found[name] is not None:
            event[name] = json.loads(found[name])
            require(quoted(event[name]) == found[name], "%s at byte %d is not canonical" % (name, at))
    if found["cause"]:
        event["cause"] = uuid_bytes(found["cause"])
    event["schema_version"], event["payload"] = int(found["schema_version"]), found["payload"]
    group = (int(found["i"]), int(found["n"])) if found["n"] else (0, 1)
    require(group == (0, 1) or 0 <= group[0] < group[1] > 1, "group at byte %d" % at)
    return event, group, end


def jsonl_header(data):
    opening = b'{"teamlog":{"format":"jsonl","version":'
    require(data.startswith(opening), "not a jsonl segment")
    version = re.match(rb"[0-9]+", data[len(opening) :])
    require(version and int(version.group()) == VERSION["jsonl"], "a format version that this reader does not know")
    body, end = checked_line(data, 0, b"}}\n")
    fields = json.loads(body + "}}")["teamlog"]
    names = ["format", "version", "log", "team", "segment", "first_seq", "previous"]
    require(list(fields) == names, "the fields of a header")
    previous = fields["previous"]
    if previous is not None:
        require(list(previous) == ["name", "length", "blake3"], "the fields of a predecessor")
        previous = (previous["name"], previous["length"], bytes.fromhex(previous["blake3"]))
    return (fields["log"], fields["team"], fields["segment"], fields["first_seq"], previous), end


# --- binary (sections 3 and 5) --------------------------------------------------------------------


class Fields:
    """Takes fields off the front of some bytes."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, length):
        require(self.at + length <= len(self.data), "a field reaches past its frame")
        self.at += length
        return self.data[self.at - length : self.at]

    def unpack(self, layout):
        return struct.unpack("<" + layout, self.take(struct.calcsize("<" + layout)))

    def short(self):
        return self.take(self.take(1)[0]).decode()

    def done(self):
        require(self.at == len(self.data), "something stands behind the last field")


def binary_frame(data, at, refs):
    require(data[at : at + 4] == b"\x1eTLE", "no frame begins at byte %d" % at)
    require(at + 12 <= len(data), "the frame at byte %d is cut short" % at)
    length, crc = struct.unpack_from("<II", data, at + 4)
    end = at + 12 + length
    require(length <= 1 << 20 and end <= len(data), "the frame at byte %d is cut short" % at)
    require(zlib.crc32(data[at + 12 : end], zlib.crc32(data[at + 4 : at + 8])) == crc, "CRC of the frame at byte %d" % at)
    body = Fields(data[at + 12 : end])
    seq, raw, created_at, i, n, schema_version, flags = body.unpack("Q16sqIIIH")
    require(flags < 1 << 9, "an unknown flag at byte %d" % at)
    require(i < n, "group at byte %d" % at)
    event = {"seq": seq, "id": raw, "created_at": created_at, "schema_version": schema_version, "foreign": bool(flags & 1)}
    require(id_micros(raw) == created_at, "created_at at byte %d" % at)
    event["kind"], event["actor"] = body.short(), body.short()
    require(flags >> 1 & 0x3F < 1 << len(refs), "a flag of a ref that is not declared at byte %d" % at)
    for bit, name in enumerate(refs, 1):
        if flags & 1 << bit:
            event[name] = body.short()
    if flags & 1 << 8:
        event["cause"] = body.take(16)
    if flags & 1 << 7:
        event["key"] = body.short()
    event["payload"] = body.take(body.unpack("I")[0]).decode()
    body.done()
    return event, (i, n), end


def binary_header(data):
    require(data[:8] == b"\x1eTLOGSEG" and len(data) >= 20, "not a binary segment")
    version, length, crc = struct.unpack_from("<III", data, 8)
    require(1 <= version <= VERSION["binary"], "a format version that this reader does not know")
    require(length <= 4096 and len(data) >= 20 + length, "the header is cut short")
    require(zlib.crc32(data[20 : 20 + length], zlib.crc32(data[8:16])) == crc, "CRC of the header")
    body = Fields(data[20 : 20 + length])
    log, segment, first_seq = body.unpack("16sIQ")
    team, (has_previous,) = body.short(), body.unpack("B")
    require(has_previous in (0, 1), "has_previous")
    previous = (body.short(), *body.unpack("Q32s")) if has_previous else None
    body.done()
    return (uuid_text(log), team, segment, first_seq, previous), 20 + length


# --- identity and head (sections 2 and 7) ---------------------------------------------------------


def identity(directory):
    line = read(os.path.join(directory, "log.json"))
    fields = json.loads(line)
    require(1 <= fields["version"] <= LOG_VERSION, "a format version that this reader does not know")
    body, end = checked_line(line, 0, b"}\n")
    require(end == len(line), "something stands behind log.json's line")
    require(fields["format"] in ("jsonl", "binary"), "an unknown format")
    version = fields.get("format_version", fields["version"])
    require(1 <= version <= VERSION[fields["format"]], "a format version that this reader does not know")
    return dict(fields, version=version, refs=fields.get("refs", UNDECLARED))


def head(directory, log):
    """The newest valid slot, or None."""
    data, newest = read(os.path.join(directory, "head")), None
    for slot in (data[:512], data[512:1024]):
        if len(slot) < 512 or slot[:8] != b"\x1eTLHEAD\0" or zlib.crc32(slot[:508]) != struct.unpack("<I", slot[508:])[0]:
            continue
        version, flags, slot_log, generation, end, last_seq, last_id, segment, _, length = struct.unpack_from(
            "<II16sQQQ16sIII", slot, 8
        )
        require(version <= SLOT_VERSION, "a head of a format version that this reader does not know")
        require(uuid_text(slot_log) == log, "the head belongs to another log")
        if newest is None or generation > newest["generation"]:
            name = slot[84 : 84 + length].decode()
            newest = dict(generation=generation, end=end, last_seq=last_seq, last_id=last_id, segment=segment, name=name)
    return newest


# --- the log --------------------------------------------------------------------------------------


def segments(directory, extension):
    """Names of the segments, in order."""
    pattern = re.compile(r"(\d{4}-\d{2}-\d{2})(?:\.x(\d{3,}))?\.%s\Z" % extension)
    found = [(match.group(1), int(match.group(2) or 0), name)
             for name in os.listdir(os.path.join(directory, "events"))
             for match in [pattern.match(name)] if match]
    return [name for _, _, name in sorted(found)]


def events(directory, own):
    """Every event up to the head, in order, everything checked."""
    decode_header, decode_frame, extension = {
        "jsonl": (jsonl_header, jsonl_frame, "jsonl"),
        "binary": (binary_header, binary_frame, "tlog"),
    }[own["format"]]
    end_of_log, names = head(directory, own["log"]), segments(directory, extension)
    if end_of_log is not None:
        if end_of_log["segment"] == 0:
            return
        require(end_of_log["name"] in names, "the segment that the head names is missing")
        names = names[: names.index(end_of_log["name"]) + 1]
        require(len(names) == end_of_log["segment"], "a segment is missing")
    seq, last_id, previous = 0, bytes(16), None
    for number, name in enumerate(names, 1):
        data = read(os.path.join(directory, "events", name))
        if end_of_log is not None and number == len(names):
            require(len(data) >= end_of_log["end"], "the segment ends before the head does")
            data = data[: end_of_log["end"]]
        header, at = decode_header(data)
        if end_of_log is None and number == len(names) and (own["format"], own["version"]) == ("binary", 2):
            data = data[:at] + data[at:].rstrip(b"\0")  # Zeros that its writer filled ahead.
        log, team, segment, first_seq, chained = header
        require((log, team) == (own["log"], own["team"]), name + " belongs to another log")
        require((segment, first_seq) == (number, seq + 1), name + " does not follow")
        if chained is not None and chained[2] is not None and blake3 is None:
            chained = (chained[0], chained[1], None)
        require(chained == previous, name + " does not describe the segment before it")
        part, parts = 0, 0
        while at < len(data):
            event, group, at = decode_frame(data, at, own["refs"])
            require(event["seq"] == seq + 1, "event %d stands where %d should" % (event["seq"], seq + 1))
            require(event["id"] > last_id, "the id of event %d does not increase" % event["seq"])
            require(group == (part, parts if part else group[1]), "the group of event %d" % event["seq"])
            require(time_text(event["created_at"])[:10] == name[:10], "the day of event %d" % event["seq"])
            require(KIND.match(event["kind"]), "the kind of event %d" % event["seq"])
            for field in ["actor", "key"] + own["refs"]:
                identifier(event.get(field, "absent"))
            seq, last_id, parts = event["seq"], event["id"], group[1]
            part = (group[0] + 1) % parts
            yield event
        require(part == 0, "the last group of %s is not whole" % name)
        previous = (name, len(data), blake3(data).digest() if blake3 else None)
    if end_of_log is not None:
        require((seq, last_id) == (end_of_log["last_seq"], end_of_log["last_id"]), "the log ends elsewhere than its head says")


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: read_log.py TEAM-DIRECTORY")
    out = sys.stdout.buffer
    try:
        own = identity(sys.argv[1])
        for event in events(sys.argv[1], own):
            out.write(public(event, own["refs"]).encode() + b"\n")
    except (Damage, UnicodeDecodeError, ValueError, KeyError) as damage:
        out.flush()
        print("damaged: %s" % damage, file=sys.stderr)
        sys.exit(65)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        print("cannot read: %s" % error, file=sys.stderr)
        sys.exit(74)


if __name__ == "__main__":
    main()
