"""The code blocks of Markdown documents, a shell that runs them, and the comparison of outputs.

A comment before a block says what is special: `<!-- not-run: REASON -->`, `<!-- machine: CASE -->` for what `scripts/machine` runs
in its case of that name, or `<!-- background -->` for a command that runs until the end of the document. A block of another language whose first line is `# NAME.EXTENSION` is written to that file.
"""
import contextlib
import dataclasses
import os
import pathlib
import re
import select
import signal
import subprocess
import time

# Longer than a target needs to become down; the wait ends when the output is the documented one.
PATIENCE = 30
END = "== end of the command"


@dataclasses.dataclass
class Block:
    """A fenced code block."""

    path: str
    line: int
    language: str
    text: str
    mark: str

    @property
    def place(self):
        return f"{self.path}:{self.line}"

    @property
    def reason(self):
        """Why the block is not run; empty when it is."""
        return self.mark.removeprefix("not-run:").strip() if self.mark.startswith("not-run:") else ""

    @property
    def machine(self):
        """The case of scripts/machine that runs the block; empty when the test of the documents runs it."""
        return self.mark.removeprefix("machine:").strip() if self.mark.startswith("machine:") else ""

    @property
    def is_background(self):
        return self.mark.startswith("background")

    @property
    def file(self):
        """The name of the file that the block shows."""
        found = re.match(r"# ([\w.-]+\.\w+)$", self.text.split("\n", 1)[0])
        return found[1] if found and self.language not in ("sh", "console") else None

    @property
    def commands(self):
        """The commands of a `console` block, each with its output."""
        commands = []
        for line in self.text.splitlines():
            if line.startswith("$ "):
                commands.append((line[2:], []))
            elif commands:
                commands[-1][1].append(line)
        return commands


def blocks(root, path):
    """The code blocks of a document, in order."""
    found, fence, mark, lines = [], None, "", []
    for number, line in enumerate(pathlib.Path(root, path).read_text(encoding="utf-8").splitlines(), 1):
        opening = re.match(r"( *)```(\w*)$", line)
        if fence is not None:
            if opening and not opening[2] and opening[1] == fence[0]:
                text = "\n".join(each[len(fence[0]):] for each in lines)
                found.append(Block(path, fence[2], fence[1], text, mark))
                fence, mark = None, ""
            else:
                lines.append(line)
        elif opening:
            fence, lines = (opening[1], opening[2], number), []
        elif comment := re.match(r" *<!-- (.*) -->$", line):
            mark = comment[1]
        elif line.strip():
            mark = ""
    assert fence is None, f"{path}: a code block does not end"
    return found


def pattern(lines):
    """A regular expression for documented output: `…` is any text, a line of `…` any lines; times and ids differ."""
    parts = []
    for line in lines:
        if line.strip() == "…":
            parts.append(r"(?:.*\n)*?")
            continue
        text = re.escape(line).replace("…", ".*")
        text = re.sub(r"\d{4}\\-\d\d\\-\d\dT[\d:]+\\\.\d{6}Z", r"\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z", text)
        text = re.sub(r"\b[0-9a-f]{8}\\-\d+\b", r"[0-9a-f]{8}-\\d+", text)
        parts.append(text.rstrip() + r"[ \t]*\n")
    return re.compile("".join(parts))


def is_repeatable(command):
    """Whether a command changes nothing, or sends a test message, so that it is repeated until the documented state is there."""
    if command.endswith("/test"):
        return True
    if re.match(r"reachd (targets (add|rm)|serve|token)\b", command) or "-X" in command:
        return False
    return command.startswith(("reachd ", "curl -s", "cat "))


def listens(process):
    """Whether a process has a TCP socket that listens."""
    sockets = set()
    for descriptor in pathlib.Path(f"/proc/{process}/fd").iterdir():
        with contextlib.suppress(OSError):
            sockets.add(os.readlink(descriptor))
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for row in pathlib.Path(table).read_text(encoding="ascii").splitlines()[1:]:
            cells = row.split()
            if cells[3] == "0A" and f"socket:[{cells[9]}]" in sockets:
                return True
    return False


class Shell:
    """One shell for a document, so that variables and the directory persist, and its background commands."""

    def __init__(self, directory, environment):
        self.directory, self.environment = directory, environment
        self.background = []
        self.process = subprocess.Popen(
            ["bash", "--norc", "--noprofile"], cwd=directory, env=environment, text=True, bufsize=1, errors="replace",
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        os.set_blocking(self.process.stdout.fileno(), False)
        self.received = b""

    def run(self, text):
        """Runs commands; returns the exit status and the output."""
        self.process.stdin.write(f"{{\n{text}\n}} </dev/null\nprintf '\\n%s %s\\n' '{END}' $?\n")
        self.process.stdin.flush()
        deadline = time.monotonic() + PATIENCE
        while not (ended := re.search(rb"\n" + END.encode() + rb" (\d+)\n", self.received)):
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, deadline - time.monotonic()))
            block = os.read(self.process.stdout.fileno(), 65536) if ready else b""
            if not block:
                return None, self.received.decode(errors="replace")
            self.received += block
        output, self.received = self.received[:ended.start()], self.received[ended.end():]
        return int(ended[1]), output.decode(errors="replace")

    def start(self, text):
        """Starts a command that runs until `stop`, and waits until it listens."""
        log = open(pathlib.Path(self.directory, f"background-{len(self.background)}.log"), "w", encoding="utf-8")
        process = subprocess.Popen(
            ["bash", "-c", f"exec {text.strip()}"], cwd=self.directory, env=self.environment, stdin=subprocess.DEVNULL,
            stdout=log, stderr=subprocess.STDOUT)
        self.background.append((text, process, log))
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and process.poll() is None:
            with contextlib.suppress(OSError):
                if listens(process.pid):
                    return True
            time.sleep(0.02)
        return False

    def logs(self):
        """What the background commands printed."""
        return "\n".join(pathlib.Path(log.name).read_text(errors="replace") for _, _, log in self.background)

    def stop(self):
        """Ends everything; returns the background commands that did not end with 0."""
        failed = []
        self.process.stdin.close()
        for text, process, log in reversed(self.background):
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            try:
                status = process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                status = process.wait()
            log.close()
            # reachd ends with 0 at SIGTERM; a program that does not handle the signal ends by it.
            if status != 0 and (status != -signal.SIGTERM or text.startswith("reachd")):
                failed.append(f"{text.strip()}: ended with {status}")
        self.process.kill()
        self.process.wait()
        return failed
