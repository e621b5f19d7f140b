"""A fleet in network namespaces: servers, agents and replicas, each with a cable to one bridge. Needs root."""
import contextlib
import ctypes
import http.client
import json
import os
import shutil
from signal import SIGKILL
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

from namespace import enter_new_namespace

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNET = 0x40000000
RTM_NEWLINK, NLM_F_REQUEST, IFF_UP = 16, 1, 1
PORT = 8080


def ip(*words):
    subprocess.run(["ip", *" ".join(words).split()], check=True)


def wait(condition, seconds=60, what="the condition"):
    """What a condition returns, as soon as it is true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if value := condition():
                return value
        except (OSError, ValueError, http.client.HTTPException):
            pass
        time.sleep(0.01)
    raise SystemExit(f"{what} did not come within {seconds} s")


class Node:
    """A network namespace with a cable to the bridge, held by a process.

    It has a host name of its own, because that decides at which times of an interval an agent checks a target.
    """

    def __init__(self, number):
        self.number = number
        self.address = f"10.77.0.{number}"
        self.holder = subprocess.Popen(["unshare", "-n", "-u", "sleep", "infinity"])
        own = [os.readlink(f"/proc/self/ns/{kind}") for kind in ("net", "uts")]
        wait(lambda: all(each != os.readlink(f"/proc/{self.holder.pid}/ns/{kind}")
                         for each, kind in zip(own, ("net", "uts"))))
        self.run("hostname", f"node{number}")
        ip(f"link add c{number} type veth peer name eth0 netns {self.holder.pid}")
        ip(f"link set c{number} master br0 up")
        for command in ("link set lo up", f"addr add {self.address}/24 dev eth0", "link set eth0 up",
                        "link add d0 type veth peer name d1", "link set d1 up", "addr add 10.9.0.2/24 dev d0",
                        "link set d0 up"):
            self.run("ip", *command.split())
        self.kernel, self.link = self.netlink()

    def prefix(self):
        return ["nsenter", "-t", str(self.holder.pid), "-n", "-u"]

    def run(self, *words):
        subprocess.run([*self.prefix(), *words], check=True)

    def netlink(self):
        """A socket in the namespace, and the index of d0."""
        here = os.open("/proc/self/ns/net", os.O_RDONLY)
        there = os.open(f"/proc/{self.holder.pid}/ns/net", os.O_RDONLY)
        LIBC.setns(there, CLONE_NEWNET)
        kernel = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
        index = socket.if_nametoindex("d0")
        LIBC.setns(here, CLONE_NEWNET)
        os.close(here)
        os.close(there)
        return kernel, index

    def set_link(self, is_up):
        """Switches d0 with one message."""
        payload = struct.pack("=BxHiII", 0, 0, self.link, IFF_UP if is_up else 0, IFF_UP)
        self.kernel.send(struct.pack("=IHHII", 16 + len(payload), RTM_NEWLINK, NLM_F_REQUEST, 1, 0) + payload)

    def connect(self, is_connected):
        """Cuts the cable, or connects it again."""
        ip(f"link set c{self.number}", "up" if is_connected else "down")

    def end(self):
        self.holder.kill()
        self.holder.wait()


class Member:
    """A running agent, replica or node."""

    def __init__(self, node, program, role, file):
        self.node, self.program, self.role, self.file = node, program, role, file
        self.start()

    def start(self):
        log = open(self.file + ".log", "a")
        self.process = subprocess.Popen(
            [*self.node.prefix(), self.program, self.role, "--config", self.file], stderr=log)
        log.close()

    def get(self, path):
        connection = http.client.HTTPConnection(self.node.address, PORT, timeout=30)
        connection.request("GET", path, headers={"Accept": "application/json"})
        response = connection.getresponse()
        body = response.read()
        connection.close()
        return json.loads(body) if body else None

    def post(self, path, document):
        connection = http.client.HTTPConnection(self.node.address, PORT, timeout=30)
        connection.request("POST", path, json.dumps(document), {"Content-Type": "application/json"})
        response = connection.getresponse()
        body = response.read()
        connection.close()
        if response.status >= 300:
            raise SystemExit(f"POST {path}: {response.status} {body}")

    def signal(self, number):
        self.process.send_signal(number)

    def end(self, number=SIGKILL):
        self.process.send_signal(number)
        self.process.wait(30)


class Server:
    """A nats-server with a store of its own."""

    def __init__(self, node, program, directory, routes):
        self.node, self.program = node, program
        self.directory = f"{directory}/server{node.number}"
        os.mkdir(self.directory)
        cluster = f"cluster {{ name: bench, listen: \"0.0.0.0:6222\", routes: [{routes}] }}" if routes else ""
        with open(f"{self.directory}/nats.conf", "w") as file:
            file.write(f"server_name: server{node.number}\nlisten: \"0.0.0.0:4222\"\n"
                       f"jetstream {{ store_dir: \"{self.directory}/store\" }}\n{cluster}\n")
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [*self.node.prefix(), self.program, "-c", f"{self.directory}/nats.conf", "-l", f"{self.directory}/log"])

    def kill(self):
        self.process.kill()
        self.process.wait()

    def wipe(self):
        shutil.rmtree(f"{self.directory}/store", ignore_errors=True)


class Subscriber(threading.Thread):
    """Reads /fleet/events of one replica; each event has the time at which its data was read."""

    def __init__(self, address, last=None, query=""):
        super().__init__(daemon=True)
        self.events = []
        self.condition = threading.Condition()
        self.connection = http.client.HTTPConnection(address, PORT, timeout=60)
        headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": last} if last else {})
        self.connection.request("GET", "/fleet/events" + query, headers=headers)
        self.socket = self.connection.sock
        self.response = self.connection.getresponse()
        self.status = self.response.status
        self.start()

    def run(self):
        source = self.response if self.response.chunked else self.response.fp
        name = identity = None
        try:
            while line := source.readline():
                if line.startswith(b"id: "):
                    identity = line[4:-1].decode()
                elif line.startswith(b"event: "):
                    name = line[7:-1].decode()
                elif line.startswith(b"data: "):
                    now = time.perf_counter()
                    with self.condition:
                        self.events.append((now, name, identity, line[6:]))
                        self.condition.notify_all()
        except (OSError, ValueError, AttributeError, http.client.HTTPException):
            pass

    def next(self, start, accept, seconds=60):
        """The first event from an index on that is accepted, with the index after it."""
        end = time.monotonic() + seconds
        with self.condition:
            while True:
                while start < len(self.events):
                    event = self.events[start]
                    start += 1
                    if accept(event):
                        return event, start
                if not self.condition.wait(max(0, end - time.monotonic())):
                    return None, start

    def close(self):
        # Closing the connection alone would leave the thread reading.
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.connection.close()


class Fleet:
    """Servers, agents and replicas that are running; `close` removes everything."""

    def __init__(self, program, servers=1, agents=3, replicas=2):
        self.program = os.path.abspath(program)
        self.directory = tempfile.mkdtemp(prefix="fleet.", dir="/var/tmp")
        self.nodes, self.servers, self.replicas, self.agents = {}, [], [], []
        try:
            self.begin(servers, agents, replicas)
        except BaseException:
            self.close()
            raise

    def begin(self, servers, agents, replicas):
        routes = ", ".join(f"\"nats-route://10.77.0.{10 + index}:6222\"" for index in range(servers))
        nats = os.environ["NATS_SERVER"]
        for index in range(servers):
            self.servers.append(Server(self.node(10 + index), nats, self.directory, routes if servers > 1 else ""))
        self.urls = [f"nats://10.77.0.{10 + index}:4222" for index in range(servers)]
        for index in range(replicas):
            self.replicas.append(self.member(f"replica{index}", 30 + index, "replica"))
        for replica in self.replicas:
            wait(lambda: replica.get("/fleet")["engine"]["complete"], what="the replica")
        for index in range(agents):
            self.agents.append(self.member(f"node{index}", 20 + index, "agent"))
        if agents:
            wait(lambda: self.replicas[0].get("/fleet")["agents"]["present"] == agents, what="the agents")

    def node(self, number):
        self.nodes[number] = Node(number)
        return self.nodes[number]

    def member(self, name, number, role):
        node = self.nodes.get(number) or self.node(number)
        file = f"{self.directory}/{name}.yaml"
        with open(file, "w") as text:
            text.write(f"listen: \"{node.address}:{PORT}\"\nallowedHosts: [\"{node.address}\"]\ndrainDelay: 0s\n"
                       f"access: {{ checks: open }}\n")
            if role != "replica":
                text.write(f"data: {self.directory}/{name}\n")
            text.write(f"fleet: {{ id: {name}, zone: z{number}, servers: [{', '.join(self.urls)}] }}\n")
        return Member(node, self.program, role, file)

    def define(self, count, **fields):
        """Targets that need only a route to an address of d0."""
        for number in range(count):
            target = {"id": f"t{number}", "target": f"route://10.9.0.{number % 200 + 10}"}
            self.replicas[0].post("/fleet/targets", target | fields)

    def close(self):
        for process in (*self.agents, *self.replicas):
            if process.process.poll() is None:
                process.end()
        for server in self.servers:
            if server.process.poll() is None:
                server.kill()
        for node in self.nodes.values():
            node.end()
        for number in self.nodes:
            subprocess.run(["ip", "link", "del", f"c{number}"], stderr=subprocess.DEVNULL)
        shutil.rmtree(self.directory, ignore_errors=True)


def enter():
    """A namespace with the bridge."""
    enter_new_namespace()
    ip("link add br0 type bridge")
    ip("addr add 10.77.0.1/24 dev br0")
    ip("link set br0 up")


def run(groups, names):
    """Runs some measurements, or all, in a namespace with the bridge; one that fails does not prevent the others."""
    enter()
    print(f"  load average {os.getloadavg()[0]:.1f}", flush=True)
    failed = False
    for name in names or groups:
        try:
            groups[name]()
        except SystemExit as error:
            print(f"  {name}: {error}", flush=True)
            failed = True
    print(f"  load average {os.getloadavg()[0]:.1f}", flush=True)
    sys.exit(failed)
