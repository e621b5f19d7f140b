"""Registered targets at scale, in a separate network namespace: 10,000 TCP targets behind a TUN device. This process is
the other end of the device and answers each SYN after 20 ms.

Prints rows of RESULTS.md: CPU and memory of the schedule at rest, the delay of check starts, the reported against the
true round trip, and the time from a link loss to the last event of 1,000 targets, and back. Then 10,000 targets on
loopback addresses beside HAProxy with 10,000 servers, in alternating rounds, the same with and without dependencies, and
100,000 targets. Options select parts: cable, many, haproxy, tree, huge.
"""
import ctypes
import fcntl
import heapq
import json
import os
import re
import select
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

from daemon import Daemon, quantiles
from peers import HAProxy, median

CLONE_NEWNET = 0x40000000
TUNSETIFF, TUNSETCARRIER = 0x400454CA, 0x400454E2
IFF_TUN, IFF_NO_PI = 0x1, 0x1000
DELAY = 0.020
MANY, FEW = int(os.environ.get("TARGETS", 10_000)), 1_000
WARM_UP, MEASURED = 15, 30
PULLS = int(os.environ.get("PULLS", 11))
ROUNDS, HUGE = int(os.environ.get("ROUNDS", 3)), int(os.environ.get("HUGE", 50_000))
PORT = 8081


def run(command):
    subprocess.run(command.split(), check=True)


class Wire:
    """A TUN device whose other end is every host of 10.200.0.0/16, with port 80 open."""

    def __init__(self):
        if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET):
            raise SystemExit("unshare: " + os.strerror(ctypes.get_errno()))
        run("ip link set lo up")
        self.file = os.open("/dev/net/tun", os.O_RDWR)
        fcntl.ioctl(self.file, TUNSETIFF, struct.pack("16sH", b"t0", IFF_TUN | IFF_NO_PI))
        run("ip addr add 10.201.0.1/16 dev t0")
        run("ip link set t0 up txqueuelen 20000")
        run("ip route add 10.200.0.0/16 dev t0")
        self.set_carrier(True)
        self.answers, self.true_times = [], []
        threading.Thread(target=self.answer, daemon=True).start()

    def set_carrier(self, is_up):
        fcntl.ioctl(self.file, TUNSETCARRIER, struct.pack("i", int(is_up)))

    def answer(self):
        os.set_blocking(self.file, False)
        waiting = []
        while True:
            timeout = max(0, waiting[0][0] - time.monotonic()) if waiting else 1
            if select.select([self.file], [], [], timeout)[0]:
                for _ in range(64):
                    try:
                        packet = os.read(self.file, 2048)
                    except BlockingIOError:
                        break
                    now = time.monotonic()
                    # IPv4 without options, TCP, SYN only: the other segments need no response.
                    if packet[0] == 0x45 and packet[9] == 6 and packet[33] & 0x17 == 0x02:
                        heapq.heappush(waiting, (now + DELAY, now, syn_ack(packet)))
            now = time.monotonic()
            while waiting and waiting[0][0] <= now:
                _, came, packet = heapq.heappop(waiting)
                self.true_times.append(now - came)
                try:
                    os.write(self.file, packet)
                except OSError:
                    pass


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total & 0xFFFF) + (total >> 16)
    return ~(total + (total >> 16)) & 0xFFFF


def syn_ack(packet):
    source, target = packet[12:16], packet[16:20]
    here, there, number = struct.unpack("!HHI", packet[20:28])
    head = struct.pack("!BBHHHBBH", 0x45, 0, 40, 0, 0x4000, 64, 6, 0) + target + source
    head = head[:10] + struct.pack("!H", checksum(head)) + head[12:]
    segment = struct.pack("!HHIIBBHHH", there, here, 1, (number + 1) & 0xFFFFFFFF, 0x50, 0x12, 65535, 0, 0)
    pseudo = target + source + struct.pack("!BBH", 0, 6, len(segment))
    segment = segment[:16] + struct.pack("!H", checksum(pseudo + segment)) + segment[18:]
    return head + segment


def configuration(servers, interval="10s", children=None):
    """A configuration with a target for each server; with `children`, each target has so many that depend on it."""
    lines = ["limits:", f"  targets: {len(servers)}", "targets:"]
    for number, server in enumerate(servers):
        parent = f", dependsOn: [t{(number - 1) // children}]" if children and number else ""
        lines.append(f'  - {{id: t{number}, target: "tcp://{server}", interval: {interval}, timeout: 2s{parent}}}')
    file = tempfile.NamedTemporaryFile("w", suffix=".yaml")
    file.write("\n".join(lines) + "\n")
    file.flush()
    return file


def behind_wire(count):
    return [f"10.200.{number // 250}.{number % 250 + 1}:80" for number in range(count)]


def on_loopback(count):
    return [f"127.{1 + number // 62500}.{number // 250 % 250}.{number % 250 + 1}:{PORT}" for number in range(count)]


def metrics(daemon):
    values = {}
    for line in daemon.get("/metrics")[1].decode().splitlines():
        if not line.startswith("#"):
            name, _, value = line.rpartition(" ")
            values[name] = float(value)
    return values


def processor_seconds(pid):
    fields = open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mebibytes(pid):
    return int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{pid}/status").read())[1]) / 1024


def wait_for(daemon, state, count, seconds=120):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if metrics(daemon).get(f'reachd_targets{{state="{state}"}}') == count:
            return
        time.sleep(0.5)
    raise SystemExit(f"not all targets are {state}: {metrics(daemon)}")


def total(values, name):
    return sum(value for key, value in values.items() if key.startswith(name + "{"))


def share_bound(before, after, share):
    """The upper bound of the smallest bucket that covers this share of the checks between two scrapes."""
    buckets = [(float(re.search(r'le="([^"]+)"', key)[1].replace("+Inf", "inf")), value - before.get(key, 0))
               for key, value in after.items() if key.startswith("reachd_check_lag_seconds_bucket")]
    buckets.sort()
    return next(bound for bound, count in buckets if count >= share * buckets[-1][1])


def measure_many(wire, binary):
    with configuration(behind_wire(MANY)) as file:
        daemon = Daemon(binary, "--config", file.name, "--log-level", "notice")
        wait_for(daemon, "up", MANY)
        time.sleep(WARM_UP)
        wire.true_times.clear()
        before, spent = metrics(daemon), processor_seconds(daemon.pid)
        time.sleep(MEASURED)
        spent = processor_seconds(daemon.pid) - spent
        after = metrics(daemon)
        checks = total(after, "reachd_checks_total") - total(before, "reachd_checks_total")
        memory = resident_mebibytes(daemon.pid)
        times, cursor = [], ""
        while cursor is not None:
            page = json.loads(daemon.get(f"/targets?limit=1000{cursor}")[1])
            times += [target["lastCheck"]["phases"]["connect"] for target in page["targets"]]
            cursor = f"&cursor={page['next']}" if page["next"] else None
        true = quantiles(wire.true_times)
        daemon.stop()
    reported = quantiles(times)
    print(f"| {MANY} TCP targets, interval 10 s: CPU | – | {100 * spent / MEASURED:.1f} % of a processor, "
          f"{1e6 * spent / checks:.0f} µs a check ({checks / MEASURED:.0f} checks/s) | `Benchmarks/run targets` |")
    print(f"| the same: resident memory | – | {memory:.1f} MiB | `Benchmarks/run targets` |")
    print(f"| the same: planned to actual start | – | p99 ≤ {1e3 * share_bound(before, after, 0.99):.1f} ms, "
          f"median ≤ {1e3 * share_bound(before, after, 0.5):.1f} ms | `Benchmarks/run targets` |")
    print(f"| the same: round trip reported, true one | ≤ 2× | median {1e3 * reported[0]:.1f} ms, "
          f"p99 {1e3 * reported[1]:.1f} ms; true median {1e3 * true[0]:.1f} ms, p99 {1e3 * true[1]:.1f} ms: "
          f"{reported[0] / true[0]:.2f}× | `Benchmarks/run targets` |")


def until_told(stream, state, count):
    """Reads the stream until `count` targets are in a state, and returns the time; no target may be `down`.

    The clock is read as the bytes come; what they say is looked at when all are here, for that takes longer.
    """
    data, frames, last = b"", 0, b""
    while frames < count:
        if not select.select([stream], [], [], 60)[0]:
            raise SystemExit(f"only {frames} of {count} targets were reported as {state}")
        part = stream.recv(1 << 20)
        now = time.monotonic()
        frames += (last + part).count(b"event: target\n")
        last = part[-13:]
        data += part
    while not data.endswith(b"\n\n\r\n"):  # the end of a frame and of its chunk
        data += stream.recv(1 << 20)
    events = [json.loads(text) for text in re.findall(rb"event: target\n(?:.*\n)*?data: (\{.*\})", data)]
    if {event["to"] for event in events} != {state} or len({event["target"]["id"] for event in events}) != count:
        raise SystemExit(f"not {count} targets were reported as {state}, each once: {events[0]} … {events[-1]}")
    return now


def measure_cable(wire, binary):
    with configuration(behind_wire(FEW)) as file:
        daemon = Daemon(binary, "--config", file.name, "--log-level", "notice")
        wait_for(daemon, "up", FEW)
        stream = daemon.connect()
        stream.sendall(b"GET /events?types=target HTTP/1.1\r\nHost: localhost\r\n\r\n")
        while b"event: snapshot" not in stream.recv(65536):
            pass
        gone, back = [], []
        for _ in range(PULLS):
            # The kernel reports carrier changes at most once a second, and the link has just come up.
            time.sleep(1.5)
            start = time.monotonic()
            wire.set_carrier(False)
            gone.append(until_told(stream, "unreachable", FEW) - start)
            time.sleep(1.5)
            start = time.monotonic()
            wire.set_carrier(True)
            back.append(until_told(stream, "up", FEW) - start)
        daemon.stop()
    print(f"| link lost, {FEW} targets: the last is `unreachable` | ≤ 50 ms | median {1e3 * quantiles(gone)[0]:.0f} ms, "
          f"max {1e3 * max(gone):.0f} ms of {PULLS}, settle of 10 ms included | `Benchmarks/run targets` |")
    print(f"| link restored, {FEW} targets: the last is `up` | one check | median {1e3 * quantiles(back)[0]:.0f} ms, "
          f"max {1e3 * max(back):.0f} ms of {PULLS}, of which 20 ms are the round trip | `Benchmarks/run targets` |")


def opened():
    """TCP connections that this namespace has begun."""
    head, values = [line.split() for line in open("/proc/self/net/snmp") if line.startswith("Tcp:")]
    return int(values[head.index("ActiveOpens")])


def resting(program, wait):
    """The processor microseconds of a check, and the resident mebibytes, of a program whose targets are all up."""
    wait()
    time.sleep(WARM_UP)
    checks, spent = opened(), processor_seconds(program.pid)
    time.sleep(MEASURED)
    checks, spent = opened() - checks, processor_seconds(program.pid) - spent
    memory = resident_mebibytes(program.pid)
    program.stop()
    return 1e6 * spent / checks, memory, checks / MEASURED


def measure_beside_haproxy(binary):
    """Both connect to a server that accepts nothing, and end each connection with a reset before it is established."""
    servers = on_loopback(MANY)
    figures = {"reachd": [], "HAProxy": []}
    with socket.create_server(("0.0.0.0", PORT), backlog=4096), configuration(servers) as file:
        for _ in range(ROUNDS):
            daemon = Daemon(binary, "--config", file.name)
            figures["reachd"].append(resting(daemon, lambda: wait_for(daemon, "up", MANY)))
            figures["HAProxy"].append(resting(HAProxy(servers, "10s"), lambda: time.sleep(12)))
    ours, theirs = ([median(column) for column in zip(*figures[name])] for name in ("reachd", "HAProxy"))
    for index, what, unit in (0, "CPU of a check", "µs"), (1, "resident memory", "MiB"):
        print(f"| {MANY} TCP targets on loopback addresses, interval 10 s: {what} | ≤ 1.2× HAProxy | "
              f"{ours[index]:.1f} {unit}; HAProxy {theirs[index]:.1f} {unit}: {ours[index] / theirs[index]:.2f}× "
              f"({ours[2]:.0f} and {theirs[2]:.0f} checks/s) | `Benchmarks/run targets` |")


def measure_tree(binary):
    """1 + 22 + 484 and the others: a tree of depth 4."""
    servers = on_loopback(MANY)
    figures = {None: [], 22: []}
    with socket.create_server(("0.0.0.0", PORT), backlog=4096):
        for _ in range(ROUNDS):
            for children, found in figures.items():
                with configuration(servers, children=children) as file:
                    daemon = Daemon(binary, "--config", file.name)
                    found.append(resting(daemon, lambda: wait_for(daemon, "up", MANY)))
    alone, tree = ([median(column) for column in zip(*found)] for found in figures.values())
    print(f"| {MANY} TCP targets in a tree of depth 4: CPU of a check | ≤ 1.1× of the same without dependencies | "
          f"{tree[0]:.1f} µs; without {alone[0]:.1f} µs: {tree[0] / alone[0]:.2f}×; memory {tree[1]:.1f} and {alone[1]:.1f} MiB | "
          f"`Benchmarks/run targets` |")


def measure_huge(binary):
    with socket.create_server(("0.0.0.0", PORT), backlog=4096), configuration(on_loopback(HUGE), "60s") as file:
        daemon = Daemon(binary, "--config", file.name)
        wait_for(daemon, "up", HUGE, 300)
        time.sleep(WARM_UP)
        before, spent, checks = metrics(daemon), processor_seconds(daemon.pid), opened()
        time.sleep(MEASURED)
        spent, checks = processor_seconds(daemon.pid) - spent, opened() - checks
        late = share_bound(before, metrics(daemon), 0.99)
        memory = resident_mebibytes(daemon.pid)
        daemon.stop()
    print(f"| {HUGE} TCP targets, interval 60 s | start late by ≤ 1 s | {100 * spent / MEASURED:.1f} % of a processor, "
          f"{1e6 * spent / checks:.0f} µs a check ({checks / MEASURED:.0f} checks/s), {memory:.1f} MiB, "
          f"late by p99 ≤ {1e3 * late:.1f} ms | `Benchmarks/run targets` |")


wire = Wire()
parts = {"cable": lambda: measure_cable(wire, sys.argv[1]), "many": lambda: measure_many(wire, sys.argv[1]),
         "haproxy": lambda: measure_beside_haproxy(sys.argv[1]), "tree": lambda: measure_tree(sys.argv[1]),
         "huge": lambda: measure_huge(sys.argv[1])}
for part in sys.argv[2:] or parts:
    parts[part]()
