"""A fleet in network namespaces: a nats-server, a replica, and agents with cables to one bridge."""
import contextlib
import json
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

SERVER = pathlib.Path.cwd() / ".build-venv-fleet/bin/nats-server"
HOST = "10.79.0.1"
REPLICA = f"{HOST}:8080"
PASSWORD = "trial"
# The user of the tests, without limits.
ENGINE = f"nats://test:{PASSWORD}@{HOST}:4222"
PATIENCE = 60
# A proxy for PyPI must not be used for the fleet.
urllib.request.install_opener(urllib.request.build_opener(urllib.request.ProxyHandler({})))


def ip(*words):
    subprocess.run(["ip", *words], check=True)


def use_addresses_at_once():
    """New links have their IPv6 addresses without the second of duplicate address detection (RFC 4862, section 5.4).

    Chromium cancels all requests when an address appears, also those for the script of a page that is being opened.
    """
    for scope in ("all", "default"):
        pathlib.Path(f"/proc/sys/net/ipv6/conf/{scope}/accept_dad").write_text("0", encoding="ascii")


def wait(what, condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit(f"fleet: timeout: {what}")
        time.sleep(0.05)


def request(method, path, body=None):
    data = json.dumps(body).encode() if body is not None else None
    asked = urllib.request.Request(
        f"http://{REPLICA}{path}", data, {"Content-Type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(asked, timeout=10) as response:
            return json.loads(response.read() or b"null")
    except urllib.error.HTTPError as error:
        raise SystemExit(f"fleet: {method} {path}: {error.code} {error.read().decode()}") from error


def expect(target, verdict):
    wait(f"{target} is {verdict}", lambda: request("GET", f"/fleet/targets/{target}")["verdict"] == verdict)


class Member:
    """An agent in a network namespace of its own with a cable to the bridge, or the replica beside the bridge.

    It uses its password, or the file `credentials`.
    """

    def __init__(self, program, work, name, role, zone, number, credentials=None):
        self.program, self.name, self.role = program, name, role
        address = HOST if number is None else f"10.79.0.{number}"
        access = f', credentialsFile: {credentials}' if credentials else ""
        user = "" if credentials else f"{name}:{PASSWORD}@"
        self.file = work / f"{name}.yaml"
        self.log = work / f"{name}.log"
        self.file.write_text(
            f'listen: "{address}:8080"\nallowedHosts: ["{address}"]\ndata: {work}/{name}\nstore: {{ runtime: {work} }}\n'
            f'drainDelay: 0s\naccess: {{ checks: open }}\n'
            f'fleet: {{ id: {name}, zone: {zone}, address: "tcp://{address}:8080", '
            f'servers: ["nats://{user}{HOST}:4222"]{access} }}\n', encoding="ascii")
        self.cable, self.holder, self.inside = f"to-{name}", None, []
        if number is not None:
            self.holder = subprocess.Popen(["unshare", "-n", "sleep", "infinity"])
            self.inside = ["nsenter", "-t", str(self.holder.pid), "-n"]
            # The process is in its namespace when the namespace differs from this one.
            own = pathlib.Path("/proc/self/ns/net").readlink()
            wait("a namespace", lambda: pathlib.Path(f"/proc/{self.holder.pid}/ns/net").readlink() != own)
            ip("link", "add", self.cable, "type", "veth", "peer", "name", "eth0", "netns", str(self.holder.pid))
            ip("link", "set", self.cable, "master", "bridge", "up")
            self.ip("link", "set", "lo", "up")
            self.ip("addr", "add", f"{address}/24", "dev", "eth0")
            self.ip("link", "set", "eth0", "up")
            self.connect()
        self.start()

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [*self.inside, self.program, self.role, "--config", str(self.file)], stderr=log)

    def ip(self, *words):
        subprocess.run([*self.inside, "ip", *words], check=True)

    def connect(self):
        ip("link", "set", self.cable, "up")
        self.ip("route", "replace", "default", "via", HOST)

    def mislead(self, address):
        """The agent's frames to an address are lost, which its kernel cannot know."""
        self.ip("neigh", "replace", address, "lladdr", "02:00:00:00:00:99", "dev", "eth0", "nud", "permanent")

    def lead(self, address):
        self.ip("neigh", "del", address, "dev", "eth0")

    def stop(self):
        for process in (self.process, self.holder):
            if process and process.poll() is None:
                process.send_signal(signal.SIGTERM if process is self.process else signal.SIGKILL)
                process.wait(10)


class Listener:
    """What the targets are: a TCP port that can be closed."""

    def __init__(self):
        self.socket = socket.create_server(("0.0.0.0", 9000), backlog=64)
        threading.Thread(target=self.accept, args=(self.socket,), daemon=True).start()

    def accept(self, listening):
        while True:
            try:
                listening.accept()[0].close()
            except OSError:
                return

    def close(self):
        # shutdown() ends the blocked accept(); close() alone would not.
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


def define(name, address, **more):
    request("PUT", f"/fleet/targets/{name}", {
        "target": f"tcp://{address}:9000", "interval": "1s", "timeout": "500ms", "fall": 1, "rise": 1, **more})


def is_ready():
    try:
        with urllib.request.urlopen(f"http://{REPLICA}/readyz", timeout=2) as response:
            return response.status == 200
    except OSError:
        return False


def add_bridge():
    ip("link", "add", "bridge", "type", "bridge")
    for address in (f"{HOST}/24", "10.79.0.9/24", "10.80.0.1/32"):
        ip("addr", "add", address, "dev", "bridge")
    ip("link", "set", "bridge", "up")


def accounts(program, replicas, agents):
    """The users of the engine, as `reachd-fleet config engine` prints them, with passwords, and the user of the tests."""
    options = [f"--replica={name}" for name in replicas] + [f"--agent={name}" for name in agents]
    printed = subprocess.run([program, "config", "engine", *options], check=True, capture_output=True, text=True).stdout
    with_passwords = re.sub(r"\$[A-Z0-9_]+_PASSWORD", PASSWORD, printed)
    return with_passwords.replace("users: [", f"users: [ {{ user: test, password: {PASSWORD} }}", 1)


@contextlib.contextmanager
def running(program, agents, before=lambda: None, others=()):
    """A fleet: yields its members, the replica first, and the result of `before`, called between replica and agents.

    `agents` has the last number of the address and the zone by id; `others` are ids of agents that the caller starts.
    """
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        use_addresses_at_once()
        add_bridge()
        (work / "nats.conf").write_text(
            f'server_name: fleet\nlisten: "{HOST}:4222"\njetstream {{ store_dir: "{work}/engine" }}\n'
            f'{accounts(program, ["replica"], [*agents, *others])}', encoding="ascii")
        engine = subprocess.Popen([SERVER, "-c", work / "nats.conf", "-l", work / "nats.log"])
        members = []
        try:
            members.append(Member(program, work, "replica", "replica", "a", None))
            wait("a replica", is_ready)
            # The first message of a stream ends event streams that began before it.
            wait("its hello", lambda: request("GET", "/fleet")["replicas"])
            result = before()
            members += [Member(program, work, name, "agent", zone, number) for name, (number, zone) in agents.items()]
            wait("all agents", lambda: request("GET", "/fleet")["agents"]["present"] == len(agents))
            yield members, result
        except BaseException:
            for member in members:
                print(f"{member.name}:\n{member.log.read_text()}", file=sys.stderr)
            raise
        finally:
            for member in members:
                member.stop()
            engine.terminate()
            engine.wait(10)
            ip("link", "del", "bridge")
