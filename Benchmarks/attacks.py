"""The effect of slow attacks on other clients: p99 of a normal client's responses during slowhttptest and without it.

Rounds with and without an attack alternate, so that variations of the machine affect both. Prints rows of RESULTS.md.
"""
import resource
import statistics
import subprocess
import sys
import time

from daemon import Daemon, quantiles

CONNECTIONS = 1000
ROUNDS = 5
SECONDS = 3
# Attacks of slowhttptest: incomplete heads, incomplete bodies, responses that are read slowly.
ATTACKS = {
    "header": ["-H", "-i", "1", "-x", "8"],
    "body": ["-B", "-i", "1", "-x", "8", "-s", "8192"],
    "read": ["-X", "-k", "100", "-n", "1", "-w", "1", "-y", "16", "-z", "4"],
}
REQUEST = b"GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n"


def answer(connection):
    """Milliseconds from the first byte sent to the last one received."""
    begun = time.perf_counter_ns()
    connection.sendall(REQUEST)
    received = connection.recv(65536)
    head, _, body = received.partition(b"\r\n\r\n")
    length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
    while len(body) < length:
        body += connection.recv(65536)
    if not head.startswith(b"HTTP/1.1 200 "):
        raise SystemExit(f"no 200: {head}")
    return (time.perf_counter_ns() - begun) / 1e6


def good_client(daemon):
    """p99 of a client that keeps its connection and opens a new one for every tenth request."""
    times = []
    connection = daemon.connect()
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        if len(times) % 10 == 9:
            connection.close()
            connection = daemon.connect()
        times.append(answer(connection))
        time.sleep(0.001)
    connection.close()
    return quantiles(times)[1]


def attack(daemon, kind):
    return subprocess.Popen(
        ["slowhttptest", *ATTACKS[kind], "-c", str(CONNECTIONS), "-r", str(CONNECTIONS), "-l", str(SECONDS + 5),
         "-u", f"http://127.0.0.1:{daemon.port}/status", "-v", "0"], stdout=subprocess.DEVNULL)


def main(binary):
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    for kind in ATTACKS:
        daemon = Daemon(binary, "--log-level", "notice")
        peace, war = [], []
        for _ in range(ROUNDS):
            peace.append(good_client(daemon))
            attacker = attack(daemon, kind)
            # slowhttptest opens its connections within the first second.
            time.sleep(1.5)
            war.append(good_client(daemon))
            attacker.terminate()
            attacker.wait()
            time.sleep(0.5)
        ratio = statistics.median(war) / statistics.median(peace)
        print(f"| slow {kind} attack, {CONNECTIONS} connections: normal client's p99 | ≤ 1.5× | {ratio:.2f}× "
              f"({statistics.median(war):.2f} ms, without attack {statistics.median(peace):.2f} ms, medians of {ROUNDS}) "
              f"| `make bench` (`attacks.py`) |")
        if daemon.stop():
            raise SystemExit("the service did not exit cleanly")


main(sys.argv[1])
