"""Sends SIGTERM under load with 1,000 streams: requests received before the listener closes get responses, streams get bye."""
import resource
import select
import socket
import subprocess
import sys
import threading
import time

import network
from daemon import Daemon

STREAMS = 1000
KEPT, FRESH = 20, 10
WARM_UP_SECONDS = 1
PATIENCE = 60
RESET = b"(reset)"
REQUEST = b"GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n"


class Judge(threading.Thread):
    """Sends one request after the other and records the result of each."""

    def __init__(self, port, keeps):
        super().__init__(daemon=True)
        self.port = port
        self.keeps = keeps
        # The time of the request, and the error of the response.
        self.asked = []
        self.start()

    def run(self):
        connection = None
        while True:
            try:
                connection = connection or socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
            except OSError:
                return
            sent, is_last = None, False
            try:
                connection.sendall(REQUEST)
                sent = time.monotonic()
                complaint, is_last = read_answer(connection)
            except OSError as error:
                complaint = repr(error)
            if sent:
                self.asked.append((sent, complaint))
            # After `Connection: close` a client sends no more requests on the connection (RFC 9112, 9.6).
            if complaint or is_last or not self.keeps:
                connection.close()
                connection = None


def read_answer(connection):
    """Returns None for a complete response, else what is missing; and whether the connection ends with it."""
    answer = b""
    while b"\r\n\r\n" not in answer:
        block = connection.recv(65536)
        if not block:
            return f"the end after {len(answer)} bytes", True
        answer += block
    head, _, body = answer.partition(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200 "):
        return head.split(b"\r\n")[0].decode(), True
    length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
    while len(body) < length:
        block = connection.recv(65536)
        if not block:
            return f"the end after {len(body)} of {length} bytes", True
        body += block
    return None, b"\r\nconnection: close" in head.lower()


def probe(port, seen):
    """Records the last time at which the listener was certainly open."""
    while True:
        begun = time.monotonic()
        try:
            socket.create_connection(("127.0.0.1", port), timeout=PATIENCE).close()
        except OSError:
            return
        seen.append(begun)
        time.sleep(0.001)


def open_streams(service):
    streams = {}
    for _ in range(STREAMS):
        stream = service.connect()
        stream.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        streams[stream.fileno()] = (stream, bytearray())
    read_streams(streams, lambda bytes_: b"event: snapshot" in bytes_)
    return streams


def read_streams(streams, is_done):
    """Reads until every stream has the expected data; a stream that has ended must have no more data."""
    poller = select.epoll()
    waiting = {number for number, (_, bytes_) in streams.items() if not is_done(bytes_)}
    for number in waiting:
        poller.register(number, select.EPOLLIN)
    deadline = time.monotonic() + PATIENCE
    while waiting and time.monotonic() < deadline:
        for number, _ in poller.poll(1):
            stream, bytes_ = streams[number]
            try:
                block = stream.recv(65536)
            except OSError:
                block = b""
                bytes_ += RESET
            bytes_ += block
            if not block or is_done(bytes_):
                poller.unregister(number)
                waiting.discard(number)
    poller.close()


def said_bye(bytes_):
    """Returns whether a stream ended with the complete event: after its last chunk, or at its end without chunks."""
    head, _, body = bytes(bytes_).partition(b"\r\n\r\n")
    is_chunked = b"transfer-encoding: chunked" in head.lower()
    return b"\nevent: bye\n" in body and body.endswith(b"\r\n0\r\n\r\n" if is_chunked else b"\n\n")


def main(binary):
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    network.set_up()
    service = Daemon(binary, "--log-level", "notice")
    streams = open_streams(service)
    load = subprocess.Popen(["wrk", "-t1", "-c50", "-d30s", f"http://127.0.0.1:{service.port}/status"],
                            stdout=subprocess.PIPE, text=True)
    judges = [Judge(service.port, number < KEPT) for number in range(KEPT + FRESH)]
    seen = []
    prober = threading.Thread(target=probe, args=(service.port, seen), daemon=True)
    prober.start()
    time.sleep(WARM_UP_SECONDS)
    status = service.stop()
    for thread in [prober, *judges]:
        thread.join(PATIENCE)
    load.terminate()
    load.communicate()
    read_streams(streams, lambda bytes_: False)

    open_until = max(seen)
    asked = [request for judge in judges for request in judge.asked]
    before = [complaint for sent, complaint in asked if sent < open_until]
    lost = [complaint for complaint in before if complaint]
    torn = [complaint for _, complaint in asked if complaint and " of " in complaint]
    byes = sum(said_bye(bytes_) for _, bytes_ in streams.values())
    print(f"drain: {len(before) - len(lost)} of {len(before)} requests answered that came before the listener closed, "
          f"{len(asked) - len(before)} came at or after it, {len(torn)} answers torn; "
          f"{byes} of {STREAMS} streams said bye; exit {status}")
    if lost or torn or byes != STREAMS or status or not before:
        raise SystemExit(f"drain: lost: {sorted(set(lost))}, torn: {sorted(set(torn))}")


main(sys.argv[1])
