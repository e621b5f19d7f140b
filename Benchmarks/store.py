"""The cost of a data directory: latency with and without it, alternately; commit lag under load; starts; idle memory.

Options select parts: latency, faults, load, writes, readers, starts, idle.
"""
import os
import re
import shutil
import selectors
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

from daemon import Daemon, quantiles
from latency import read_until_quiet, replace_default
from namespace import enter_new_namespace
from start import memory

ROUNDS = int(os.environ.get("ROUNDS", "10"))
CHANGES = int(os.environ.get("CHANGES", "2000"))
LOAD_SECONDS = 10
WRITE_SECONDS = 60
RUNS = 20
LINKS = 40
READERS = 50
READER_ROUNDS = 5
READER_SECONDS = 3


class Store:
    """A data directory, removed at the end; on the file system of the working directory."""

    def __init__(self):
        self.path = tempfile.mkdtemp(prefix=".build-store-", dir=os.path.join(os.path.dirname(__file__), ".."))

    @property
    def options(self):
        return ("--data", self.path)

    def remove(self):
        shutil.rmtree(self.path)


def open_stream(daemon):
    stream = daemon.connect()
    stream.sendall(b"GET /events?types=path HTTP/1.1\r\nHost: localhost\r\n\r\n")
    read_until_quiet(stream, 2.5)
    return stream


def measure(stream, kernel, messages):
    """Milliseconds from the kernel change to the bytes at a client."""
    times = []
    for number in range(CHANGES):
        start = time.perf_counter_ns()
        kernel.send(messages[number % 2])
        received = stream.recv(65536)
        times.append((time.perf_counter_ns() - start) / 1e6)
        if b"event: path" not in received:
            raise SystemExit(f"unexpected event: {received[:200]}")
        time.sleep(0.001)
    return times


def latencies(binary, kernel, messages, options):
    daemon = Daemon(binary, "--log-level", "notice", *options)
    stream = open_stream(daemon)
    times = measure(stream, kernel, messages)
    stream.close()
    daemon.stop()
    return times


def compare(binary, kernel, messages, name):
    """Medians of the rounds' quantiles, with and without the store."""
    found = {False: [], True: []}
    for round_number in range(ROUNDS):
        for kept in (False, True) if round_number % 2 else (True, False):
            store = Store()
            try:
                found[kept].append(quantiles(latencies(binary, kernel, messages, store.options if kept else ())))
            finally:
                store.remove()
    median = {kept: [sorted(values)[len(values) // 2] for values in zip(*rounds)] for kept, rounds in found.items()}
    (p50, p99, worst), (bare50, bare99, bare_worst) = median[True], median[False]
    print(f"{name}: with p50 {p50:.3f} ms, p99 {p99:.3f} ms, max {worst:.3f} ms; "
          f"without {bare50:.3f}, {bare99:.3f}, {bare_worst:.3f} ms; {p50 / bare50:.2f}x and {p99 / bare99:.2f}x; "
          f"medians of {ROUNDS} alternated rounds of {CHANGES}")


def synchronize(path, stopping):
    """200 fsync a second of another process's file."""
    with open(os.path.join(path, "noise"), "wb") as file:
        while not stopping.is_set():
            file.write(b"x" * 4096)
            file.flush()
            os.fsync(file.fileno())
            stopping.wait(0.005)


def metric(daemon, name):
    for line in daemon.get("/metrics")[1].decode().splitlines():
        if line.startswith(name + " "):
            return float(line.split()[1])
    raise SystemExit(f"no {name}")


def set_mtu(index, mtu):
    """RTM_NEWLINK that changes the MTU of an interface."""
    payload = struct.pack("=BBHiII", 0, 0, 0, index, 0, 0) + struct.pack("=HHI", 8, 4, mtu)
    return struct.pack("=IHHII", 16 + len(payload), 16, 1, 1, 0) + payload


def link_changes():
    """Changes of 40 interfaces in turn: changes that are read together are as many events."""
    for number in range(LINKS):
        for command in (f"link add l{number} type veth peer name m{number}", f"link set l{number} up"):
            subprocess.run(["ip", *command.split()], check=True)
    indices = [socket.if_nametoindex(f"l{number}") for number in range(LINKS)]
    return [set_mtu(index, mtu) for mtu in (1400, 1300) for index in indices]


def load(binary, kernel, messages):
    """Events that wait for their commit at 5,000 changes a second."""
    store = Store()
    daemon = Daemon(binary, "--log-level", "notice", *store.options)
    stream = open_stream(daemon)
    drain = threading.Thread(target=lambda: [None for _ in iter(lambda: stream.recv(1 << 20), b"")], daemon=True)
    drain.start()
    lag = 0
    start = time.monotonic()
    sent = 0
    while (elapsed := time.monotonic() - start) < LOAD_SECONDS:
        while sent < elapsed * 5000:
            kernel.send(messages[sent % len(messages)])
            sent += 1
        if sent % 500 < 25:
            lag = max(lag, metric(daemon, "reachd_store_lag_events"))
        time.sleep(0.001)
    events = metric(daemon, "reachd_event_log_events_total")
    unkept = metric(daemon, "reachd_store_unkept_events_total")
    detached = metric(daemon, "reachd_store_detached_total")
    wal = os.path.getsize(os.path.join(store.path, "reachd.db-wal"))
    print(f"{sent / LOAD_SECONDS:.0f} changes/s for {LOAD_SECONDS} s: {events:.0f} events, at most {lag:.0f} waited for "
          f"their commit ({lag / 5000:.3f} s), {unkept:.0f} not kept, {detached:.0f} times detached, "
          f"log {wal / 1048576:.1f} MiB")
    daemon.stop()
    store.remove()


def written(daemon):
    """The bytes that a process has had written to the disk, in whole pages of the page cache."""
    with open(f"/proc/{daemon.pid}/io") as file:
        return int(re.search(r"^write_bytes: (\d+)", file.read(), re.MULTILINE)[1])


def writes(binary, kernel, messages):
    """The bytes on the disk for each event, at one event a second and at a thousand, with its part of the checkpoints."""
    for rate, seconds in ((1, WRITE_SECONDS), (1000, 30)):
        store = Store()
        daemon = Daemon(binary, "--log-level", "notice", *store.options)
        stream = daemon.connect()
        stream.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        read_until_quiet(stream, 2.5)
        # The start is copied into the database ten seconds after its last event.
        time.sleep(12)
        before, events = written(daemon), metric(daemon, "reachd_event_log_events_total")
        stream.settimeout(None)
        received = [0]

        def drain():
            try:
                while part := stream.recv(1 << 20):
                    received.append(len(part))
            except OSError:
                # It is closed at the end.
                pass

        threading.Thread(target=drain, daemon=True).start()
        start = time.monotonic()
        for number in range(rate * seconds):
            time.sleep(max(0, start + number / rate - time.monotonic()))
            kernel.send(messages[number % len(messages)])
        time.sleep(12)
        events = metric(daemon, "reachd_event_log_events_total") - events
        print(f"{rate} events/s for {seconds} s: {(written(daemon) - before) / events / 1000:.1f} kB written for each of "
              f"{events:.0f} events of {sum(received) / events:.0f} bytes")
        stream.close()
        daemon.stop()
        store.remove()


class Process:
    """A function in a process of its own, which does not share this one's interpreter lock; stopped for a pause."""

    def __init__(self, function, *arguments):
        self.pid = os.fork()
        if self.pid == 0:
            try:
                function(*arguments)
            except BaseException as error:
                print(f"{function.__name__}: {error!r}", file=sys.stderr)
            os._exit(1)

    def pause(self, is_paused):
        os.kill(self.pid, signal.SIGSTOP if is_paused else signal.SIGCONT)

    def end(self):
        os.kill(self.pid, signal.SIGKILL)
        if os.waitpid(self.pid, 0)[1] != signal.SIGKILL:
            raise SystemExit("a process of the benchmark has failed")


def change(kernel, messages):
    """5,000 changes a second."""
    start = time.monotonic()
    sent = 0
    while True:
        while sent < (time.monotonic() - start) * 5000:
            kernel.send(messages[sent % len(messages)])
            sent += 1
        time.sleep(0.001)


def read_pages(daemon, counter):
    """50 clients, each of which reads a page of the history a second; writes a byte for each page."""
    ready = selectors.DefaultSelector()
    connections = [daemon.connect() for _ in range(READERS)]
    for connection in connections:
        ready.register(connection, selectors.EVENT_READ, [b""])
    number, due = 0, time.monotonic()
    while True:
        now = time.monotonic()
        if now >= due:
            # Not the pages that a pause has missed.
            due = max(due, now - 1) + 1 / READERS
            connections[number % READERS].sendall(
                b"GET /history?limit=100&order=asc HTTP/1.1\r\nHost: localhost\r\n\r\n")
            number += 1
        for key, _ in ready.select(max(0, due - time.monotonic())):
            part = key.fileobj.recv(1 << 20)
            answer = key.data[0] = key.data[0] + part
            if not part or not answer.startswith(b"HTTP/1.1 200"):
                raise SystemExit(f"no 200: {answer[:200]}")
            length = re.search(rb"Content-Length: (\d+).*?\r\n\r\n", answer, re.DOTALL)
            if length and len(answer) >= length.end() + int(length[1]):
                key.data[0] = b""
                os.write(counter, b".")


def statuses(daemon):
    """Requests of /status within a second, of 16 connections without a pause."""
    out = subprocess.run(["wrk", "-t1", "-c16", f"-d{READER_SECONDS}s", f"http://127.0.0.1:{daemon.port}/status"],
                         stdout=subprocess.PIPE, text=True, check=True).stdout
    if "Non-2xx" in out or "Socket errors" in out:
        raise SystemExit(out)
    return float(re.search(r"Requests/sec:\s+([\d.]+)", out)[1])


def processor_time(daemon):
    """Milliseconds of processor time of each thread, by its name."""
    used = {}
    for task in os.scandir(f"/proc/{daemon.pid}/task"):
        with open(f"{task.path}/comm") as name, open(f"{task.path}/schedstat") as times:
            name = name.read().strip()
            used[name] = used.get(name, 0) + int(times.read().split()[0]) / 1e6
    return used


def readers(binary, kernel, messages):
    """The rate of /status and the size of the log while 50 clients read the history and events arrive."""
    store = Store()
    daemon = Daemon(binary, "--log-level", "notice", *store.options)
    pages, counter = os.pipe2(os.O_NONBLOCK)
    clients = Process(read_pages, daemon, counter)
    changes = Process(change, kernel, messages)
    rates = {False: [], True: []}
    used = {False: {}, True: {}}
    largest = 0
    before, start = metric(daemon, "reachd_event_log_events_total"), time.monotonic()
    for _ in range(READER_ROUNDS):
        for reading in (False, True):
            clients.pause(not reading)
            earlier = processor_time(daemon)
            rates[reading].append(statuses(daemon))
            for name, spent in processor_time(daemon).items():
                used[reading][name] = used[reading].get(name, 0) + spent - earlier.get(name, 0)
            largest = max(largest, os.path.getsize(os.path.join(store.path, "reachd.db-wal")))
    rate = (metric(daemon, "reachd_event_log_events_total") - before) / (time.monotonic() - start)
    detached = metric(daemon, "reachd_store_detached_total")
    changes.end()
    clients.pause(False)
    clients.end()
    read = len(os.read(pages, 1 << 16))
    with_readers, without = (sorted(rates[reading])[READER_ROUNDS // 2] for reading in (True, False))
    print(f"{READERS} readers of /history, {read} pages, {rate:.0f} events/s: log {largest / 1048576:.1f} MiB, "
          f"/status {with_readers:.0f}/s, without readers {without:.0f}/s: {with_readers / without:.2f}x, "
          f"{detached:.0f} times detached; medians of {READER_ROUNDS} alternated rounds of {READER_SECONDS} s")
    seconds = READER_ROUNDS * READER_SECONDS
    print("  ms of processor time a second, with and without readers: " + ", ".join(
        f"{name} {used[True].get(name, 0) / seconds:.0f} and {used[False].get(name, 0) / seconds:.0f}"
        for name in sorted(used[True], key=used[True].get, reverse=True)[:6]))
    daemon.stop()
    store.remove()


class Disk:
    """A data directory whose disk can be made to fail; Tests/Fault/fault.c is preloaded."""

    def __init__(self):
        self.store = Store()
        self.folder = tempfile.mkdtemp()
        library = os.path.join(self.folder, "fault.so")
        source = os.path.join(os.path.dirname(__file__), "..", "Tests", "Fault", "fault.c")
        subprocess.run(["cc", "-shared", "-fPIC", "-O", "-o", library, source, "-ldl"], check=True)
        self.file = os.path.join(self.folder, "fault")
        self.before = ("env", f"LD_PRELOAD={library}", f"FAULT_FILE={self.file}",
                       f"FAULT_DIRECTORY={os.path.realpath(self.store.path)}")

    def begin(self, fault):
        with open(self.file, "w") as file:
            file.write(fault)

    def end(self, _):
        os.unlink(self.file)

    def remove(self):
        self.store.remove()
        shutil.rmtree(self.folder)


class SmallDisk:
    """A data directory on a file system of 64 MB, in a mount namespace of the daemon."""

    def __init__(self):
        self.store = Store()
        self.before = ("unshare", "-m", "sh", "-c", f"mount -t tmpfs -o size=64m tmpfs {self.store.path} && exec \"$@\"", "sh")

    def begin(self, pid):
        with open(f"/proc/{pid}/root{os.path.realpath(self.store.path)}/filler", "wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"0" * 4096)
            except OSError:
                # It is full.
                pass

    def end(self, pid):
        os.unlink(f"/proc/{pid}/root{os.path.realpath(self.store.path)}/filler")

    def remove(self):
        self.store.remove()


def fault(binary, kernel, messages, disk, name, argument=None):
    """The delay of the first event while the disk fails, and the latency of the others."""
    daemon = Daemon(binary, "--log-level", "notice", *disk.store.options, before=disk.before)
    stream = open_stream(daemon)
    before, _, _ = quantiles(measure(stream, kernel, messages))
    disk.begin(argument or daemon.pid)
    times = measure(stream, kernel, messages)
    late = sum(1 for milliseconds in times if milliseconds > 40)
    median, _, worst = quantiles(times)
    status = time.perf_counter()
    daemon.get("/status")
    status = (time.perf_counter() - status) * 1000
    disk.end(daemon.pid)
    start = time.monotonic()
    while metric(daemon, 'reachd_store_state{state="keeping"}') != 1:
        if time.monotonic() - start > 60:
            raise SystemExit("the store does not recover")
        time.sleep(0.05)
    print(f"{name}: {late} events late, by at most {worst:.1f} ms; then p50 {median:.3f} ms, before {before:.3f} ms: "
          f"{median / before:.2f}x; /status {status:.1f} ms; recovered after {time.monotonic() - start:.1f} s; "
          f"{metric(daemon, 'reachd_store_unkept_events_total'):.0f} not kept")
    stream.close()
    daemon.stop()
    disk.remove()


def starts(binary, ends_cleanly):
    """Milliseconds from exec to the first 200 of a store with thousands of events."""
    store = Store()
    times = []
    for number in range(RUNS + 1):
        daemon = Daemon(binary, *store.options)
        head, _ = daemon.get("/status")
        elapsed = (time.monotonic() - daemon.started) * 1000
        if b" 200 " not in head.split(b"\r\n")[0]:
            raise SystemExit(f"no 200: {head}")
        if number == 0:
            names = "\n".join(f"link set c0 mtu {1300 + n % 100}" for n in range(3000))
            subprocess.run(["ip", "-batch", "-"], input=names.encode(), check=True)
        else:
            times.append(elapsed)
        daemon.process.send_signal(signal.SIGTERM if ends_cleanly else signal.SIGKILL)
        daemon.process.wait()
    store.remove()
    return times


def damaged(binary):
    """Milliseconds from exec to the first 200 when the first pages of the database are zero."""
    store = Store()
    times = []
    for number in range(RUNS + 1):
        daemon = Daemon(binary, "--log-level", "notice", *store.options)
        daemon.get("/status")
        if number > 0:
            times.append((time.monotonic() - daemon.started) * 1000)
        daemon.stop()
        with open(os.path.join(store.path, "reachd.db"), "r+b") as file:
            file.write(bytes(3 * 4096))
    median, _, worst = quantiles(times)
    print(f"exec to first 200 with a damaged database: median {median:.1f} ms, worst {worst:.1f} ms of {RUNS}")
    store.remove()


def idle(binary):
    sizes = {}
    for kept in (False, True):
        store = Store()
        daemon = Daemon(binary, *(store.options if kept else ()))
        daemon.get("/status")
        time.sleep(12)
        sizes[kept] = memory(daemon.pid)
        daemon.stop()
        store.remove()
    (rss, anonymous), (bare, bare_anonymous) = sizes[True], sizes[False]
    print(f"idle with a store: RSS {rss / 1024:.1f} MiB, {(rss - bare) / 1024:+.1f}; anonymous {anonymous / 1024:.1f} MiB, "
          f"{(anonymous - bare_anonymous) / 1024:+.1f}")


def latency(binary, kernel, messages):
    compare(binary, kernel, messages, "kernel change to bytes")
    noise, stopping = Store(), threading.Event()
    thread = threading.Thread(target=synchronize, args=(noise.path, stopping), daemon=True)
    thread.start()
    compare(binary, kernel, messages, "beside 200 fsync/s")
    stopping.set()
    thread.join()
    noise.remove()


def faults(binary, kernel, messages):
    fault(binary, kernel, messages, Disk(), "disk that does not respond", "600000")
    fault(binary, kernel, messages, Disk(), "disk with EIO", "eio")
    fault(binary, kernel, messages, SmallDisk(), "full disk")


def all_starts(binary):
    for ends_cleanly, name in ((True, "a clean end"), (False, "SIGKILL")):
        median, _, worst = quantiles(starts(binary, ends_cleanly))
        print(f"exec to first 200 after {name}: median {median:.1f} ms, worst {worst:.1f} ms of {RUNS}")
    damaged(binary)


def main(binary, *parts):
    parts = parts or ("latency", "faults", "load", "writes", "readers", "starts", "idle")
    index = enter_new_namespace()
    kernel = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    kernel.bind((0, 0))
    messages = [replace_default(gateway, index) for gateway in ("10.9.0.1", "10.9.0.3")]
    kernel.send(messages[1])
    # The others are measured with one interface.
    changes = None
    for part in parts:
        if part in ("load", "writes", "readers") and changes is None:
            changes = link_changes()
        match part:
            case "latency": latency(binary, kernel, messages)
            case "faults": faults(binary, kernel, messages)
            case "load": load(binary, kernel, changes)
            case "writes":
                # An interface changes; then the route, whose events are longer.
                writes(binary, kernel, changes)
                writes(binary, kernel, messages)
            case "readers": readers(binary, kernel, changes)
            case "starts": all_starts(binary)
            case "idle": idle(binary)
            case _: raise SystemExit(f"unknown part {part!r}; "
                                  "there are latency, faults, load, writes, readers, starts and idle")


if __name__ == "__main__":
    main(*sys.argv[1:])
