"""One event to many open streams: reachd compared with nchan (a module of nginx) and with a C program that only calls
send(2) in a loop, each on one processor.

The kernel causes reachd's events: a default route is replaced, and the time to the last client is measured. The others
receive an event of the same length by a POST after the same change. Rounds alternate; figures are medians of three. The
loop is the lower bound.
"""
import json
import os
import subprocess
import sys

from daemon import Daemon
from namespace import enter_new_namespace
from peers import Nginx, ON_CLIENT, ON_SERVER, Program, compile_c, median

SIZES = (100, 1000, 10_000, 19_000)
REPEATS = 3
MODULE = "/usr/lib/nginx/modules/ngx_nchan_module.so"
NCHAN = """
  location = /publish { nchan_publisher; nchan_channel_id all; nchan_message_buffer_length 300; }
  location = /events { nchan_subscriber eventsource; nchan_channel_id all; nchan_subscriber_first_message newest; }
"""


def event_size(daemon):
    """Bytes of the frame of one replaced route, as a stream carries it."""
    with daemon.connect() as stream:
        stream.sendall(b"GET /events?types=path HTTP/1.1\r\nHost: localhost\r\n\r\n")
        stream.settimeout(10)
        received = b""
        while b"event: snapshot" not in received:
            received += stream.recv(65536)
        set_default("10.9.255.2")
        # The frame ends with an empty line, and its chunk with CR LF.
        while b"event: path" not in received or not received.endswith(b"\n\n\r\n"):
            received += stream.recv(65536)
        return len(received) - len(b"\r\n") - received.rindex(b"id: ")


def set_default(gateway):
    subprocess.run(["ip", "route", "replace", "default", "via", gateway, "dev", "c0"], check=True)


class Bench:
    def __init__(self, binary):
        self.binary = binary
        self.fanout = compile_c("fanout")
        self.index = enter_new_namespace("10.9.0.2/16")
        os.environ["REACHD_LIMITS_STREAMS"] = "19600"
        set_default("10.9.255.1")
        daemon = Daemon(binary)
        self.size = event_size(daemon)
        daemon.stop()

    def run(self, server, pids, how, **options):
        arguments = {"how": how, "port": server.port, "pids": ",".join(map(str, pids)), "index": self.index,
                     "size": self.size, **options}
        line = subprocess.run(
            [*ON_CLIENT, self.fanout, *(f"{name}={value}" for name, value in arguments.items())],
            stdout=subprocess.PIPE, text=True, timeout=600, check=True).stdout
        return json.loads(line)

    def reachd(self, streams="auto", **options):
        set_default("10.9.255.1")
        daemon = Daemon(self.binary, "--log-level", "notice", "--streams", streams, before=ON_SERVER)
        try:
            return self.run(daemon, [daemon.pid], "route", **options)
        finally:
            daemon.stop()

    def nchan(self, **options):
        server = Nginx(NCHAN, [MODULE])
        try:
            return self.run(server, server.pids, "post", **options)
        finally:
            server.stop()

    def bare(self, **options):
        server = Program(compile_c("bare"))
        try:
            return self.run(server, server.pids, "post", **options)
        finally:
            server.stop()

    def all_three(self, **options):
        """Medians of alternating rounds of reachd, nchan and the loop; nothing if nchan never delivers everything."""
        rounds = []
        for attempt in range(2 * REPEATS):
            # The loop has no queue: it cannot follow a burst.
            ours, loop = self.reachd(**options), self.bare(**{**options, "burst": 0})
            try:
                rounds.append((ours, self.nchan(**options), loop))
            except subprocess.CalledProcessError:
                # nchan does not always deliver a whole burst; reachd must.
                print(f"nchan did not deliver everything in round {attempt + 1}, which is omitted", flush=True)
            if len(rounds) == REPEATS:
                break
        if not rounds:
            return None
        return [{key: median([each[side][key] for each in rounds]) for key in rounds[0][side]} for side in range(3)]


def row(what, bar, measured):
    print(f"| {what} | {bar} | {measured} | `Benchmarks/run streams` |", flush=True)


def main(binary):
    bench = Bench(binary)
    print(f"an event is {bench.size} bytes; medians of {REPEATS} alternating rounds", flush=True)
    for size in SIZES:
        burst = 200 if size == 10_000 else 0
        medians = bench.all_three(subscribers=size, rounds=20 if size >= 10_000 else 50, burst=burst)
        if medians is None:
            row(f"{size} streams", "–", "nchan never delivered everything")
            continue
        ours, theirs, loop = medians
        print(f"| {size} subscribers | | last {ours['last']:.1f} ms, p99 {ours['p99']:.1f} ms, {ours['cpu']:.2f} µs CPU each, "
              f"{ours['rss']:.2f} KB each; nchan {theirs['last']:.1f} ms, {theirs['p99']:.1f} ms, {theirs['cpu']:.2f} µs, "
              f"{theirs['rss']:.2f} KB; loop {loop['last']:.1f} ms, {loop['p99']:.1f} ms, {loop['cpu']:.2f} µs | "
              "`Benchmarks/run streams` |", flush=True)
        if size != 10_000:
            continue

        def ratios(other):
            return ", ".join(f"{ours[key] / other[key]:.2f}×" for key in ("last", "p99", "cpu"))

        row("10,000 streams: last receipt, p99, CPU an event, against a C loop that only calls send(2)", "≤ 1.05× each",
            ratios(loop))
        row("… against nchan", "< 1× each", ratios(theirs))
        row("burst of 200 at 100/s, CPU", "≤ 0.15×, real time",
            f"{ours['burstCPU'] / theirs['burstCPU']:.2f}× ({ours['burstCPU']:.2f} s), all received after "
            f"{ours['burstSeconds']:.2f} s of 1.99 s")
        row("RSS of an idle stream", "≤ 0.5 KB", f"{ours['rss']:.2f} KB")
        row("10,000 disconnected streams closed", "≤ 250 ms", f"{ours['reaped']:.0f} ms")
    plain = [bench.reachd(subscribers=10_000, rounds=20) for _ in range(REPEATS)]
    slowed = [bench.reachd(subscribers=10_000, dead=500, rounds=20) for _ in range(REPEATS)]
    part = median([each["last"] for each in slowed]) / median([each["last"] for each in plain])
    row("5 % of 10,000 never read: others' last receipt", "≤ 1.1×", f"{part:.2f}×")
    callback = bench.reachd(streams="callback", subscribers=1000, rounds=20)
    row("RSS of a stream by callback (TLS)", "≤ 16 KB", f"{callback['rss']:.1f} KB; last of 1,000 {callback['last']:.1f} ms")


main(sys.argv[1])
