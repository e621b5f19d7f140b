"""A machine: a root that is booted with systemd as process 1, in a network of its own."""
import contextlib
import os
import pathlib
import re
import signal
import subprocess
import time

from report import Failed
from roots import ENVIRONMENT

# Seconds; each only bounds how long a failing test takes.
LONGEST_BOOT = 120
LONGEST_COMMAND = 60
LONGEST_SHUTDOWN = 60
PATIENCE = 30
# What this program starts ends with it, also after SIGKILL.
LEASH = ("setpriv", "--pdeathsig", "KILL")


def eventually(condition, seconds=PATIENCE):
    """Returns whether a condition becomes true."""
    limit = time.monotonic() + seconds
    while not (result := condition()) and time.monotonic() < limit:
        time.sleep(0.05)
    return result


class Namespace:
    """A network namespace, which lives as long as the process in it."""

    def __init__(self):
        own = os.readlink("/proc/self/ns/net")
        self.holder = subprocess.Popen([*LEASH, "unshare", "--net", "sleep", "infinity"])
        self.path = f"/proc/{self.holder.pid}/ns/net"
        if not eventually(lambda: os.readlink(self.path) != own):
            raise Failed("no network namespace")
        self.run("ip", "link", "set", "lo", "up")

    def run(self, *command):
        """Runs a program of this machine in the network; returns the output."""
        return subprocess.run(
            ["nsenter", f"--net={self.path}", *command], check=True, timeout=LONGEST_COMMAND, stdout=subprocess.PIPE, text=True).stdout

    def remove(self):
        self.holder.kill()
        self.holder.wait()


class Network:
    """`eth0` with 10.99.0.2/24, and a default route to 10.99.0.1 in another namespace."""

    address, gateway = "10.99.0.2", "10.99.0.1"

    def __init__(self):
        with contextlib.ExitStack() as stack:
            self.machine, self.other = Namespace(), Namespace()
            stack.callback(self.remove)
            # The kernel would add link-local addresses at a time of its own, and reachd would report them.
            self.machine.run("sh", "-c", "echo 1 >/proc/sys/net/ipv6/conf/default/addr_gen_mode")
            self.machine.run("ip", "link", "add", "eth0", "type", "veth", "peer", "name", "machine0", "netns", str(self.other.holder.pid))
            self.other.run("ip", "address", "add", f"{self.gateway}/24", "dev", "machine0")
            self.other.run("ip", "link", "set", "machine0", "up")
            self.machine.run("ip", "address", "add", f"{self.address}/24", "dev", "eth0")
            self.plug()
            stack.pop_all()

    def plug(self):
        """Connects the cable, and adds the route that was removed with it."""
        self.machine.run("ip", "link", "set", "eth0", "up")
        # The kernel reports the carrier later, on a busy machine by seconds.
        if not eventually(lambda: "state UP" in self.machine.run("ip", "-o", "link", "show", "eth0")):
            raise Failed("eth0 has no carrier")
        self.machine.run("ip", "route", "replace", "default", "via", self.gateway)

    def pull(self):
        self.machine.run("ip", "link", "set", "eth0", "down")

    def remove(self):
        self.machine.remove()
        self.other.remove()


class ControlGroup:
    """A group in each hierarchy that systemd uses. Machines whose parent is the same group would have one group for units of one name."""

    def __init__(self, name):
        own = dict(line.rstrip("\n").split(":", 2)[1:] for line in open("/proc/self/cgroup", encoding="utf-8"))
        self.paths = []
        for line in pathlib.Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines():
            mount, _, kind = line.partition(" - ")
            if kind.startswith("cgroup2 "):
                path = own.get("")
            elif kind.startswith("cgroup ") and "name=systemd" in kind:
                path = own.get("name=systemd")
            else:
                continue
            if path:
                self.paths.append(pathlib.Path(mount.split()[4], path.lstrip("/"), name))
        for path in self.paths:
            path.mkdir(exist_ok=True)

    def enter(self):
        """Moves this process into the groups."""
        for path in self.paths:
            (path / "cgroup.procs").write_text("0", encoding="ascii")

    def remove(self):
        for path in self.paths:
            eventually(lambda: self.is_removed(path))

    @staticmethod
    def is_removed(path):
        for directory, _, _ in os.walk(path, topdown=False):
            with contextlib.suppress(OSError):
                os.rmdir(directory)
        return not path.exists()


class Machine:
    """A booted root. It is not registered with the systemd of this machine, which may not have one."""

    def __init__(self, root):
        self.root = root
        self.name = f"reachd-{os.urandom(4).hex()}"
        self.log = root.path.with_suffix(".log")
        self.nspawn = None
        self.leader = 0
        self.group = ControlGroup(self.name)
        self.network = None
        try:
            self.network = Network()
            self.boot()
        except BaseException:
            self.remove()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()

    def boot(self):
        """Starts systemd, and waits until it has started everything."""
        with open(self.log, "ab") as log:
            self.nspawn = subprocess.Popen(
                [*LEASH, "systemd-nspawn", "--quiet", f"--directory={self.root.path}", f"--machine={self.name}", "--register=no",
                 "--keep-unit", f"--network-namespace-path={self.network.machine.path}", "--link-journal=no", "--resolv-conf=off",
                 "--timezone=off", "--console=pipe", "--boot"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, preexec_fn=self.group.enter)
        if not eventually(self.has_booted, LONGEST_BOOT):
            raise Failed(f"the machine does not boot: {self.console()}")

    def has_booted(self):
        if self.nspawn.poll() is not None:
            raise Failed(f"the machine ended with {self.nspawn.returncode}: {self.console()}")
        children = pathlib.Path(f"/proc/{self.nspawn.pid}/task/{self.nspawn.pid}/children").read_text(encoding="ascii").split()
        if not children:
            return False
        self.leader = int(children[0])
        _, state = self.attempt("systemctl", "is-system-running")
        return state.strip() in ("running", "degraded")

    def console(self):
        return self.log.read_text(errors="replace")[-3000:]

    def attempt(self, *command, timeout=LONGEST_COMMAND):
        """Runs a command in the machine; returns the status and the output."""
        variables = [f"{name}={value}" for name, value in ENVIRONMENT.items()]
        try:
            done = subprocess.run(
                ["nsenter", f"--target={self.leader}", "--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup", "env", "-i",
                 "--chdir=/root", *variables, *command],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                timeout=timeout, check=False)
        except subprocess.TimeoutExpired as error:
            raise Failed(f"{' '.join(command)}: no end within {timeout} s") from error
        return done.returncode, done.stdout

    def run(self, *command, timeout=LONGEST_COMMAND):
        """Like `attempt` for a command that must succeed; returns the output."""
        status, output = self.attempt(*command, timeout=timeout)
        if status:
            raise Failed(f"{' '.join(command)}: exit status {status}: {output}{self.journal()}")
        return output

    def shell(self, text, directory="/root"):
        """Runs lines of a document as root, which needs no sudo; returns the output."""
        return self.run("sh", "-euc", f"cd {directory}\n" + re.sub(r"\bsudo ", "", text))

    def journal(self, unit="reachd.service"):
        return self.attempt("journalctl", "--no-pager", "--output=cat", "--unit", unit)[1]

    def shut_down(self):
        """Ends all units, as a shutdown of the machine does."""
        self.nspawn.terminate()
        try:
            self.nspawn.wait(LONGEST_SHUTDOWN)
        except subprocess.TimeoutExpired as error:
            raise Failed(f"the machine does not shut down: {self.console()}") from error

    def remove(self):
        if self.nspawn and self.nspawn.poll() is None:
            # The second signal ends all processes of the machine.
            for _ in range(2):
                self.nspawn.terminate()
            try:
                self.nspawn.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                os.kill(self.leader or self.nspawn.pid, signal.SIGKILL)
                self.nspawn.kill()
                self.nspawn.wait()
        if self.network:
            self.network.remove()
        self.group.remove()
        self.log.unlink(missing_ok=True)
        for directory in ("propagate", "unix-export"):
            with contextlib.suppress(OSError):
                pathlib.Path("/run/systemd/nspawn", directory, self.name).rmdir()
