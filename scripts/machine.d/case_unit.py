"""The shipped units on a machine without a compiler, with the program of this work tree and Debian's packages of its libraries."""
import json
import pathlib
import re

from machine import Machine, eventually

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = "/var/lib/reachd"
# systemd.exec(5), DynamicUser=; since systemd 257 the files belong to nobody, and the service has a mapped mount of them.
DYNAMIC_USERS = {*range(61184, 65520), 65534}
CONFIGURATION = 'targets:\n  - { id: gateway, target: "route://10.99.0.1" }\n'
MORE = '  - { id: other, target: "route://10.9.0.2" }\n'


class Service:
    """reachd on a machine."""

    def __init__(self, machine):
        self.machine = machine

    def get(self, path):
        """The body of a response with the status 200, else an empty text."""
        return self.machine.attempt("curl", "-sf", "--max-time", "10", f"http://127.0.0.1:8080{path}")[1]

    @property
    def status(self):
        return json.loads(self.get("/status") or "{}")

    @property
    def epoch(self):
        """The first part of the event ids."""
        eventually(self.is_ready)
        return self.status.get("id", "").split("-")[0]

    def is_ready(self):
        return self.get("/readyz") == "ok\n"

    def property(self, name, unit="reachd.service"):
        return self.machine.run("systemctl", "show", "--value", "--property", name, unit).strip()


def run(context):
    with context.root("systemd-sysv", "curl", *context.program.packages) as root:
        context.program.install(root, "/usr/bin/reachd")
        for unit in ("reachd.service", "reachd.socket", "reachd-wait-online.service"):
            root.copy(ROOT / "deploy" / "systemd" / unit, f"/etc/systemd/system/{unit}")
        with Machine(root) as machine:
            service = Service(machine)
            for part in (start, data, events, configuration, kill, socket, store, alone, online):
                part(machine, service, context.check)
            machine.shut_down()
            machine.boot()
            reboot(machine, service, context.check)


def start(machine, service, check):
    name = machine.run("cat", "/proc/1/comm").strip()
    check(name == "systemd", "systemd is process 1", name)
    machine.run("systemctl", "enable", "--now", "reachd.socket", "reachd.service")
    check(service.property("ActiveState") == service.property("ActiveState", "reachd.socket") == "active", "the units start")
    check(service.status.get("status") == "reachable", "it answers after the start", f"{service.status}{machine.journal()}")


def data(machine, service, check):
    """What systemd makes of StateDirectory= and RuntimeDirectory= with DynamicUser=."""
    link = machine.run("readlink", DATA, "/run/reachd").split()
    check(link == ["private/reachd", "private/reachd"], "its directories are symbolic links", link)
    mode, user = machine.run("stat", "--format=%a %u", f"{DATA}/reachd.db").split()
    check(mode == "600" and int(user) in DYNAMIC_USERS, "the database belongs to the dynamic user", f"{mode} {user}")
    log = machine.journal()
    check("memory only" not in log and "runtime directory cannot" not in log, "events are kept on the disk", log)


def events(machine, service, check):
    first = service.status["id"]
    machine.network.pull()
    check(eventually(lambda: service.status.get("status") == "notReachable"), "a pulled cable is reported")
    machine.network.plug()
    check(eventually(lambda: service.status.get("status") == "reachable"), "a plugged cable is reported")
    last = service.status["id"]
    machine.run("systemctl", "restart", "reachd")
    check(service.is_ready() and service.status["id"] == last, "a restart keeps the ids of events", f"{last}, {service.status}")
    stream = machine.attempt("curl", "-sN", "--max-time", "2", "-H", f"Last-Event-ID: {first}", "http://127.0.0.1:8080/events?types=status")[1]
    found = re.findall(r'"to":\{"status":"(\w+)"', stream)
    check(found == ["notReachable", "reachable"] and "event: gap" not in stream, "a client resumes after the restart", stream)
    check('"notReachable"' in service.get("/history?types=status"), "the history is kept", service.get("/history"))


def configuration(machine, service, check):
    """A configuration, a reload, and one that has an error."""
    machine.root.write("/etc/default/reachd", "REACHD_CONFIG=/etc/reachd.yaml\n")
    machine.root.write("/etc/reachd.yaml", CONFIGURATION)
    machine.run("systemctl", "restart", "reachd")
    check('"id":"gateway"' in service.get("/targets"), "a restart reads /etc/default/reachd", machine.journal())
    epoch, process = service.epoch, service.property("MainPID")
    machine.root.write("/etc/reachd.yaml", CONFIGURATION + MORE)
    machine.run("systemctl", "reload", "reachd")
    check(eventually(lambda: '"id":"other"' in service.get("/targets")), "a reload reads the configuration", machine.journal())
    check(eventually(lambda: "configuration reloaded" in machine.journal()), "the journal reports it", machine.journal())
    machine.root.write("/etc/reachd.yaml", CONFIGURATION + "targts: []\n")
    machine.attempt("systemctl", "reload", "reachd")
    check(eventually(lambda: "targts" in machine.journal()), "the journal reports an error in the file", machine.journal())
    check('"id":"other"' in service.get("/targets") and service.property("MainPID") == process, "and nothing changes")
    machine.root.write("/etc/reachd.yaml", CONFIGURATION)
    machine.root.write("/etc/default/reachd", f"REACHD_CONFIG=/etc/reachd.yaml\nREACHD_DATA={DATA}/\n")
    machine.run("systemctl", "restart", "reachd")
    check(service.epoch == epoch, "REACHD_DATA with a final slash is the same directory", machine.journal())


def kill(machine, service, check):
    epoch, before = service.epoch, service.property("MainPID")
    machine.run("systemctl", "kill", "--signal=SIGKILL", "reachd")
    check(eventually(lambda: service.property("MainPID") not in ("0", before)), "systemd starts it again after SIGKILL", machine.journal())
    check(service.epoch == epoch, "SIGKILL keeps the ids of events", machine.journal())
    check("end=killed" in machine.journal(), "the log names the kill", machine.journal())


def socket(machine, service, check):
    epoch = service.epoch
    requests = "for i in $(seq 40); do curl -sf --max-time 20 -o /dev/null http://127.0.0.1:8080/livez || exit 1; done"
    status, printed = machine.attempt("sh", "-c", f"systemctl restart reachd & {requests}; wait $!")
    check(status == 0, "no client is refused during a restart", printed)
    machine.run("systemctl", "stop", "reachd.service")
    check(service.property("ActiveState") == "inactive", "systemctl stop ends it")
    check(service.property("Result") == "success", "with the exit code 0", service.property("Result"))
    check(service.get("/livez") == "ok\n", "a connection to the socket starts it", machine.journal())
    check(service.epoch == epoch, "with the same ids of events", machine.journal())


def store(machine, service, check):
    epoch = service.epoch
    status, printed = machine.attempt("reachd", "store", "check", "--data", DATA)
    check(status == 69, "store check reports that the directory is in use", printed)
    machine.run("systemctl", "stop", "reachd.socket", "reachd.service")
    for path in (DATA, f"{DATA}/", "/var/lib/private/reachd"):
        status, printed = machine.attempt("reachd", "store", "check", "--data", path)
        check(status == 0 and printed == "ok\n", f"store check of {path}", printed)
    # Files that root has made would not belong to the service's user.
    machine.run("systemctl", "start", "reachd.socket", "reachd.service")
    check(service.epoch == epoch, "the service starts after store check", machine.journal())


def alone(machine, service, check):
    epoch = service.epoch
    machine.run("systemctl", "stop", "reachd.service")
    machine.run("systemctl", "disable", "--now", "reachd.socket")
    machine.run("systemctl", "start", "reachd.service")
    check(service.epoch == epoch, "it listens without the socket unit", machine.journal())


def online(machine, service, check):
    """network-online.target waits for a path, and not for the service."""
    target, unit = "network-online.target", "reachd-wait-online.service"
    machine.run("systemctl", "stop", target)
    machine.run("systemctl", "stop", "reachd.service")
    machine.run("systemctl", "enable", unit)
    machine.network.pull()
    machine.run("systemctl", "start", "--no-block", target)
    check(eventually(lambda: service.property("ActiveState", unit) == "activating"), "it waits for the network", machine.journal(unit))
    check(service.property("ActiveState", target) == "inactive", "network-online.target waits for it")
    machine.network.plug()
    check(eventually(lambda: service.property("ActiveState", target) == "active"), "a path ends the wait", machine.journal(unit))
    check(service.property("Result", unit) == "success", "without a failure", machine.journal(unit))
    machine.run("systemctl", "disable", "--now", unit)
    machine.run("systemctl", "start", "reachd.service")


def reboot(machine, service, check):
    check(eventually(service.is_ready), "it starts with the machine", machine.journal())
    check('"notReachable"' in service.get("/history?types=status"), "the history is kept over a shutdown", machine.journal())
    check("end=killed" not in machine.journal().rsplit("listening", 2)[-1], "which the log does not report as a kill", machine.journal())
