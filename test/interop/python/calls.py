"""
Sends gRPC calls with grpcio over one channel. Reads one order per line of JSON (see CallOrder in concurrent-calls.ts) and
prints the code of each call. The last argument is the time between keepalive pings, in milliseconds.

    python calls.py 127.0.0.1:4317 <token> gzip|identity 200
"""

import base64
import json
import os
import sys
import threading

import grpc

saying = threading.Lock()


def say(outcome):
    with saying:
        print(json.dumps(outcome), flush=True)


def main():
    target, token, compression, keepalive_ms = sys.argv[1:]
    options = (
        ("grpc.keepalive_time_ms", int(keepalive_ms)),
        ("grpc.keepalive_timeout_ms", 20_000),
        ("grpc.http2.max_pings_without_data", 0),
        # A larger body is not sent again when the connection ends before the server has seen the call.
        ("grpc.per_rpc_retry_buffer_size", 1 << 20),
    )
    algorithm = grpc.Compression.Gzip if compression == "gzip" else grpc.Compression.NoCompression
    channel = grpc.insecure_channel(target, options=options, compression=algorithm)
    metadata = (("authorization", f"Bearer {token}"),)
    say({"id": "ready"})
    for line in sys.stdin:
        order = json.loads(line)
        method = channel.unary_unary(order["path"])
        call = method.future(base64.b64decode(order["body"]), timeout=order["deadlineMs"] / 1000, metadata=metadata)

        def done(ended, name=order["id"]):
            say({"id": name, "code": ended.code().value[0], "message": ended.details() or ""})

        call.add_done_callback(done)
        if "cancelAfterMs" in order:
            timer = threading.Timer(order["cancelAfterMs"] / 1000, call.cancel)
            timer.daemon = True
            timer.start()
    os._exit(0)


main()
