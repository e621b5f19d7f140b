"""The library alone: from a kernel change to the monitor's verdict, compared with `ip -ts monitor`, with a C program that
asks the kernel the same questions and does nothing else (`floor.c`), and with naive lookups.

Rounds alternate between the programs; a figure is the median of the rounds' medians. Every process runs in the network
namespace that this one creates. Prints rows of RESULTS.md.
"""
import datetime
import os
import re
import socket
import statistics
import struct
import subprocess
import sys
import time

import peers
from latency import enter_new_namespace, replace_default

ROUNDS = int(os.environ.get("ROUNDS", "5"))
CHANGES = int(os.environ.get("CHANGES", "300"))
RACE_TRIALS = int(os.environ.get("RACE_TRIALS", "100000"))
FLOOD = int(os.environ.get("FLOOD", "100000"))
SIZES = [int(size) for size in os.environ.get("SIZES", "10 100 1000 10000 100000").split()]
NLM_F_REQUEST, NLM_F_ACK, NLM_F_CREATE, NLM_F_REPLACE = 0x1, 0x4, 0x400, 0x100
RTM_NEWLINK, RTM_NEWROUTE, RTM_DELROUTE = 16, 24, 25
# The timestamps that the monitor records for each reading.
HEARD, READ, JUDGED, TOLD = range(4)


def attribute(kind, value):
    return struct.pack("=HH", 4 + len(value), kind) + value


def message(kind, flags, body):
    return struct.pack("=IHHII", 16 + len(body), kind, NLM_F_REQUEST | flags, 1, 0) + body


def route(kind, block, length, index, gateway="10.9.0.1"):
    body = struct.pack("=BBBBBBBBI", socket.AF_INET, length, 0, 0, 254, 4, 0, 1, 0)
    body += attribute(1, socket.inet_aton(block)) + attribute(5, socket.inet_aton(gateway))
    body += attribute(4, struct.pack("=I", index))
    return message(kind, NLM_F_CREATE if kind == RTM_NEWROUTE else 0, body)


def mtu(index, size):
    return message(RTM_NEWLINK, 0, struct.pack("=BBHiII", 0, 0, 0, index, 0, 0) + attribute(4, struct.pack("=I", size)))


class Monitor:
    """The monitor under measurement, or another program with its protocol."""

    def __init__(self, binary, targets, arguments=None):
        self.process = subprocess.Popen([binary, *(arguments or ["watch", str(targets)])], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.line()

    def line(self):
        return self.process.stdout.readline().strip()

    def say(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def ask(self, target):
        self.say(target)
        return self.line()

    def readings(self):
        self.say("end")
        rows = []
        while (line := self.line()) != "end":
            rows.append([int(field) for field in line.split()])
        return rows

    def cpu(self):
        """CPU time of all threads, in nanoseconds."""
        total = 0
        for task in os.listdir(f"/proc/{self.process.pid}/task"):
            with open(f"/proc/{self.process.pid}/task/{task}/schedstat") as file:
                total += int(file.read().split()[0])
        return total

    def rss(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            return int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1))

    def stop(self):
        self.process.stdin.close()
        self.process.wait(timeout=30)


def send_each(kernel, messages, count, pause=0.002):
    """The times at which changes were sent, in nanoseconds."""
    moments = []
    for number in range(count):
        time.sleep(pause)
        moments.append(time.clock_gettime_ns(time.CLOCK_REALTIME))
        kernel.send(messages[number % len(messages)])
    time.sleep(0.2)
    return moments


def latencies(moments, stamps):
    """For each change, the first timestamp after it and before the next change, in microseconds."""
    found, position = [], 0
    for moment, limit in zip(moments, moments[1:] + [float("inf")]):
        while position < len(stamps) and stamps[position] < moment:
            position += 1
        if position < len(stamps) and stamps[position] < limit:
            found.append((stamps[position] - moment) / 1000)
    return found


def by_ip(kernel, subject, messages):
    """`ip -ts monitor`: the time that it reads before it prints."""
    process = subprocess.Popen(["ip", "-ts", "monitor", subject], stdout=subprocess.PIPE, text=True)
    time.sleep(0.2)
    moments = send_each(kernel, messages, CHANGES)
    process.terminate()
    stamps = []
    for text in re.findall(r"\[(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6})\]", process.communicate()[0]):
        moment = datetime.datetime.fromisoformat(text + "+00:00")
        stamps.append(int(moment.timestamp()) * 10**9 + moment.microsecond * 1000)
    return statistics.median(latencies(moments, stamps))


def by_us(kernel, monitor, messages, column, count=CHANGES, pause=0.002):
    monitor.say("begin")
    moments = send_each(kernel, messages, count, pause)
    rows = [row for row in monitor.readings() if row[column]]
    return statistics.median(latencies(moments, [row[column] for row in rows])), rows


def compare(kernel, binary, what, bar, subject, messages):
    """The time of the first read, compared with `ip`'s."""
    theirs, ours = [], []
    for _ in range(ROUNDS):
        theirs.append(by_ip(kernel, subject, messages))
        monitor = Monitor(binary, 0)
        ours.append(by_us(kernel, monitor, messages, HEARD)[0])
        monitor.stop()
    ours, theirs = statistics.median(ours), statistics.median(theirs)
    print(f"| {what} | {bar} | {ours / theirs:.2f}× ({ours:.1f} µs against {theirs:.1f} µs) | `Benchmarks/run kernel` |", flush=True)


def compare_floor(kernel, binary, floor, what, bar, subject, messages):
    """The time of the verdict on 10,000 targets, and its part after the first read, compared with the floor's."""
    names = ("to the verdict", "after the read")
    figures = {name: ([], []) for name in names}
    for _ in range(ROUNDS):
        for side, monitor in enumerate((Monitor(floor, 0, [subject]), Monitor(binary, 10000))):
            median, rows = by_us(kernel, monitor, messages, JUDGED)
            figures[names[0]][side].append(median)
            figures[names[1]][side].append(statistics.median(row[JUDGED] - row[HEARD] for row in rows) / 1000)
            monitor.stop()
    parts = []
    for name, sides in figures.items():
        theirs, ours = (statistics.median(side) for side in sides)
        parts.append(f"{ours / theirs:.2f}× {name} ({ours:.1f} µs against {theirs:.1f} µs)")
    print(f"| {what} | {bar} | {', '.join(parts)} | `Benchmarks/run kernel` |", flush=True)


def default_route(kernel, binary, index):
    monitor = Monitor(binary, 10000)
    ratios, durations, told = [], [], []
    for _ in range(ROUNDS):
        naive = int(subprocess.run([binary, "naive", "10000"], capture_output=True, text=True, check=True).stdout)
        messages = [replace_default(gateway, index) for gateway in ("10.9.0.1", "10.9.0.3")]
        # Each change is published before the next one is made.
        rows = by_us(kernel, monitor, messages, JUDGED, CHANGES // 10, 0.1)[1]
        duration = statistics.median(row[JUDGED] - row[READ] for row in rows)
        durations.append(duration)
        told.append(statistics.median(row[TOLD] - row[JUDGED] for row in rows))
        ratios.append(naive / duration)
    monitor.stop()
    print(f"| default route changed, 10,000 targets evaluated again, against as many naive lookups | ≥ 200× | "
          f"{statistics.median(ratios):.0f}× ({statistics.median(durations) / 1000:.0f} µs; publishing all 10,000 "
          f"to one listener takes {statistics.median(told) / 1000:.0f} µs more) | `Benchmarks/run kernel` |", flush=True)


def race(binary):
    output = subprocess.run([binary, "race", str(RACE_TRIALS)], capture_output=True, text=True, check=True).stdout.strip()
    print(f"| flush race, settle 0, wrong final verdicts | 0 | {output} | `Benchmarks/run kernel` |", flush=True)


def flood(kernel, binary):
    """Adds and deletes routes as fast as `ip` can; the last change determines the verdict on the one watched target."""
    def address(number):
        return f"100.{64 + number // 65536}.{number // 256 % 256}.{number % 256}"
    ratios, lags = [], []
    for _ in range(ROUNDS):
        monitor = Monitor(binary, 1000)
        added = "".join(f"route add {address(number)} via 10.9.0.1 dev c0\n" for number in range(FLOOD))
        subprocess.run(["ip", "-batch", "-"], input=added, text=True, check=True)
        dump = int(subprocess.run([binary, "dump"], capture_output=True, text=True, check=True).stdout)
        deleted = "".join(f"route del {address(number)}\n" for number in range(FLOOD))
        last = "route replace blackhole 198.18.0.0/24\n"
        subprocess.run(["ip", "-batch", "-"], input=deleted + last, text=True, check=True)
        begin = time.monotonic_ns()
        while monitor.ask("198.18.0.0") != "notReachable":
            if time.monotonic_ns() - begin > 30 * 10**9:
                raise SystemExit("after the flood the verdict stays wrong")
        lags.append((time.monotonic_ns() - begin) / 1e6)
        ratios.append(lags[-1] * 1e6 / dump)
        subprocess.run(["ip", "route", "del", "blackhole", "198.18.0.0/24"], check=True)
        monitor.stop()
    print(f"| flood of {2 * FLOOD:,} route changes: right after the last one, against one dump of the full table | ≤ 1.5× | "
          f"{statistics.median(ratios):.2f}× ({statistics.median(lags):.1f} ms) | `Benchmarks/run kernel` |", flush=True)


def sizes(kernel, binary, index):
    print("\n| targets | RSS at rest | CPU at rest | CPU per event, no target affected | one block of 1/256 affected |\n"
          "| --- | --- | --- | --- | --- |", flush=True)
    for size in SIZES:
        monitor = Monitor(binary, size)
        time.sleep(1)
        before, begin = monitor.cpu(), time.monotonic()
        time.sleep(5)
        rest = (monitor.cpu() - before) / (time.monotonic() - begin) / 1000
        rss, events = monitor.rss(), []
        for block, length in (("203.0.113.0", 24), ("198.18.0.0", 23)):
            changes = [route(kind, block, length, index) for kind in (RTM_NEWROUTE, RTM_DELROUTE)]
            before = monitor.cpu()
            for number in range(10):
                time.sleep(1)
                kernel.send(changes[number % 2])
            time.sleep(0.2)
            events.append((monitor.cpu() - before) / 10 / 1000)
        monitor.stop()
        print(f"| {size:,} | {rss / 1024:.1f} MiB | {rest:.0f} µs/s | {events[0]:.0f} µs | {events[1]:.0f} µs |", flush=True)


def main():
    binary = os.path.abspath(sys.argv[1])
    enter_new_namespace()
    for command in ("link add d0 type veth peer name d1", "link set d0 up", "link set d1 up", "route add default via 10.9.0.1"):
        subprocess.run(["ip", *command.split()], check=True)
    with open("/proc/sys/net/ipv6/conf/all/disable_ipv6", "w") as file:
        file.write("1")
    index, other = socket.if_nametoindex("c0"), socket.if_nametoindex("d0")
    kernel = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    kernel.bind((0, 0))
    elsewhere = [route(kind, "203.0.113.0", 24, index) for kind in (RTM_NEWROUTE, RTM_DELROUTE)]
    covering = [route(kind, "198.18.0.0", 23, index) for kind in (RTM_NEWROUTE, RTM_DELROUTE)]
    print("| what | bar | measured | command |\n| --- | --- | --- | --- |", flush=True)
    compare(kernel, binary, "kernel change → read, against `ip -ts monitor`", "≤ 1.1×", "route", elsewhere)
    floor = peers.compile_c("floor", "-lpthread")
    compare_floor(kernel, binary, floor, "route event → verdict, 10,000 targets, against the floor", "≤ 1.5×", "route", covering)
    compare_floor(kernel, binary, floor, "link event → verdict, 10,000 targets, against the floor with the barrier", "≤ 1.5×",
                  "link", [mtu(other, 1400), mtu(other, 1500)])
    default_route(kernel, binary, index)
    if FLOOD:
        flood(kernel, binary)
    if RACE_TRIALS:
        race(binary)
    if SIZES:
        sizes(kernel, binary, index)


if __name__ == "__main__":
    main()
