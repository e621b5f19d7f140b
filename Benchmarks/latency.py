"""Latency from a kernel change to its bytes at an event stream client, in a separate network namespace.

The change is one rtnetlink message that replaces the default route by one with another gateway. Each change causes one
`path` event without settle time. The time is measured in this process, from before send() to after recv().
"""
import select
import socket
import struct
import sys
import time

from daemon import Daemon, quantiles
from namespace import enter_new_namespace

CHANGES = 2000
NLM_F_REQUEST, NLM_F_CREATE, NLM_F_REPLACE = 0x1, 0x400, 0x100
RTM_NEWROUTE = 24


def replace_default(gateway, index):
    """RTM_NEWROUTE with NLM_F_REPLACE: default via `gateway` dev `index`."""
    def attribute(kind, value):
        return struct.pack("=HH", 4 + len(value), kind) + value
    route = struct.pack("=BBBBBBBBI", socket.AF_INET, 0, 0, 0, 254, 3, 0, 1, 0)
    payload = route + attribute(5, socket.inet_aton(gateway)) + attribute(4, struct.pack("=I", index))
    return struct.pack("=IHHII", 16 + len(payload), RTM_NEWROUTE,
                       NLM_F_REQUEST | NLM_F_CREATE | NLM_F_REPLACE, 1, 0) + payload


def read_until_quiet(stream, seconds):
    while select.select([stream], [], [], seconds)[0]:
        stream.recv(65536)


def measure(binary):
    index = enter_new_namespace()
    kernel = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    kernel.bind((0, 0))
    messages = [replace_default(gateway, index) for gateway in ("10.9.0.1", "10.9.0.3")]
    kernel.send(messages[1])
    daemon = Daemon(binary, "--log-level", "notice")
    stream = daemon.connect()
    stream.sendall(b"GET /events?types=path HTTP/1.1\r\nHost: localhost\r\n\r\n")
    read_until_quiet(stream, 2.5)
    times = []
    for number in range(CHANGES):
        start = time.perf_counter_ns()
        kernel.send(messages[number % 2])
        received = stream.recv(65536)
        times.append((time.perf_counter_ns() - start) / 1e6)
        if b"event: path" not in received:
            raise SystemExit(f"unexpected event: {received[:200]}")
        time.sleep(0.001)
    daemon.process.stderr.close()
    daemon.process.kill()
    daemon.process.wait()
    return times


if __name__ == "__main__":
    median, high, worst = quantiles(measure(sys.argv[1]))
    print(f"kernel change to bytes at a client: p50 {median:.3f} ms, p99 {high:.3f} ms, max {worst:.3f} ms of {CHANGES}")
