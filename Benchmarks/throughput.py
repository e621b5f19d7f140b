"""`GET /status`: reachd compared with libmicrohttpd in C (the same bytes), nginx's `return` and Hummingbird.

The server runs on one processor and the client (wrk, 64 connections) on the other. Rounds alternate; figures are
medians. CPU is the time of the server's threads, from schedstat.
"""
import re
import subprocess
import sys
import tempfile

from daemon import Daemon
from peers import HERE, Nginx, ON_CLIENT, ON_SERVER, Program, compile_c, cpu_nanoseconds, median

ROUNDS = 5
SECONDS = 3
HUMMINGBIRD = HERE / "hummingbird-server" / ".build" / "release" / "hummingbird-server"


def load(port, path="/status"):
    """The number of 200 responses within the time."""
    out = subprocess.run(
        [*ON_CLIENT, "wrk", "-t1", "-c64", f"-d{SECONDS}s", f"http://127.0.0.1:{port}{path}"],
        stdout=subprocess.PIPE, text=True, check=True).stdout
    if "Non-2xx" in out or "Socket errors" in out:
        raise SystemExit(out)
    return int(re.search(r"(\d+) requests in", out)[1]), float(re.search(r"Requests/sec:\s+([\d.]+)", out)[1])


def measure(server):
    """Requests a second, and microseconds of CPU a request."""
    before = cpu_nanoseconds(server.pids)
    count, rate = load(server.port)
    return rate, (cpu_nanoseconds(server.pids) - before) / 1e3 / count


def main(binary):
    daemon = Daemon(binary, "--log-level", "notice", before=ON_SERVER)
    daemon.pids = [daemon.pid]
    head, body = daemon.get("/status")
    skipped = ("date", "content-length", "connection")
    headers = [line for line in head.decode().split("\r\n")[1:] if line.split(":")[0].lower() not in skipped]
    with tempfile.NamedTemporaryFile() as file:
        file.write(body)
        file.flush()
        baseline = Program(compile_c("baseline", "-lmicrohttpd"), file.name, *headers)
    # nginx accepts a double quote within double quotes only if it is escaped.
    text = body.decode().replace("\\", "\\\\").replace('"', '\\"').replace("$", "")
    added = "".join(f'add_header {line.split(": ")[0]} "{quoted(line)}";' for line in headers if not line.startswith("Content-Type"))
    nginx = Nginx(f'location = /status {{ default_type application/json; {added} return 200 "{text}"; }}')
    servers = {"reachd": daemon, "C libmicrohttpd": baseline, "nginx return": nginx}
    if HUMMINGBIRD.exists():
        servers["Hummingbird 2"] = Program(str(HUMMINGBIRD))
    for server in servers.values():
        measure(server)
    figures = {name: [] for name in servers}
    for _ in range(ROUNDS):
        for name, server in servers.items():
            figures[name].append(measure(server))
    for server in servers.values():
        server.stop()
    rates = {name: median([rate for rate, _ in each]) for name, each in figures.items()}
    costs = {name: median([cost for _, cost in each]) for name, each in figures.items()}
    for name in servers:
        print(f"{name}: {rates[name]:.0f} requests/s, {costs[name]:.2f} µs CPU a request", flush=True)
    bars = {"C libmicrohttpd": "throughput ≥ 0.95×, CPU ≤ 1.05×", "nginx return": "throughput ≥ 1.0×",
            "Hummingbird 2": "throughput ≥ 3×"}
    for name, bar in bars.items():
        if name in servers:
            print(f"| `GET /status` compared with {name} | {bar} | {rates['reachd'] / rates[name]:.2f}×, CPU "
                  f"{costs['reachd'] / costs[name]:.2f}× | `Benchmarks/run http` |", flush=True)
        else:
            print(f"{name}: not built (swift build -c release --package-path Benchmarks/hummingbird-server)", flush=True)


def quoted(line):
    return line.split(": ", 1)[1].replace("\\", "\\\\").replace('"', '\\"')


main(sys.argv[1])
