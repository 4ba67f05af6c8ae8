"""Speaks to an agent of candor as nobody should: stranger.py MODE HOST PORT KEYS PROTOCOL.

Ends with 0 once the agent has ended the connection, within 10 s."""

import base64
import os
import resource
import socket
import ssl
import struct
import sys
import tempfile
import time

MODE, HOST, PORT, KEYS, PROTOCOL = *sys.argv[1:3], int(sys.argv[3]), *sys.argv[4:6]


def connected():
    return socket.create_connection((HOST, PORT), 10)


def shaken(keys):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    if keys:
        # OpenSSL reads keys without their public half only (RFC 8410, version 1).
        lines = open(keys + "/host.key").read().split("\n")
        der = base64.b64decode("".join(line for line in lines if "-" not in line))
        seed = der[der.index(b"\x04\x22\x04\x20") + 4:][:32]
        der = bytes.fromhex("302e020100300506032b657004220420") + seed
        key = base64.b64encode(der).decode()
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(f"-----BEGIN PRIVATE KEY-----\n{key}\n-----END PRIVATE KEY-----\n")
            file.flush()
            context.load_cert_chain(keys + "/host.pem", file.name)
    context.set_alpn_protocols(["h2"])
    return context.wrap_socket(connected())


def frame(kind, flags, stream, body):
    return struct.pack(">I", len(body))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + body


def called(headers):
    """A call by hand: HTTP/2 with headers that are not compressed."""
    fields = {":method": "POST", ":scheme": "https", ":path": "/candor.Agent/Run",
              ":authority": "candor-fleet", "content-type": "application/grpc", "te": "trailers"}
    literal = lambda text: bytes([len(text)]) + text.encode()
    block = b"".join(b"\0" + literal(k) + literal(v) for k, v in {**fields, **headers}.items())
    stream = shaken(KEYS)
    stream.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, b"") + frame(1, 4, 1, block))
    return stream


def sent(stream, chunks):
    try:
        for chunk in chunks:
            stream.sendall(chunk)
    except OSError:
        pass
    return stream


def data(message, length=None):
    length = len(message) if length is None else length
    return frame(0, 0, 1, struct.pack(">BI", 0, length) + message)


def is_over(stream, answered=False):
    """True once the agent has ended the connection, or the call where it answers that."""
    stream.settimeout(10)
    try:
        while True:
            bytes_read = stream.recv(65536)
            # The end of a call: a reset of its stream, or headers that end it.
            ends = any(bytes_read[at + 3] in (3, 7) or (bytes_read[at + 3] == 1 and bytes_read[at + 4] & 1)
                       for at in frames(bytes_read))
            if not bytes_read or (answered and ends):
                return True
    except TimeoutError:
        return False
    except OSError:
        return True


def frames(text):
    at = 0
    while at + 9 <= len(text):
        yield at
        at += 9 + int.from_bytes(text[at:at + 3], "big")


def crowd(count):
    """So many connections at once, which say nothing."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    count = min(count, limit - 100)
    sockets = []
    for _ in range(count):
        stream = socket.socket()
        stream.setblocking(False)
        stream.connect_ex((HOST, PORT))
        sockets.append(stream)
    time.sleep(1)
    print(len(sockets))


MEETS = {"candor-protocol": PROTOCOL, "candor-version": "0"}
if MODE == "plain":
    over = is_over(sent(connected(), [b"GET / HTTP/1.1\r\n\r\n", os.urandom(65536)]))
elif MODE == "keyless":
    try:
        over = is_over(shaken(None))
    except OSError:
        over = True
elif MODE == "other":
    try:
        over = is_over(shaken(KEYS))
    except OSError:
        over = True
elif MODE == "garbage":
    over = is_over(sent(shaken(KEYS), [os.urandom(65536)]))
elif MODE == "version":
    over = is_over(called({"candor-protocol": "99", "candor-version": "7.7"}), True)
elif MODE == "path":
    over = is_over(called({":path": "/candor.Agent/Shell"}), True)
elif MODE == "long":
    body = [frame(0, 0, 1, b"x" * 16384)] * 3
    over = is_over(sent(called(MEETS), [data(b"", 1 << 30), *body]), True)
elif MODE == "nonsense":
    words = b"\0{\"nonsense\":1}"
    over = is_over(sent(called(MEETS), [data(b"\x0a" + bytes([len(words)]) + words)]), True)
elif MODE == "crowd":
    crowd(10000)
    over = True
else:
    over = False
sys.exit(0 if over else 1)
