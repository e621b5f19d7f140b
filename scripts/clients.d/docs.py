"""Runs the commands of README, tutorial, how-to guides and command line, checks their YAML and Swift, and compares the reference with
the program.

docs.py BINARY [DOCUMENT…]. It needs network, mount and process namespaces of its own. The network is the one that the documents
show: `eth0` with 10.0.0.5, the gateway 10.0.0.1, and behind it 10.9.0.1, where port 5432 accepts connections.
"""
import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import decisions
import mentions
import reference
import snippets
from documents import Shell, blocks, is_repeatable, pattern

ROOT = pathlib.Path.cwd()
BINARY = pathlib.Path(sys.argv[1]).resolve()
LONGEST_README = 150
MOST_NOT_RUN = 12
# A target needs three checks, one second apart, to become down.
LONGEST_WAIT = 20
SERVER = """
import socket
listener = socket.create_server(("0.0.0.0", 5432))
print("ready", flush=True)
while True:
    listener.accept()[0].close()
"""


def ip(*words):
    subprocess.run(["ip", *words], check=True)


@contextlib.contextmanager
def network():
    """The network that the documents show."""
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=True)
    # The kernel would add link-local addresses at a time of its own.
    pathlib.Path("/proc/sys/net/ipv6/conf/default/addr_gen_mode").write_text("1", encoding="ascii")
    other = subprocess.Popen(
        ["unshare", "-n", sys.executable, "-c", SERVER], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        other.stdout.readline()
        ip("link", "add", "eth0", "type", "veth", "peer", "name", "gateway")
        ip("link", "set", "gateway", "netns", str(other.pid))
        inside = ["nsenter", "-t", str(other.pid), "-n", "ip"]
        for words in (["address", "add", "10.0.0.1/24", "dev", "gateway"], ["link", "set", "gateway", "up"],
                      ["address", "add", "10.9.0.1/32", "dev", "gateway"]):
            subprocess.run([*inside, *words], check=True)
        ip("address", "add", "10.0.0.5/24", "dev", "eth0")
        ip("link", "set", "eth0", "up")
        ip("route", "add", "default", "via", "10.0.0.1")
        yield
    finally:
        other.kill()
        other.wait()


def programs(directory):
    """A directory for PATH: reachd, the programs of other packages, and a sudo that only runs its arguments."""
    directory.mkdir()
    (directory / "reachd").symlink_to(BINARY)
    (directory / "reachd-fleet").symlink_to(f"{BINARY}-fleet")
    # In a user namespace there is no other user, which nginx would change to. The last -g applies.
    for variable, name, more in (("NGINX_PROGRAM", "nginx", "-g 'daemon off; user root;'"), ("PROMETHEUS", "prometheus", ""),
                                 ("PROMTOOL", "promtool", ""), ("KUBECTL", "kubectl", ""),
                                 ("NATS_SERVER_2_15", "nats-server", "")):
        path = os.environ.get(variable)
        if not path:
            raise SystemExit(f"docs: {variable} is not set: no {name}")
        write_program(directory / name, f'exec {path} "$@" {more}')
    write_program(directory / "sudo", 'exec "$@"')
    return directory


def write_program(path, line):
    path.write_text(f"#!/bin/sh\n{line}\n", encoding="ascii")
    path.chmod(0o755)


class Runner:
    """Runs one document in a directory and a shell of its own."""

    def __init__(self, path, work, bin_directory):
        self.path = path
        self.failures = []
        self.commands = 0
        self.directory = pathlib.Path(tempfile.mkdtemp(dir=work))
        for name in ("deploy", "examples", "scripts", "openapi.yaml"):
            (self.directory / name).symlink_to(ROOT / name)
        self.environment = {
            "PATH": f"{bin_directory}:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(self.directory), "LC_ALL": "C.UTF-8",
            "TZ": "UTC", "TERM": "dumb", "REACHD_DRAIN_DELAY": "0s", "NO_PROXY": "*",
            "PWD": str(self.directory),
        }
        self.shell = Shell(self.directory, self.environment)

    def fail(self, block, message):
        self.failures.append(f"{block.place}: {message}")

    def run(self):
        """Runs every block; returns the failures."""
        for block in blocks(ROOT, self.path):
            if self.failures:
                break
            if block.file:
                (self.directory / block.file).write_text(block.text + "\n", encoding="utf-8")
            if block.language in ("sh", "console") and not block.reason and not block.machine:
                self.run_commands(block)
            elif block.language == "yaml":
                self.check_yaml(block)
        if self.failures:
            self.failures.append(self.shell.logs())
        self.failures += self.shell.stop()
        return self.failures

    def run_commands(self, block):
        if block.is_background:
            self.commands += 1
            if not self.shell.start(block.text):
                self.fail(block, f"does not listen: {block.text}")
        elif block.language == "sh":
            self.commands += 1
            status, output = self.shell.run(f"set -e\n{block.text}\nset +e")
            if status != 0:
                self.fail(block, f"exit status {status}: {output}")
        else:
            for command, expected in block.commands:
                self.commands += 1
                self.run_console(block, command, pattern(expected))

    def run_console(self, block, command, expected):
        deadline = time.monotonic() + LONGEST_WAIT
        while True:
            status, output = self.shell.run(command)
            output = output if not output or output.endswith("\n") else output + "\n"
            # 0, 1 and 2 are results; 3 and more are errors of the command.
            if status in (0, 1, 2) and expected.fullmatch(output):
                return
            if status is None or not is_repeatable(command) or time.monotonic() > deadline:
                self.fail(block, f"$ {command}: exit status {status}, printed\n{output}instead of\n{block.text}")
                return
            time.sleep(0.1)

    def check_yaml(self, block):
        if block.text.startswith("# prometheus"):
            command = f"promtool check config --syntax-only {block.file}"
        elif block.text.startswith("# grafana"):
            return
        else:
            command = f"reachd config check --config {block.file or 'block.yaml'}"
        (self.directory / (block.file or "block.yaml")).write_text(block.text + "\n", encoding="utf-8")
        status, output = self.shell.run(command)
        if status != 0:
            self.fail(block, f"{command}: {output}")


def check_examples(paths, work, bin_directory):
    """The YAML blocks of documents whose commands are not run, with files where they name some."""
    etc = work / "etc"
    etc.mkdir()
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=x",
         "-keyout", etc / "tls.key", "-out", etc / "tls.crt"], check=True, capture_output=True)
    (etc / "ops.secret").write_text("whsec_" + "A" * 43 + "=\n", encoding="ascii")
    (etc / "ops.secret").chmod(0o600)
    made = subprocess.run([bin_directory / "reachd", "token", "create", "--scope", "read", "--output", etc / "token"],
                          check=True, capture_output=True, text=True)
    (etc / "tokens.yaml").write_text(made.stdout, encoding="ascii")
    failures = []
    for path in paths:
        for block in blocks(ROOT, path):
            if block.language != "yaml":
                continue
            text = block.text.replace("/etc/reachd/", f"{etc}/").replace("/var/lib/reachd", str(etc))
            file = work / "block.yaml"
            file.write_text(text, encoding="utf-8")
            # A member of a fleet has webhooks of its own kind.
            program = "reachd-fleet" if text.startswith("fleet:") else "reachd"
            result = subprocess.run(
                [bin_directory / program, "config", "check", "--config", file], capture_output=True, text=True,
                env={"TOKEN": "x"}, check=False)
            if result.returncode:
                failures.append(f"{block.place}: {result.stderr}")
    return failures


def check_sizes(paths):
    """The length of the README, and the number of blocks that are not run."""
    failures = []
    length = len((ROOT / "README.md").read_text(encoding="utf-8").splitlines())
    if length > LONGEST_README:
        failures.append(f"README.md has {length} lines, at most {LONGEST_README}")
    failures += [f"{block.place}: scripts/machine.d has no case {block.machine}" for path in paths for block in blocks(ROOT, path)
                 if block.machine and not (ROOT / "scripts" / "machine.d" / f"case_{block.machine}.py").exists()]
    marked = [block for path in paths for block in blocks(ROOT, path) if block.mark.startswith("not-run")]
    failures += [f"{block.place}: not-run without a reason" for block in marked if not block.reason]
    if len(marked) > MOST_NOT_RUN:
        failures.append(f"{len(marked)} blocks are not run, at most {MOST_NOT_RUN}")
    return failures, len(marked)


def main():
    documents = sys.argv[2:] or [
        "README.md", "docs/reference/command-line.md", *sorted(str(path.relative_to(ROOT)) for part in ("tutorial", "how-to")
                             for path in (ROOT / "docs" / part).glob("*.md"))]
    others = sorted(str(path.relative_to(ROOT)) for part in ("reference", "explanation")
                    for path in (ROOT / "docs" / part).glob("*.md"))
    work = pathlib.Path(tempfile.mkdtemp())
    try:
        bin_directory = programs(work / "bin")
        failures, not_run = check_sizes(documents)
        commands = 0
        with network():
            for path in documents:
                begun = time.monotonic()
                runner = Runner(path, work, bin_directory)
                failures += runner.run()
                commands += runner.commands
                print(f"docs: {path}: {runner.commands} commands, {time.monotonic() - begun:.1f} s", flush=True)
            if not sys.argv[2:]:
                failures += check_examples(others, work, bin_directory)
                failures += reference.check(ROOT, BINARY, work)
                failures += mentions.check(ROOT, BINARY)
                failures += decisions.check(ROOT)
                wrong, compiled = snippets.check(ROOT, BINARY.parent)
                failures += wrong
                print(f"docs: {compiled} Swift blocks compiled")
    finally:
        shutil.rmtree(work)
    print(f"docs: {commands} commands run, {not_run} blocks not run")
    if failures:
        raise SystemExit("docs: " + "\ndocs: ".join(re.sub(r"\n(?=.)", "\n  ", failure) for failure in failures))


if __name__ == "__main__":
    main()
