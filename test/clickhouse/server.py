"""Serves chdb, the engine of ClickHouse as a library, over as much of ClickHouse's HTTP interface as its clients for Node and for Go use.

    python server.py <directory> <user> <viewer> <password>

Prints its port. The viewer has the same password, and may only read. A request is POST with the statement as body, or with `query` in
the address and data as body. `param_<name>` are the values of the statement, `database` its database, all other parameters settings. An
error has its code in X-ClickHouse-Exception-Code. One statement runs at a time. Ends when its standard input does.

The client for Go, which the collector's exporter uses, asks for answers in the format Native, and inserts in it. Its first question is
answered here, with revision 0 of the protocol, so that the client expects all other blocks as chdb writes them. Its DSN must have
`compress=none`.
"""
import base64
import os
import re
import struct
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

from chdb import session

directory, user, viewer, password = sys.argv[1:5]
database = session.Session(directory)
turn = threading.Lock()

# Parameters of the interface that are no settings.
NO_SETTINGS = {
    "query", "database", "query_id", "session_id", "wait_end_of_query", "user", "password", "role",
    "default_format", "client_protocol_version", "compress", "decompress",
}
READS = re.compile(rb"\s*(select|with|show|desc|describe|exists)\b", re.I)
GREETING = "SELECT displayName(), version(), revision(), timezone()"
STATUS = {"516": 401, "497": 403, "60": 404, "81": 404, "159": 408}


def literal(value):
    return value if re.fullmatch(r"-?\d+(\.\d+)?", value) else "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def credential(name):
    return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()


def text(value):
    encoded = value.encode()
    assert len(encoded) < 128  # a longer one has a length of several bytes
    return bytes([len(encoded)]) + encoded


def greeting():
    """Returns the answer to GREETING as one block of the newest protocol, in which a block has a head and a column a mark."""
    version, timezone = database.query("SELECT version(), timezone()", "TSV").bytes().decode().split()
    columns = [
        ("displayName()", "String", text("chdb")),
        ("version()", "String", text(version)),
        ("revision()", "UInt32", struct.pack("<I", 0)),
        ("timezone()", "String", text(timezone)),
    ]
    head = b"\x01\x00\x02" + struct.pack("<i", -1) + b"\x00"
    return head + bytes([len(columns), 1]) + b"".join(text(name) + text(kind) + b"\x00" + value for name, kind, value in columns)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Otherwise the head is sent alone, and the body waits for its acknowledgement.
    wbufsize = -1
    disable_nagle_algorithm = True

    def do_GET(self):
        self.answer(200, b"Ok.\n", "text/plain")

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))) if "Content-Length" in self.headers else self.chunks()
        caller = next((name for name in (user, viewer) if self.headers.get("Authorization") == credential(name)), None)
        if caller is None:
            return self.fail("516", "Authentication failed")
        parameters = dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True))
        given = parameters.get("query")
        reads = READS.match(given.encode() if given else body)
        if caller == viewer and not reads:
            return self.fail("497", f"{viewer}: Not enough privileges")
        try:
            with turn:
                database.query(f"USE `{parameters.get('database', 'default')}`")
                if parameters.get("default_format") == "Native":
                    content = self.native(given, body, parameters, reads)
                else:
                    statement = body.decode() if given is None else given + "\n" + body.decode()
                    content = self.run(statement, parameters, reads)
        except Exception as error:
            return self.fail((re.search(r"Code: (\d+)", str(error)) or [0, "1002"])[1], str(error))
        self.answer(200, content, "application/x-ndjson")

    def native(self, given, body, parameters, reads):
        if parameters.get("compress", "0") != "0" or parameters.get("decompress", "0") != "0":
            raise Exception("Code: 48. DB::Exception: compressed blocks are not supported here. (NOT_IMPLEMENTED)")
        if given is None:
            statement = body.decode()
            if statement == GREETING:
                return greeting()
            return (database.query(statement, "Native") if reads else database.query(statement)).bytes() or b""
        insert = re.fullmatch(r"(\s*INSERT INTO .+?)\s+FORMAT Native\s*", given, re.S | re.I)
        if insert is None:
            raise Exception("Code: 48. DB::Exception: only INSERT … FORMAT Native has data here. (NOT_IMPLEMENTED)")
        with tempfile.NamedTemporaryFile(suffix=".native") as data:
            data.write(body)
            data.flush()
            return database.query(f"{insert[1]} FROM INFILE {literal(data.name)} FORMAT Native").bytes() or b""

    def run(self, statement, parameters, reads):
        values = {name[6:]: value for name, value in parameters.items() if name.startswith("param_")}
        settings = {
            name: value
            for name, value in parameters.items()
            if not name.startswith("param_") and name not in NO_SETTINGS
        }
        if reads and settings:
            statement += " SETTINGS " + ", ".join(f"{name} = {literal(value)}" for name, value in settings.items())
        return database.query(statement, params=values).bytes() or b""

    def chunks(self):
        parts = []
        while True:
            size = int(self.rfile.readline().strip() or b"0", 16)
            parts.append(self.rfile.read(size))
            self.rfile.readline()
            if size == 0:
                return b"".join(parts)

    def fail(self, code, text):
        text = text if text.startswith("Code:") else f"Code: {code}. DB::Exception: {text}. (UNKNOWN)"
        self.answer(STATUS.get(code, 500), text.encode(), "text/plain", {"X-ClickHouse-Exception-Code": code})

    def answer(self, status, content, media_type, headers={}):
        self.send_response(status)
        for name, value in {"Content-Type": media_type, "Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_address[1], flush=True)
sys.stdin.read()
os._exit(0)
