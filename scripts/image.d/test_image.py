"""Runs the image as orchestrators do, and verifies the behaviour that deploy/ and the documentation describe."""
import hashlib
import json
import os
import pathlib
import re
import subprocess
import tempfile
import time

from kubelet import Kubelet
from machine import LEASH, PODMAN, ROOT, Container, Network, Stream, Volume, check, eventually, podman_arguments, run, workload

IMAGE, DEBUG, FLEET = "localhost/reachd:dev", "localhost/reachd:debug", "localhost/reachd:fleet"
# The options of docs/how-to/container.md.
HARDENED = ("--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges")
# An agent works without the engine that it names here.
AGENT = ("--env", "REACHD_FLEET_ID=node1", "--env", "REACHD_FLEET_ZONE=a", "--env", "REACHD_FLEET_ADDRESS=tcp://10.99.0.2:8080",
         "--env", "REACHD_FLEET_SERVERS=nats://10.99.0.1:4222")
UNUSABLE = "the data directory cannot be used"
LARGEST_IMAGE = 40 << 20
NO_CAPABILITIES = {"0000000000000000"}


def image():
    """The image itself: its size, metadata and content."""
    size = int(run(PODMAN, "image", "inspect", "--format", "{{.Size}}", IMAGE))
    check(size <= LARGEST_IMAGE, f"the image has {size / 2**20:.1f} MiB, at most 40")
    packed = subprocess.run(f"{PODMAN} save {IMAGE} | gzip -6 | wc -c", shell=True, capture_output=True, text=True)
    print(f"figure: image {size / 2**20:.1f} MiB, {int(packed.stdout) / 2**20:.1f} MiB compressed")
    labels = run(PODMAN, "image", "inspect", "--format", "{{.Labels}}", IMAGE)
    check("org.opencontainers.image.revision" in labels, "it carries the OCI labels")
    check(run(PODMAN, "image", "inspect", "--format", "{{.User}}", IMAGE) == "65532:65532", "its user is 65532")
    version = run(PODMAN, "run", "--rm", "--pull=never", "--network", "none", IMAGE, "--version")
    release = r"reachd \d+\.\d+\.\d+ \(commit ([0-9a-f]{40}|unknown)\)"
    check(re.fullmatch(release, version), f"it runs from scratch: {version}")


def contents(image, *programs):
    """What scanners and readers of licences look for: the distribution, its packages, and the list of each program's contents."""
    container = run(PODMAN, "create", "--pull=never", image)
    with tempfile.TemporaryDirectory() as directory:
        try:
            run(PODMAN, "export", "--output", f"{directory}/image.tar", container)
        finally:
            run(PODMAN, "rm", container)
        run("tar", "-xf", f"{directory}/image.tar", "-C", directory)
        root = pathlib.Path(directory)
        release = (root / "usr/lib/os-release").read_text(encoding="utf-8")
        check("\nID=debian\n" in release and "\nVERSION_ID=" in release, f"{image}: it names its distribution")
        status = {each.name: each.read_text(encoding="utf-8") for each in (root / "var/lib/dpkg/status.d").iterdir()}
        wrong = [name for name, text in status.items() if not re.match(rf"Package: {re.escape(name)}\n", text) or "\nVersion: " not in text]
        check("libgnutls30" in "".join(status) and not wrong, f"{image}: dpkg's status of {len(status)} packages {wrong or ''}")
        documents = root / "usr/share/doc"
        missing = [name for name in status if not (documents / name / "copyright").stat().st_size]
        check(not missing, f"{image}: the licences of these packages {missing or ''}")
        common = {each.name for each in (root / "usr/share/common-licenses").iterdir()}
        check({"LGPL-2.1", "GPL-3", "Apache-2.0"} <= common, f"{image}: the texts of the common licences")
        listed = set()
        for program in programs:
            check((documents / program / "LICENSE").exists() and (documents / program / "third-party-notices.txt").exists(),
                  f"{image}: the licences of what {program} contains")
            bom = json.loads((documents / program / f"{program}.cdx.json").read_text(encoding="utf-8"))
            digest = hashlib.sha256((root / "usr/bin" / program).read_bytes()).hexdigest()
            check(bom["metadata"]["component"]["hashes"][0]["content"] == digest, f"{image}: {program}.cdx.json has the hash of the program")
            listed |= {each["name"] for each in bom["components"]
                       if each["purl"].startswith("pkg:deb/") and each["properties"][0]["value"] != "static"}
        check(listed == set(status), f"{image}: the lists of contents and dpkg's status have the same packages {sorted(listed ^ set(status)) or ''}")


def start_time(network):
    """The time from `run` to the first 200, and the memory of the idle service."""
    times = []
    for _ in range(5):
        poll = "until curl -sf -o /dev/null http://127.0.0.1:8080/status; do sleep 0.005; done"
        client = subprocess.Popen(["ip", "netns", "exec", network.pod, *LEASH, "sh", "-c", poll])
        begun = time.monotonic()
        container = Container("reachd-start", "--network", f"ns:/run/netns/{network.pod}", IMAGE)
        try:
            client.wait(timeout=60)
            times.append(time.monotonic() - begun)
            with open(f"/proc/{container.pid}/smaps_rollup", encoding="ascii") as rollup:
                rss = next(int(line.split()[1]) for line in rollup if line.startswith("Rss:"))
        finally:
            container.remove()
    print(f"figure: run to first 200 median {sorted(times)[2] * 1000:.0f} ms of 5, RSS {rss / 1024:.1f} MiB")


def node(network):
    """The DaemonSet's pod: it receives the node's kernel events, and a link that goes down causes no restart."""
    pod, spec = workload("deploy/kubernetes/node/daemonset.yaml")
    port = spec["ports"][0]["containerPort"]
    container = Container(
        "reachd-node", "--network", f"ns:/run/netns/{network.pod}", *podman_arguments(pod, spec), IMAGE)
    try:
        # Requests to a hostNetwork pod come from the node's namespace.
        kubelet = Kubelet(spec, network.pod, network.address)
        check(kubelet.until(lambda: kubelet.is_started and kubelet.is_ready, 60), "node: started, then ready")
        privileges(container)
        stream = Stream(network, port)
        check(eventually(lambda: "event: snapshot" in stream.text), "node: a stream is open")
        network.pull()
        check(eventually(lambda: '"to":{"status":"notReachable"' in stream.text), "node: the pulled cable is reported")
        check(network.get("/status?require=reachable", port)[0] == "503", "node: ?require=reachable answers 503")
        for _ in range(6):
            kubelet.tick()
        check(kubelet.is_ready and not kubelet.restarts, "node: still ready and alive without a network")
        network.plug()
        check(eventually(lambda: '"to":{"status":"reachable"' in stream.text), "node: the plugged cable is reported")
        container.signal("HUP")
        check(eventually(lambda: "configuration reloaded" in container.logs()), "node: SIGHUP reloads")
        check(container.health() == "healthy", "node: HEALTHCHECK is healthy")
        frozen(container, kubelet)
        termination(container, network, port, stream)
    finally:
        container.remove()


def frozen(container, kubelet):
    """A stopped process: unhealthy, not ready, restarted; and healthy after it continues."""
    container.signal("STOP")
    check(any(container.health() == "unhealthy" for _ in range(4)), "frozen: HEALTHCHECK turns unhealthy")
    check(kubelet.until(lambda: not kubelet.is_ready, 5), "frozen: no longer ready")
    check(kubelet.until(lambda: kubelet.restarts == ["liveness"], 30), "frozen: the kubelet would restart it")
    container.signal("CONT")
    check(any(container.health() == "healthy" for _ in range(4)), "moving again: HEALTHCHECK is healthy")
    check(kubelet.until(lambda: kubelet.is_ready, 10), "moving again: ready")


def privileges(container):
    """The kernel's status of every thread."""
    check(container.status("Uid") == {"65532 65532 65532 65532"}, "user 65532 in every thread")
    for field in ("CapEff", "CapPrm", "CapInh", "CapAmb"):
        check(container.status(field) == NO_CAPABILITIES, f"{field} is empty in every thread")
    check(container.status("NoNewPrivs") == {"1"}, "no new privileges in every thread")
    with open(f"/proc/{container.pid}/mountinfo", encoding="utf-8") as mounts:
        root = next(line.split() for line in mounts if line.split()[4] == "/")
    check("ro" in root[5].split(","), "its root is mounted read-only")
    line = json.loads(next(line for line in container.logs().splitlines() if "privileges" in line))
    check(line["capabilities"] == "0x0" and line["noNewPrivileges"] is True, "it reports so itself")


def termination(container, network, port, stream):
    """SIGTERM with an open stream: not ready first, live until the end, close event, exit 0."""
    container.signal("TERM")
    check(eventually(lambda: network.get("/readyz", port)[0] == "503", 2), "SIGTERM: /readyz turns 503 first")
    check(network.get("/livez", port)[0] == "200", "SIGTERM: /livez stays 200")
    check(container.end() == 0, "SIGTERM: exit 0")
    check("event: bye" in stream.end(), "SIGTERM: the open stream received its close event")


def service(network):
    """The Deployment's pod: requests use its address, over the veth pair."""
    pod, spec = workload("deploy/kubernetes/service/deployment.yaml")
    container = Container(
        "reachd-service", "--network", f"ns:/run/netns/{network.pod}", *podman_arguments(pod, spec), IMAGE)
    try:
        kubelet = Kubelet(spec, network.node, network.address)
        check(kubelet.until(lambda: kubelet.is_started and kubelet.is_ready, 60), "service: started, then ready")
        for _ in range(6):
            kubelet.tick()
        check(kubelet.is_ready and not kubelet.restarts, "service: stays ready")
        code, body = network.get(f"/hosts/{network.gateway}", 8080, network.address)
        check(code == "200" and '"status":"reachable"' in body, "service: answers reads on the pod's address")
        check(network.get("/status", 8080, "127.0.0.1")[0] == "200", "service: and on its loopback")
        container.signal("TERM")
        check(kubelet.until(lambda: not kubelet.is_ready, 4), "service: the kubelet sees it leave before it is gone")
        check(container.end() == 0, "service: exit 0")
    finally:
        container.remove()


class Database:
    """A server in the node's namespace that accepts connections."""

    SERVER = "import socket, time; server = socket.create_server(('10.99.0.1', 5432)); time.sleep(600)"

    def __init__(self, network):
        self.process = subprocess.Popen(["ip", "netns", "exec", network.node, *LEASH, "python3", "-c", self.SERVER])

    def stop(self):
        self.process.kill()
        self.process.wait()


def gate(network):
    """The sidecar with a startup probe: closed for ten minutes, then open; and closed and open again while the program runs."""
    pod, spec = workload("deploy/kubernetes/gate/deployment.yaml")
    port = spec["ports"][0]["containerPort"]
    with tempfile.TemporaryDirectory() as config:
        text = pathlib.Path(ROOT, "deploy/kubernetes/gate/reachd.yaml").read_text(encoding="utf-8")
        Volume(config, reachd_yaml=text.replace("tcp://db:5432", "tcp://10.99.0.1:5432").replace("5s", "500ms"))
        container = Container(
            "reachd-gate", "--network", f"ns:/run/netns/{network.pod}", *podman_arguments(pod, spec),
            "--volume", f"{config}:/etc/reachd:ro", IMAGE)
        try:
            def is_open():
                return network.get("/gates/app?require=open", port)[0] == "200"

            kubelet = Kubelet(spec, network.pod, network.address)
            check(eventually(lambda: '"reason":"missing"' in network.get("/gates/app", port)[1]), "gate: closed without the database")
            for _ in range(600):
                kubelet.tick(pace=0)
            check(not kubelet.is_started and not kubelet.restarts, "gate: closed for 600 probes: no start, no restart")
            database = Database(network)
            try:
                check(eventually(is_open), "gate: open with the database")
                kubelet.tick()
                check(kubelet.is_started and not kubelet.restarts, "gate: the next probe, within a second, starts the program")
            finally:
                database.stop()
            check(eventually(lambda: not is_open()), "gate: closed without the database again")
            for _ in range(60):
                kubelet.tick(pace=0)
            check(kubelet.is_started and not kubelet.restarts, "gate: that restarts nothing")
            database = Database(network)
            try:
                check(eventually(is_open), "gate: open again")
            finally:
                database.stop()
        finally:
            container.remove()


def waiting(network):
    """`reachd wait … -- COMMAND` as process 1: the command replaces it, and receives the signals."""
    def start(*words):
        return Container("reachd-wait", "--network", f"ns:/run/netns/{network.pod}", *HARDENED, DEBUG, "wait", *words)

    database = "tcp://10.99.0.1:5432"
    server = None
    container = start(database, "--timeout", "60s", "--", "/bin/sh", "-c", "echo process $$; exit 3")
    try:
        check(eventually(lambda: container.inspect()["State"]["Status"] == "running"), "wait: it waits for the database")
        server = Database(network)
        check(container.end() == 3 and "process 1\n" in container.logs(), "wait: the command is process 1, and its status that of the container")
    finally:
        container.remove()
    container = start(database, "--", "/bin/sh", "-c", "trap 'exit 7' TERM; echo ready; while :; do sleep 0.1; done")
    try:
        check(eventually(lambda: "ready" in container.logs()), "wait: the command runs")
        container.signal("TERM")
        check(container.end() == 7, "wait: the command receives SIGTERM")
    finally:
        container.remove()
        if server:
            server.stop()
    container = start("tcp://10.99.0.1:5433", "--", "/bin/sh", "-c", "echo never")
    try:
        check(eventually(lambda: container.inspect()["State"]["Status"] == "running"), "wait: it waits for another server")
        container.signal("TERM")
        check(container.end() == 143 and "never" not in container.logs(), "wait: SIGTERM ends it as process 1, too")
    finally:
        container.remove()


def first_process(network):
    """As root with every capability and as process 1: the service drops all, and orphans leave no zombies."""
    container = Container(
        "reachd-root", "--network", f"ns:/run/netns/{network.pod}", "--privileged", "--user", "0:0",
        "--env", "REACHD_LISTEN=127.0.0.1:80", DEBUG)
    try:
        check(eventually(lambda: network.get("/readyz", 80)[0] == "200"), "root: it binds port 80")
        for field in ("CapEff", "CapPrm", "CapInh", "CapAmb", "CapBnd"):
            check(container.status(field) == NO_CAPABILITIES, f"root: {field} is given up in every thread")
        check(container.status("NoNewPrivs") == {"1"}, "root: no new privileges in every thread")
        for _ in range(3):
            run(PODMAN, "exec", container.name, "sh", "-c", "sleep 0.2 & sleep 0.2 &")
        pid = container.pid
        check(eventually(lambda: not children(pid)), "process 1: the orphans are reaped")
        container.signal("INT")
        check(container.end() == 0, "SIGINT: exit 0")
    finally:
        container.remove()


def data(network):
    """The data directory of each image: the documented volume keeps events, and what cannot be written is reported."""
    for image, name, more in ((IMAGE, "reachd:dev", ()), (DEBUG, "reachd:debug", ()), (FLEET, "reachd:fleet", AGENT)):
        volume = f"{name.replace(':', '-')}-{os.getpid()}"
        try:
            first = epoch(network, image, ("--volume", f"{volume}:/var/lib/reachd", *HARDENED, *more))
            second = epoch(network, image, ("--volume", f"{volume}:/var/lib/reachd", *HARDENED, *more))
            check(first == second, f"{name}: the named volume keeps events and their ids")
        finally:
            run(PODMAN, "volume", "rm", "--force", volume, check=False)
        epoch(network, image, (*HARDENED, *more))
        check(True, f"{name}: without an option, the image's volume is used")
    with tempfile.TemporaryDirectory() as directory:
        os.chown(directory, 65532, 65532)
        bind = ("--volume", f"{directory}:/var/lib/reachd", *HARDENED)
        check(epoch(network, IMAGE, bind) == epoch(network, IMAGE, bind), "a bind mount of user 65532 keeps events")
        other = ("--user", "12345:12345", *bind)
        epoch(network, IMAGE, other, is_kept=False)
        check(True, "a directory of another user: a warning, and the service runs")


def epoch(network, image, options, is_kept=True):
    """Runs a container until its service is ready; returns the epoch of its event ids."""
    container = Container(
        "reachd-data", "--network", f"ns:/run/netns/{network.pod}", "--env", "REACHD_LISTEN=127.0.0.1:8080", *options, image)
    try:
        if not eventually(lambda: network.get("/readyz", 8080)[0] == "200"):
            raise SystemExit(f"FAILED: data: not ready: {container.logs()}")
        logs = container.logs()
        if (UNUSABLE in logs) == is_kept:
            raise SystemExit(f"FAILED: data: {logs}")
        _, body = network.get("/status", 8080)
        container.signal("TERM")
        container.end()
        return json.loads(body)["id"].split("-")[0]
    finally:
        container.remove()


def configured(network):
    """A mounted file as the guide shows it, and the DaemonSet that Prometheus scrapes, whose Secret is renewed."""
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)
        path = os.path.join(directory, "reachd.yaml")
        targets = 'targets: [{ id: db, target: "tcp://10.9.0.1:5432" }]\n'
        with open(path, "w", encoding="utf-8") as file:
            file.write(targets)
        container = Container(
            "reachd-file", "--network", f"ns:/run/netns/{network.pod}", *HARDENED, "--volume", f"{path}:/etc/reachd.yaml:ro",
            "--env", "REACHD_CONFIG=/etc/reachd.yaml", IMAGE)
        try:
            check(eventually(lambda: network.get("/targets/db", 8080)[0] == "200"), "a mounted file configures targets")
            with open(path, "a", encoding="utf-8") as file:
                file.write("log: { level: debug }\n")
            container.signal("HUP")
            check(eventually(lambda: "configuration reloaded" in container.logs()), "docker kill --signal HUP applies its change")
        finally:
            container.remove()
    pod, spec = workload("deploy/kubernetes/node/daemonset.yaml")
    _, patch = workload("deploy/kubernetes/node-scraped/daemonset.yaml")
    spec["env"] = [each for each in spec["env"] if each["name"] != "REACHD_LISTEN"] + [each for each in patch["env"] if "value" in each]
    with tempfile.TemporaryDirectory() as config, tempfile.TemporaryDirectory() as secret:
        text = pathlib.Path(ROOT, "deploy/kubernetes/node-scraped/reachd.yaml").read_text(encoding="utf-8")
        (first, entry), (second, other) = token(), token()
        Volume(config, reachd_yaml=text)
        tokens = Volume(secret, tokens_yaml=entry)
        container = Container(
            "reachd-scraped", "--network", f"ns:/run/netns/{network.pod}", *podman_arguments(pod, spec),
            "--env", f"NODE_ADDRESS={network.address}", "--volume", f"{config}:/etc/reachd/config:ro",
            "--volume", f"{secret}:/etc/reachd/tokens:ro", IMAGE)
        try:
            def code(token=""):
                return network.get("/metrics", 8476, network.address, token)[0]

            check(eventually(lambda: network.get("/metrics", 8476)[0] == "200"), "scraped: the loopback address needs no token")
            check((code(), code(first), code(second)) == ("401", "200", "401"), "scraped: the node's address needs the token")
            tokens.replace(tokens_yaml=other)
            check(eventually(lambda: (code(first), code(second)) == ("401", "200")), "scraped: a renewed Secret applies without a signal")
        finally:
            container.remove()


def token():
    """A new token with its entry in the configuration."""
    done = subprocess.run([PODMAN, "run", "--rm", "--pull=never", "--network", "none", IMAGE, "token", "create", "--scope", "read",
                           "--id", "prometheus"], capture_output=True, text=True, check=True, timeout=60)
    both = (done.stdout + done.stderr).splitlines()
    return next(line for line in both if line.startswith("rx_")), next(line for line in both if "sha256" in line) + "\n"


def children(pid):
    """The direct children of a process, including zombies."""
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as children_of_main:
        return children_of_main.read().split()


def main():
    network = Network()
    try:
        image()
        contents(IMAGE, "reachd")
        contents(FLEET, "reachd", "reachd-fleet")
        data(network)
        configured(network)
        start_time(network)
        node(network)
        service(network)
        gate(network)
        waiting(network)
        first_process(network)
    finally:
        network.remove()
    print("test-image: passed")


main()
