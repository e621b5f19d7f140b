"""The Debian packages on a machine without a compiler: installation, operation, upgrade, removal and purge.

The packages are in the directory REACHD_PACKAGES, or those of the case `build`, of `make deb` or of `make test-package`. The upgrade is from
those in REACHD_EARLIER_PACKAGES, such as packages of an earlier release, or from a stand-in.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from case_unit import DATA, Service
from machine import Machine, eventually
from report import Skipped

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "clients.d"))
from documents import blocks  # noqa: E402

CHECKOUT = "/root/source"
ENGINE = "/usr/local/bin/nats-server"
# What `make install` reads besides the programs.
INSTALLED = ("Makefile", "CHANGELOG.md", "LICENSE", "scripts/package.d/install", "scripts/docs.d", "deploy", "examples/reachd.yaml")
# As the packages name the suites in their versions.
RELEASES = {"bookworm": "deb12", "trixie": "deb13"}

# What a package manager, the journal and systemd keep, and what each boot has of its own.
KEPT = ("/proc", "/sys", "/dev", "/tmp", "/var/log", "/var/cache", "/var/lib/dpkg", "/var/lib/apt", "/run/log", "/run/systemd", "/run/lock")
STREAMS = 100
# More than the five starts in ten seconds that systemd allows by default.
KILLS = 7
SOCKET_PORT, AGENT_PORT, REPLICA_PORT = 8090, 8085, 8086
TARGET = 'targets:\n  - { id: db, target: "tcp://10.9.0.1:5432", interval: 5s }\n'


def run(context):
    reachd, fleet = (package(places(context.suite), name, context.suite) for name in ("reachd", "reachd-fleet"))
    needed = {"systemd-sysv", "curl", "make", "python3", *depends(reachd), *depends(fleet)}
    with context.root(*needed) as root, tempfile.TemporaryDirectory() as directory:
        context.program.install_libraries(root)
        for name in INSTALLED:
            root.copy(ROOT / name, f"{CHECKOUT}/{name}")
        root.copy(context.program.path, f"{CHECKOUT}/.build/release/reachd")
        for path in (reachd, fleet):
            root.copy(path, f"{CHECKOUT}/.build-deb/{path.name}")
        # Debian 12 has nats-server 2.9, which replicas refuse.
        subprocess.run([ROOT / "scripts/venv", "fleet"], check=True)
        root.copy(ROOT / ".build-venv-fleet/bin/nats-server", ENGINE)
        root.copy(earlier(reachd, pathlib.Path(directory), context.suite), "/root/earlier.deb")
        with Machine(root) as machine:
            before = files(machine)
            lifecycle(machine, Service(machine), context.check, before)
            members(machine, context.check)
            machine.run("apt-get", "purge", "-yq", "reachd-fleet")
            nothing_left(machine, context.check, before, "reachd-fleet")
            without_package(machine, Service(machine), context.check)


def guide(machine, beginning):
    """Runs a block of the systemd guide, without what is done already; returns the output."""
    (text,) = [each.text for each in blocks(ROOT, "docs/how-to/systemd.md") if each.machine == "deb" and each.text.startswith(beginning)]
    return machine.shell(text.replace("make build\n", ""), CHECKOUT)


def places(suite):
    """The directories that may have packages, the best one first."""
    given = os.environ.get("REACHD_PACKAGES")
    return [given] if given else [ROOT / ".build-machine" / suite, ROOT / ".build-deb"]


def package(directories, name, suite):
    """The package of a name that was built for a suite."""
    for directory in directories:
        if found := sorted(pathlib.Path(directory).glob(f"{name}_*~{RELEASES[suite]}u*_*.deb")):
            return found[-1]
    raise Skipped(f"no package {name} for {suite} in {', '.join(map(str, directories))}; the case build makes it")


def depends(package):
    """The packages that a package needs, without their versions."""
    field = subprocess.run(["dpkg-deb", "--field", package, "Depends"], capture_output=True, text=True, check=True).stdout
    return {each.split()[0] for each in field.split(",")}


def earlier(reachd, directory, suite):
    """The package to upgrade from, with settings that differ from those of the new one; a stand-in has the new program."""
    tree, result, given = directory / "tree", directory / "earlier.deb", os.environ.get("REACHD_EARLIER_PACKAGES")
    subprocess.run(["dpkg-deb", "--raw-extract", package([given], "reachd", suite) if given else reachd, tree], check=True)
    control = tree / "DEBIAN/control"
    if not given:
        control.write_text(re.sub(r"^Version: .*", "Version: 0.0.1-1", control.read_text(encoding="utf-8"), flags=re.M), encoding="utf-8")
    for name in ("etc/reachd.yaml", "etc/default/reachd"):
        with open(tree / name, "a", encoding="utf-8") as file:
            file.write("# The last line of the earlier version.\n")
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Znone", "--build", tree, result], check=True, stdout=subprocess.DEVNULL)
    return result


def files(machine):
    """All paths of the machine that a package could leave."""
    skipped = " -o ".join(f"-path {each}" for each in KEPT)
    return set(machine.run("sh", "-c", f"find / \\( {skipped} \\) -prune -o -print").splitlines())


def nothing_left(machine, check, before, package):
    # systemd removes the private directories of an ended service later.
    eventually(lambda: not files(machine) - before)
    left = sorted(files(machine) - before)
    check(not left, f"purge of {package} leaves nothing", left[:20])


def answers(machine, port):
    return machine.attempt("curl", "-sf", "--max-time", "5", f"http://127.0.0.1:{port}/livez")[1] == "ok\n"


def lifecycle(machine, service, check, before):
    machine.run("apt-get", "install", "-yq", "/root/earlier.deb")
    # 0.1.0 cannot use a data directory behind a symbolic link; the link of DynamicUser= leads here.
    if machine.run("reachd", "--version").startswith("reachd 0.1.0 "):
        machine.root.write("/etc/systemd/system/reachd.service.d/data.conf", "[Service]\nEnvironment=REACHD_DATA=/var/lib/private/reachd\n")
        machine.run("systemctl", "daemon-reload")
        machine.run("systemctl", "restart", "reachd")
    installed(machine, service, check)
    upgrade(machine, service, check)
    reload(machine, service, check)
    failures(machine, service, check)
    socket(machine, service, check)
    streams(machine, service, check)
    log = machine.journal()
    check("Failed to set thread priority" not in log, "libdispatch logs no errors", log)
    removal(machine, service, check)
    machine.run("apt-get", "purge", "-yq", "reachd")
    nothing_left(machine, check, before, "reachd")


def installed(machine, service, check):
    """What is there after the installation, without any other step."""
    check(eventually(service.is_ready) and service.status["status"] == "reachable", "the service runs after the installation", machine.journal())
    enabled = machine.attempt("systemctl", "is-enabled", "reachd.service", "reachd.socket", "reachd-wait-online.service")[1].split()
    check(enabled == ["enabled", "disabled", "disabled"], "the service is enabled, the other units are not", enabled)
    refused, _ = machine.attempt("curl", "-s", "--max-time", "5", f"http://{machine.network.address}:8080/livez")
    check(refused == 7, "it listens on the loopback address only", refused)
    machine.run("test", "-s", "/usr/share/man/man1/reachd-serve.1.gz")


def upgrade(machine, service, check):
    """Another version, while settings of both kinds were changed: history and ids are kept, and a question is asked once."""
    machine.network.pull()
    check(eventually(lambda: service.status.get("status") == "notReachable"), "a pulled cable is reported")
    machine.network.plug()
    check(eventually(lambda: service.status.get("status") == "reachable"), "a plugged cable is reported")
    first, before = service.property("MainPID"), service.status["id"]
    machine.root.write("/etc/reachd.yaml", 'listen: ["127.0.0.1:8080"]\n')
    machine.attempt("rm", "-rf", "/etc/systemd/system/reachd.service.d")
    status, printed = machine.attempt("sh", "-c", f"apt-get install -yq {CHECKOUT}/.build-deb/reachd_*.deb")
    asked = set(re.findall(r"Configuration file '(\S+)'", printed))
    check(status != 0 and asked == {"/etc/reachd.yaml"}, "the upgrade asks about the changed file only", printed)
    machine.run("dpkg", "--force-confold", "--configure", "reachd")
    check((machine.root.path / "etc/reachd.yaml.dpkg-dist").exists(), "the new file is beside the kept one")
    settings = (machine.root.path / "etc/default/reachd").read_text(encoding="utf-8")
    check("earlier version" not in settings, "an unchanged file is replaced", settings)
    check(eventually(service.is_ready) and service.property("MainPID") != first, "the upgrade restarts the service", machine.journal())
    check(service.status["id"] == before, "the upgrade keeps the ids of events", f"{before}, {service.status}")
    history = service.get("/history?types=status")
    check('"notReachable"' in history, "the upgrade keeps the history", history)


def reload(machine, service, check):
    main = service.property("MainPID")
    machine.root.write("/etc/reachd.yaml", TARGET)
    guide(machine, "sudo systemctl reload")
    check(eventually(lambda: '"id":"db"' in service.get("/targets")), "a reload reads the file again", machine.journal())
    wrong = (("a misspelled setting", TARGET + "targts: []\n"), ("no YAML", "{"), ("an empty file", ""), ("another type", "listen: { }\n"))
    for what, text in wrong:
        machine.root.write("/etc/reachd.yaml", text)
        status, printed = machine.attempt("systemctl", "reload", "reachd")
        check(status != 0, f"a reload with {what} fails", printed)
    (machine.root.path / "etc/reachd.yaml").chmod(0o600)
    status, printed = machine.attempt("systemctl", "reload", "reachd")
    check(status != 0, "a reload of a file that the service cannot read fails", printed)
    check('"id":"db"' in service.get("/targets") and service.property("MainPID") == main, "the configuration stays in force")
    errors = machine.run("journalctl", "--no-pager", "--output=cat", "--unit=reachd", "--priority=err")
    check("targts" in errors and "listening" not in errors, "the journal has the errors with their priority", errors)
    machine.root.write("/etc/reachd.yaml", TARGET)
    (machine.root.path / "etc/reachd.yaml").chmod(0o644)
    machine.run("systemctl", "reload", "reachd")


def failures(machine, service, check):
    """Failures in quick succession: systemd's limit of starts would end the service."""
    for _ in range(KILLS):
        before = service.property("MainPID")
        machine.run("systemctl", "kill", "--signal=SIGKILL", "reachd")
        if not eventually(lambda: service.property("MainPID") not in ("0", before)):
            check(False, f"it is started again after {KILLS} failures", machine.journal())
    check(eventually(service.is_ready), f"it is started again after {KILLS} failures", machine.journal())


def socket(machine, service, check):
    """The socket unit, and a configuration with which the service cannot start while clients connect."""
    def listens():
        return [each for each in (8080, SOCKET_PORT) if answers(machine, each)]

    machine.root.write("/etc/systemd/system/reachd.socket.d/port.conf", f"[Socket]\nListenStream=\nListenStream=127.0.0.1:{SOCKET_PORT}\n")
    machine.run("systemctl", "daemon-reload")
    guide(machine, "sudo systemctl stop reachd.service")
    check(listens() == [SOCKET_PORT], "the service starts its enabled socket and listens there only", machine.journal())
    machine.root.write("/etc/reachd.yaml", "targts: []\n")
    status, printed = machine.attempt("systemctl", "restart", "reachd.service")
    check(status != 0, "a restart with a wrong file fails", printed)
    requests = f"for i in $(seq 30); do curl -s --max-time 2 -o /dev/null http://127.0.0.1:{SOCKET_PORT}/livez; done"
    machine.attempt("sh", "-c", requests, timeout=120)
    check(service.property("Result", "reachd.socket") == "trigger-limit-hit", "the socket ends the repeated starts",
          service.property("Result", "reachd.socket"))
    machine.root.write("/etc/reachd.yaml", TARGET)
    machine.run("systemctl", "start", "reachd.service")
    check(eventually(lambda: listens() == [SOCKET_PORT]), "after the correction it listens at its socket only", machine.journal())
    machine.root.write("/etc/systemd/system/reachd.socket.d/port.conf", "[Socket]\nListenStream=\nListenStream=192.0.2.1:80\n")
    machine.run("systemctl", "daemon-reload")
    machine.run("systemctl", "stop", "reachd.socket", "reachd.service")
    status, printed = machine.attempt("systemctl", "start", "reachd.service")
    check(status != 0 and not listens(), "without its socket the service does not start", printed)
    machine.run("systemctl", "disable", "--now", "reachd.socket")
    machine.attempt("rm", "-r", "/etc/systemd/system/reachd.socket.d")
    machine.run("systemctl", "daemon-reload")
    machine.run("systemctl", "start", "reachd.service")
    check(eventually(lambda: listens() == [8080]), "with a disabled socket it listens as configured", machine.journal())


def streams(machine, service, check):
    """The end of the service while clients read streams."""
    follow = f"mkdir /tmp/streams && for i in $(seq {STREAMS}); do curl -sN http://127.0.0.1:8080/events >/tmp/streams/$i & done; " \
             f"until [ $(grep -l snapshot /tmp/streams/* | wc -l) = {STREAMS} ]; do sleep 0.1; done; systemctl stop reachd; wait"
    machine.run("timeout", "50", "sh", "-c", follow)
    ended = machine.run("sh", "-c", "grep -l 'event: bye' /tmp/streams/* | wc -l").strip()
    check(ended == str(STREAMS), f"SIGTERM ends {STREAMS} streams with a close event", ended)
    check(service.property("Result") == "success", "SIGTERM under streams: exit code 0", service.property("Result"))
    machine.run("systemctl", "start", "reachd")


def removal(machine, service, check):
    epoch = service.epoch
    machine.run("apt-get", "remove", "-yq", "reachd")
    left = machine.attempt("sh", "-c", "grep -lx reachd /proc/[0-9]*/comm 2>/dev/null")[1]
    check(not left and not answers(machine, 8080), "the removed package's service has ended", left)
    kept = machine.attempt("ls", "/etc/reachd.yaml", f"{DATA}/reachd.db")
    check(kept[0] == 0, "the removal keeps the configuration and the data", kept[1])
    printed = guide(machine, "sudo apt-get install ./.build-deb/reachd_")
    check('"status":"reachable"' in printed, "the guide's commands install and start it", printed + machine.journal())
    check(service.epoch == epoch, "after another installation the events continue", machine.journal())


def members(machine, check):
    """The agent and the replica of a fleet, with a real server."""
    units = ("reachd-fleet-agent", "reachd-fleet-replica")
    guide(machine, "sudo apt-get install ./.build-deb/reachd-fleet_")
    enabled = machine.attempt("systemctl", "is-enabled", *units)[1].split()
    check(enabled == ["disabled", "disabled"], "agent and replica are disabled", enabled)
    status, printed = machine.attempt("systemctl", "start", units[0])
    log = machine.journal(units[0])
    check(status != 0 and "fleet.id" in log, "without settings the agent does not start, and says why", printed + log)
    command = f"{ENGINE} --jetstream --store_dir=/tmp/engine --addr=127.0.0.1"
    machine.root.write("/etc/systemd/system/engine.service", f"[Service]\nExecStart={command}\n")
    machine.run("systemctl", "daemon-reload")
    machine.run("systemctl", "start", "engine")
    for name, port in (("agent", AGENT_PORT), ("replica", REPLICA_PORT)):
        text = f'listen: ["127.0.0.1:{port}"]\nfleet: {{ id: {name}1, zone: a, servers: ["nats://127.0.0.1:4222"] }}\n'
        machine.root.write(f"/etc/reachd-fleet/{name}.yaml", text)
    machine.run("systemctl", "enable", "--now", "reachd-fleet-replica")
    guide(machine, "reachd-fleet config check")
    agents = ("curl", "-sf", f"http://127.0.0.1:{REPLICA_PORT}/fleet/agents")
    check(eventually(lambda: '"present"' in machine.attempt(*agents)[1]), "the replica sees the agent",
          machine.attempt(*agents)[1] + machine.journal(units[0]) + machine.journal(units[1]))
    for name in ("agent", "replica"):
        unit, path = f"reachd-fleet-{name}", f"/etc/reachd-fleet/{name}.yaml"
        machine.run("systemctl", "reload", unit)
        machine.root.write(path, (machine.root.path / path.lstrip("/")).read_text(encoding="utf-8") + "targts: []\n")
        status, printed = machine.attempt("systemctl", "reload", unit)
        check(status != 0, f"{name}: a reload with a wrong file fails", printed)
        log = machine.journal(unit)
        check("Failed to set thread priority" not in log and "memory only" not in log, f"{name}: no errors in the journal", log)
    machine.run("systemctl", "stop", "engine")
    machine.run("rm", "/etc/systemd/system/engine.service")


def without_package(machine, service, check):
    """`make install` on the same machine, as on another distribution."""
    guide(machine, "make build")
    check(service.is_ready() and service.status["status"] == "reachable", "make install: the service runs", machine.journal())
    where = service.property("FragmentPath")
    # Debian 12 names /usr/lib by its link.
    check(where.removeprefix("/usr") == "/lib/systemd/system/reachd.service", "make install: systemd finds the unit", where)
