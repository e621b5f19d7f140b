"""Namespaces and containers for the image test; all of them are removed at the end."""
import json
import os
import subprocess
import time

import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PODMAN = os.path.join(ROOT, "scripts", "containers")
LEASH = ["setpriv", "--pdeathsig", "KILL"]


def run(*command, check=True, timeout=120):
    """Runs a command and returns its standard output."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    if check and done.returncode != 0:
        raise SystemExit(f"FAILED: {' '.join(command)}: {done.stdout}{done.stderr}")
    return done.stdout.strip()


def eventually(condition, seconds=20):
    """Returns whether a condition becomes true."""
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        if condition():
            return True
        time.sleep(0.05)
    return condition()


def check(is_so, what):
    """Prints a line of the report; the first failed condition ends the test."""
    if not is_so:
        raise SystemExit(f"FAILED: {what}")
    print(f"ok: {what}", flush=True)


class Network:
    """A pod's namespace with eth0 and a default route, and the node's end of the veth pair in another namespace."""

    address, gateway = "10.99.0.2", "10.99.0.1"

    def __init__(self):
        self.pod, self.node = f"reachd-pod-{os.getpid()}", f"reachd-node-{os.getpid()}"
        for name in (self.pod, self.node):
            run("ip", "netns", "add", name)
            run("ip", "-n", name, "link", "set", "lo", "up")
        run("ip", "-n", self.pod, "link", "add", "eth0", "type", "veth", "peer", "name", "pod0", "netns", self.node)
        run("ip", "-n", self.node, "address", "add", f"{self.gateway}/24", "dev", "pod0")
        run("ip", "-n", self.node, "link", "set", "pod0", "up")
        run("ip", "-n", self.pod, "address", "add", f"{self.address}/24", "dev", "eth0")
        self.plug()

    def plug(self):
        """Sets the link up and restores the route that was removed when it went down."""
        run("ip", "-n", self.pod, "link", "set", "eth0", "up")
        run("ip", "-n", self.pod, "route", "replace", "default", "via", self.gateway)

    def pull(self):
        run("ip", "-n", self.pod, "link", "set", "eth0", "down")

    def get(self, path, port, host="127.0.0.1", token=""):
        """Returns the status code and body of a request from inside the pod; code 000 without a response."""
        header = ("-H", f"Authorization: Bearer {token}") if token else ()
        out = run("ip", "netns", "exec", self.pod, "curl", "-s", "--max-time", "5", "-w", "\n%{http_code}", *header,
                  f"http://{host}:{port}{path}", check=False)
        body, _, code = out.rpartition("\n")
        return code, body

    def remove(self):
        for name in (self.pod, self.node):
            run("ip", "netns", "delete", name, check=False)


class Volume:
    """A directory as the kubelet makes it for a ConfigMap or Secret: the names are links through `..data`."""

    def __init__(self, directory, **files):
        self.path, self.generation = directory, 0
        os.chmod(directory, 0o755)
        for name in files:
            os.symlink(f"..data/{name.replace('_', '.')}", os.path.join(directory, name.replace("_", ".")))
        self.replace(**files)

    def replace(self, **files):
        self.generation += 1
        content = os.path.join(self.path, f"..{self.generation}")
        os.mkdir(content, 0o755)
        for name, text in files.items():
            with open(os.path.join(content, name.replace("_", ".")), "w", encoding="utf-8") as file:
                file.write(text)
        os.symlink(f"..{self.generation}", os.path.join(self.path, "..new"))
        os.rename(os.path.join(self.path, "..new"), os.path.join(self.path, "..data"))


class Stream:
    """A curl that follows /events inside the pod."""

    def __init__(self, network, port):
        self.path = os.path.join(ROOT, ".build-image", f"stream-{os.getpid()}-{time.monotonic_ns()}")
        with open(self.path, "wb") as output:
            self.curl = subprocess.Popen(
                ["ip", "netns", "exec", network.pod, *LEASH, "curl", "-sN", f"http://127.0.0.1:{port}/events"],
                stdout=output)

    @property
    def text(self):
        with open(self.path, encoding="utf-8") as output:
            return output.read()

    def end(self):
        """Waits for its end and returns the whole output."""
        self.curl.wait(timeout=20)
        text = self.text
        os.unlink(self.path)
        return text


class Container:
    """A detached container; arguments are podman's."""

    def __init__(self, name, *arguments):
        self.name = f"{name}-{os.getpid()}"
        run(PODMAN, "run", "--detach", "--pull=never", "--name", self.name, *arguments)

    def inspect(self):
        return json.loads(run(PODMAN, "inspect", self.name))[0]

    @property
    def pid(self):
        return self.inspect()["State"]["Pid"]

    def status(self, field):
        """A field of every thread's status (proc_pid_status(5)), as a set."""
        pid, values = self.pid, set()
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/status", encoding="ascii") as lines:
                values |= {" ".join(line.split()[1:]) for line in lines if line.startswith(field + ":")}
        return values

    def signal(self, name):
        run(PODMAN, "kill", "--signal", name, self.name)

    def health(self):
        """Runs HEALTHCHECK once, like the engine's timer."""
        run(PODMAN, "healthcheck", "run", self.name, check=False)
        state = self.inspect()["State"]
        return (state.get("Health") or state.get("Healthcheck"))["Status"]

    def logs(self):
        done = subprocess.run([PODMAN, "logs", self.name], capture_output=True, text=True, timeout=60)
        return done.stdout + done.stderr

    def end(self):
        """Waits for its end and returns the exit code."""
        return int(run(PODMAN, "wait", self.name))

    def remove(self):
        run(PODMAN, "rm", "--force", "--time", "0", self.name, check=False)


def workload(path):
    """Returns the first object of a manifest, its pod's specification and the container that starts first."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as text:
        pod = yaml.safe_load(text)["spec"]["template"]["spec"]
    return pod, (pod.get("initContainers", []) + pod["containers"])[0]


def podman_arguments(pod, container):
    """Returns podman's arguments for a container of a pod, according to the manifest."""
    security, user = container["securityContext"], pod["securityContext"]
    words = ["--user", f"{user['runAsUser']}:{user['runAsGroup']}", "--memory", container["resources"]["limits"]["memory"].lower().rstrip("i")]
    if security["readOnlyRootFilesystem"]:
        words += ["--read-only", "--read-only-tmpfs=false"]
    if not security["allowPrivilegeEscalation"]:
        words += ["--security-opt", "no-new-privileges"]
    for capability in security["capabilities"]["drop"]:
        words += ["--cap-drop", capability.lower()]
    for variable in container.get("env", []):
        words += ["--env", f"{variable['name']}={variable['value']}"]
    for sysctl in user.get("sysctls", []):
        words += ["--sysctl", f"{sysctl['name']}={sysctl['value']}"]
    return words
