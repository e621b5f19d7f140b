"""Drives `reachd top` and the output of other commands on a terminal: top.py BINARY.

A real shell with job control runs on a pseudo-terminal, so that Control-C, Control-Z and `fg` are those of a user; pyte
interprets what is written, as a terminal does.
"""
import contextlib
import fcntl
import os
import pathlib
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
import urllib.request

import network
import pyte
from service import Service

BINARY = os.path.abspath(sys.argv[1])
# Every wait is bounded; a slow machine may need most of this.
LIMIT = 30
# The number of write(2) in /proc/PID/task/TID/syscall.
WRITE = {"x86_64": 1, "aarch64": 64}[os.uname().machine]
# SGR parameters of a background: 40 to 49, and the bright ones 100 to 107.
BACKGROUND = re.compile(rb"\x1b\[(?:\d+;)*(?:4\d|10[0-7])(?:;\d+)*m")


def check(condition, message):
    if not condition:
        raise SystemExit(f"top: {message}")


def step(name):
    print(f"  {name}", flush=True)


class Terminal:
    """A shell on a pseudo-terminal of a size; its prompt shows the exit status of the last command."""

    PROMPT = re.compile(r"\[(\d+)\]READY $")

    def __init__(self, columns, lines, **environment):
        self.screen = pyte.Screen(columns, lines)
        self.stream = pyte.ByteStream(self.screen)
        self.lock = threading.Lock()
        self.bytes = b""
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            variables = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "TERM": "xterm", "LANG": "C.UTF-8",
                         "PS1": "[$?]READY ", "PS2": "", **environment}
            os.execve("/bin/bash", ["bash", "--norc", "--noprofile", "--noediting", "-i"], variables)
        self.resize(columns, lines)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        self.wait_for_prompt()

    def read(self):
        while True:
            try:
                part = os.read(self.master, 65536)
            except OSError:
                return
            if not part:
                return
            with self.lock:
                self.bytes += part
                self.stream.feed(part)

    def resize(self, columns, lines):
        with self.lock:
            self.screen.resize(lines, columns)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def send(self, text):
        os.write(self.master, text.encode())

    def kill(self, number):
        """Sends a signal to the command that runs, and not to the shell."""
        children = pathlib.Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        os.kill(int(children[0]), number)

    @property
    def lines(self):
        with self.lock:
            return [line.rstrip() for line in self.screen.display]

    @property
    def text(self):
        return "\n".join(self.lines)

    def wait_until(self, condition, what):
        deadline = time.monotonic() + LIMIT
        while time.monotonic() < deadline:
            if condition():
                return
            time.sleep(0.02)
        raise SystemExit(f"top: {what}; the screen shows:\n{self.text}")

    def shows(self, *parts):
        self.wait_until(lambda: all(part in self.text for part in parts), f"not shown: {parts}")

    def hides(self, part):
        self.wait_until(lambda: part not in self.text, f"still shown: {part}")

    def wait_for_prompt(self):
        """The exit status of the command that has ended."""
        self.wait_until(lambda: self.PROMPT.search(self.line_at_cursor()), "no prompt")
        return int(self.PROMPT.search(self.line_at_cursor()).group(1))

    def line_at_cursor(self):
        with self.lock:
            return self.screen.display[self.screen.cursor.y][:self.screen.cursor.x]

    def start(self, command):
        with self.lock:
            self.bytes = b""
        self.send(f"clear; {command}\n")
        # The old prompt must be gone before anything waits for the next one.
        self.wait_until(lambda: b"\x1b[2J" in self.bytes or b"\x1b[J" in self.bytes, "not cleared")

    def run(self, command):
        """The exit status and the written lines of a command that ends by itself."""
        self.start(command)
        status = self.wait_for_prompt()
        return status, self.lines

    def settings(self):
        """The settings of the terminal, as the shell's commands see them."""
        _, lines = self.run("stty -g")
        found = [line for line in lines if re.fullmatch(r"[0-9a-f:]{20,}", line)]
        check(found, f"no settings: {lines}")
        return found[0]

    def close(self):
        # The hang-up ends the shell and what runs in it, also after a failure.
        os.kill(self.pid, signal.SIGHUP)
        deadline = time.monotonic() + LIMIT
        while time.monotonic() < deadline and not os.waitpid(self.pid, os.WNOHANG)[0]:
            time.sleep(0.02)
        # Closed last: another file could get the number while the thread still reads.
        self.reader.join(LIMIT)
        os.close(self.master)


@contextlib.contextmanager
def terminal(columns=120, lines=24, **environment):
    shell = Terminal(columns, lines, **environment)
    try:
        yield shell
    finally:
        shell.close()


def is_restored(shell, before, what):
    check(b"\x1b[?1049l" in shell.bytes and b"\x1b[?25h" in shell.bytes, f"{what}: the screen is not restored")
    check(shell.bytes.rfind(b"\x1b[?1049l") > shell.bytes.rfind(b"\x1b[?1049h"), f"{what}: the screen is not restored")
    check(shell.settings() == before, f"{what}: the settings are not restored")


def shows_targets_and_keys(service):
    step("80×24: verdict, path, targets, details, help; q restores the terminal")
    with terminal(80, 24) as shell:
        before = shell.settings()
        shell.start(f"{BINARY} top --url {service.url}")
        shell.shows("● live", "✔ reachable", "IPv4 ✔ c0 via 10.9.0.", "✖ down", "refused")
        rows = [line for line in shell.lines if "tcp://" in line or "route://" in line]
        check("closed" in rows[0] and "down" in rows[0], f"the most urgent target is not first: {rows}")
        check(shell.screen.cursor.hidden, "the cursor is visible")
        # Events of the time before the program was started.
        shell.shows("ago  closed unknown → down  refused")
        shell.send("j")
        shell.shows("▶ ✖ down")
        shell.send("\r")
        shell.shows("tcp://127.0.0.1:9", "does not answer as expected", "Last check", "connect")
        # The target stays down, so that its checks cause no event; they come every 2 s and are read every 5 s.
        shell.shows("Last check 3s ago")
        shell.wait_until(lambda: re.search(r"Last check [0-2]s ago", shell.text), "the last check is not read again")
        shell.send("\x1b")
        shell.shows("STATE", "FOR")
        shell.send("?")
        shell.shows("Ctrl-L", "flapping")
        shell.send("?")
        shell.hides("Ctrl-L")
        shell.send("\x1b[B\x1b[B\x1b[A")
        shell.shows("▶")
        shell.send("/gatx\x7f")
        shell.shows("/gat_", "gateway")
        shell.hides("tcp://127.0.0.1:9")
        shell.send("\r")
        shell.shows("/gat · j k move")
        shell.send("\x1b")
        shell.shows("tcp://127.0.0.1:9")
        check(not BACKGROUND.search(shell.bytes), "a coloured background")
        check(b"\x1b[31m" in shell.bytes, "no colours")
        shell.send("q")
        check(shell.wait_for_prompt() == 0, "q does not exit with 0")
        is_restored(shell, before, "q")


def fits_small_screens_and_resizes(service):
    step("80×24 and 40×10 in the C locale: ASCII; a resize is followed")
    with terminal(80, 24, LC_ALL="C") as shell:
        shell.start(f"{BINARY} top --url {service.url}")
        shell.shows("* live", "+ reachable", "x down", "closed", "refused")
        check(shell.text.isascii(), f"not ASCII: {shell.text}")
        shell.send("q")
        check(shell.wait_for_prompt() == 0, "q does not exit with 0")
    with terminal(40, 10, LC_ALL="C") as shell:
        shell.start(f"{BINARY} top --url {service.url}")
        shell.shows("+ reachable", "live", "x closed", "refused")
        check(shell.text.isascii(), f"not ASCII: {shell.text}")
        shell.resize(100, 30)
        shell.shows("IPv4 + c0 via", "tcp://127.0.0.1:9", "STATE", "Events")
        check(shell.text.isascii(), f"not ASCII: {shell.text}")
        shell.resize(20, 4)
        shell.wait_until(lambda: len(shell.lines) == 4 and shell.lines[0].startswith("+ reachable"), "20×4 is not drawn")
        shell.send("q")
        check(shell.wait_for_prompt() == 0, "q does not exit with 0")


def follows_changes(service):
    step("a lost link, and a killed service, are shown without a key; reconnection catches up")
    with terminal() as shell:
        shell.start(f"{BINARY} top --url {service.url}")
        shell.shows("● live", "✔ reachable")
        subprocess.run(["ip", "link", "set", "c0", "down"], check=True)
        shell.shows("⊘ notReachable", "reachable → notReachable")
        subprocess.run(["ip", "link", "set", "c0", "up"], check=True)
        network.turn(1)
        shell.shows("✔ reachable", "notReachable → reachable")
        service.kill()
        shell.shows("○ not live", "disconnected for", "next attempt in")
        service.start()
        shell.shows("● live", "✔ reachable")
        shell.hides("disconnected")
        shell.send("q")
        check(shell.wait_for_prompt() == 0, "q does not exit with 0")


def restores_after_signals(service):
    step("SIGINT, SIGQUIT, SIGTERM, SIGHUP and SIGTSTP restore the terminal; fg draws again, in the present size")
    with terminal() as shell:
        before = shell.settings()
        for name, key, end in (("INT", "\x03", 130), ("QUIT", "\x1c", 131), ("INT", None, 130), ("TERM", None, 143),
                               ("HUP", None, 129)):
            shell.start(f"{BINARY} top --url {service.url}")
            shell.shows("● live")
            if key:
                shell.send(key)
            else:
                shell.kill(getattr(signal, f"SIG{name}"))
            status = shell.wait_for_prompt()
            check(status == end, f"SIG{name}: exit status {status}")
            is_restored(shell, before, f"SIG{name}")
        shell.start(f"{BINARY} top --url {service.url}")
        for stop in (lambda: shell.send("\x1a"), lambda: shell.kill(signal.SIGTSTP)):
            shell.shows("● live")
            stop()
            check(shell.wait_for_prompt() == 148, "the program does not stop")
            is_restored(shell, before, "SIGTSTP")
            # SIGWINCH does not reach a stopped program that is in the background.
            shell.resize(80, 20)
            shell.start("fg")
            shell.shows("● live", "j k move")
            shell.wait_until(lambda: "j k move" in shell.lines[19], "not drawn in the present size")
            shell.resize(120, 24)
            shell.wait_until(lambda: "j k move" in shell.lines[23], "not drawn in the present size")
        shell.send("q")
        check(shell.wait_for_prompt() == 0, "q after fg does not exit with 0")
        is_restored(shell, before, "q after fg")


def fill_terminal(master, slave):
    """Fills the buffers of a terminal that nobody reads, through an open file description of its own."""
    # The kernel moves what was written to the queue of the master (N_TTY_BUF_SIZE, less one) a little later.
    queue_limit = 4095
    filler = os.open(os.ttyname(slave), os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
    try:
        while True:
            queued, = struct.unpack("i", fcntl.ioctl(master, termios.FIONREAD, bytes(4)))
            try:
                os.write(filler, b"x" * 256)
            except BlockingIOError:
                if queued == queue_limit:
                    return
    finally:
        os.close(filler)


@contextlib.contextmanager
def unread_terminal(*command):
    """The process id, master and slave of a command on a full terminal that nobody reads."""
    master, slave = pty.openpty()
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    fill_terminal(master, slave)
    process = subprocess.Popen(
        command, stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0), env={"PATH": os.environ["PATH"], "TERM": "xterm", "LANG": "C.UTF-8"})
    try:
        yield process, master, slave
    finally:
        process.kill()
        process.wait()
        os.close(slave)
        os.close(master)


def wait_until(condition, what):
    deadline = time.monotonic() + LIMIT
    while not condition():
        check(time.monotonic() < deadline, what)
        time.sleep(0.02)


def reads_keys(slave):
    return not termios.tcgetattr(slave)[3] & termios.ICANON


def obeys_signals_without_a_reader(service):
    step("a terminal that nobody reads: signals end or stop the program, and its settings are restored")
    command = (BINARY, "top", "--url", service.url)
    for name in ("INT", "TERM", "HUP", "QUIT"):
        with unread_terminal(*command) as (process, _, slave):
            before = termios.tcgetattr(slave)
            wait_until(lambda: reads_keys(slave), "top does not start")
            process.send_signal(getattr(signal, f"SIG{name}"))
            wait_until(lambda: process.poll() is not None, f"SIG{name} does not end top")
            check(process.returncode == -getattr(signal, f"SIG{name}"), f"SIG{name}: {process.returncode}")
            check(termios.tcgetattr(slave) == before, f"SIG{name}: the settings are not restored")
            check(not fcntl.fcntl(slave, fcntl.F_GETFL) & os.O_NONBLOCK, "the shell's terminal is non-blocking now")
    with unread_terminal(*command) as (process, master, slave):
        before = termios.tcgetattr(slave)
        wait_until(lambda: reads_keys(slave), "top does not start")
        # A process of an orphaned process group is not stopped by SIGTSTP (POSIX.1-2017, 2.4.3); top continues.
        process.send_signal(signal.SIGTSTP)
        os.write(master, b"q")
        wait_until(lambda: process.poll() is not None, "q does not end top")
        check(process.returncode == 0 and termios.tcgetattr(slave) == before, "q: the settings are not restored")
    with unread_terminal(*command) as (process, master, slave):
        wait_until(lambda: reads_keys(slave), "top does not start")
        screen = pyte.Screen(80, 24)
        stream = pyte.ByteStream(screen)

        def shows(part):
            stream.feed(os.read(master, 65536))
            return any(part in line for line in screen.display)

        wait_until(lambda: shows("● live"), "the screen is not drawn once the terminal is read")
        os.write(master, b"q")
        wait_until(lambda: process.poll() is not None, "q does not end top")
    with unread_terminal(BINARY, "check", "tcp://198.51.100.1:9", "--timeout", "60s") as (process, _, slave):
        # The thread that writes the progress waits in write(2).
        wait_until(lambda: any(
            task.read_text().startswith(f"{WRITE} 0x2 ") for task in pathlib.Path(f"/proc/{process.pid}/task").glob("*/syscall")),
            "check writes no progress")
        process.send_signal(signal.SIGTERM)
        wait_until(lambda: process.poll() is not None, "SIGTERM does not end check")


def reports_errors(service):
    step("a service that does not respond is an error on the restored screen")
    with terminal() as shell:
        before = shell.settings()
        shell.start(f"{BINARY} top --url http://127.0.0.1:1")
        check(shell.wait_for_prompt() == 2, "exit status")
        shell.shows("reachd: ")
        is_restored(shell, before, "an error")


def prints_once(service):
    step("--once and a pipe: one plain frame; --color")
    run = lambda *words, **extra: subprocess.run(
        [BINARY, *words, "--url", service.url], capture_output=True, text=True, timeout=LIMIT, **extra)
    piped = run("top")
    check(piped.returncode == 0, piped.stderr)
    lines = piped.stdout.splitlines()
    check(lines[0] == "reachable ethernetOrWiFi", lines)
    check(lines[1].startswith("IPv4 reachable c0 via 10.9.0."), lines)
    check(lines[2].startswith("IPv6 notReachable noRoute"), lines)
    check("1 down" in lines[3], lines)
    check(lines[4].startswith("down closed tcp://127.0.0.1:9 refused since 2"), lines)
    check("\x1b" not in piped.stdout, "control sequences in a pipe")
    check("\x1b[31mdown\x1b[0m closed" in run("top", "--color", "always").stdout, "--color always has no effect")
    check("\x1b[32mreachable\x1b[0m" in run("status", "--color", "always").stdout, "--color always has no effect")
    check(run("top", "--color", "sometimes").returncode == 64, "--color accepts any word")
    with terminal(120, 24) as shell:
        for options, variables, is_colored in (
                ("", "", True), ("", "NO_COLOR=1 ", False), ("", "NO_COLOR= ", True), ("--color always", "NO_COLOR=1 ", True),
                ("--color never", "", False), ("", "TERM=dumb ", False)):
            status, shown = shell.run(f"{variables}{BINARY} top --once --url {service.url} {options}")
            check(status == 0 and any(line.startswith("down closed") for line in shown), f"not printed: {shown}")
            check((b"\x1b[31mdown" in shell.bytes) == is_colored, f"{variables}{options}: colours are wrong")
            check(b"?1049h" not in shell.bytes, "--once uses the alternate screen")


def shows_progress(service):
    step("check and wait show their progress on a terminal; history is a table")
    with terminal(80, 24) as shell:
        shell.start(f"{BINARY} check tcp://198.51.100.1:9 --timeout 2500ms")
        shell.shows("checking: 0 of 1 target, 1s")
        check(shell.wait_for_prompt() == 1, "exit status of check")
        check("checking" not in shell.text and "down tcp://198.51.100.1:9" in shell.text, shell.text)
        shell.start(f"{BINARY} wait tcp://198.51.100.1:9 --timeout 2s")
        shell.shows("waiting for: 1 target, 1s of 2s")
        check(shell.wait_for_prompt() == 1, "exit status of wait")
        shell.start(f"{BINARY} check tcp://198.51.100.1:9 --timeout 1500ms 2>/dev/null")
        shell.wait_for_prompt()
        check("checking" not in shell.bytes.decode(errors="replace"), "progress although standard error is no terminal")
        status, lines = shell.run(f"{BINARY} history --url {service.url} --types target")
        check(status == 0, lines)
        titles = [line for line in lines if line.startswith("TIME")]
        rows = [line for line in lines if "target:closed" in line]
        check(titles and rows, f"no table: {lines}")
        check(rows[0].index("target:closed") == titles[0].index("SUBJECT"), f"not aligned: {lines}")
        check(" down" in rows[-1] and b"\x1b[31mdown" in shell.bytes, f"no state: {lines}")
        status, lines = shell.run(f"{BINARY} history --url {service.url} --subject target:none")
        check(status == 0 and "no transitions since 1h" in lines, f"an empty history says nothing: {lines}")
        status, lines = shell.run(f"{BINARY} history --url {service.url} --subject target:none 2>/dev/null")
        check(status == 0 and not any("transitions" in line for line in lines), f"standard output has more than entries: {lines}")


CONFIGURATION = """\
targets:
  - { id: closed, target: "tcp://127.0.0.1:9", interval: 2s }
  - { id: gateway, target: "route://10.9.0.1", interval: 2s }
"""


def main():
    network.set_up()
    service = Service(BINARY, CONFIGURATION)
    try:
        deadline = time.monotonic() + LIMIT
        while b'"down"' not in urllib.request.urlopen(service.url + "targets?state=down", timeout=5).read():
            check(time.monotonic() < deadline, "the target is not down")
            time.sleep(0.1)
        prints_once(service)
        shows_targets_and_keys(service)
        fits_small_screens_and_resizes(service)
        restores_after_signals(service)
        obeys_signals_without_a_reader(service)
        reports_errors(service)
        follows_changes(service)
        shows_progress(service)
    finally:
        service.stop()
    print("top: passed")


if __name__ == "__main__":
    main()
