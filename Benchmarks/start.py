"""Time from exec to the first 200, and the cost of an idle daemon."""
import os
import sys
import time

from daemon import Daemon, quantiles

RUNS = 30
IDLE_SECONDS = 10


def exec_to_first_200(binary):
    times = []
    for _ in range(RUNS):
        daemon = Daemon(binary)
        head, _ = daemon.get("/status")
        elapsed = time.monotonic() - daemon.started
        if b" 200 " not in head.split(b"\r\n")[0]:
            raise SystemExit(f"no 200: {head}")
        times.append(elapsed * 1000)
        daemon.stop()
    return times


def memory(pid):
    """Resident and anonymous kilobytes."""
    rss = anonymous = 0
    with open(f"/proc/{pid}/smaps_rollup") as rollup:
        for line in rollup:
            if line.startswith("Rss:"):
                rss = int(line.split()[1])
            elif line.startswith("Anonymous:"):
                anonymous = int(line.split()[1])
    return rss, anonymous


def activity(pid):
    """Context switches and CPU nanoseconds of each thread."""
    tasks = {}
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/status") as status:
            switches = sum(int(line.split()[1]) for line in status if "ctxt_switches" in line)
        with open(f"/proc/{pid}/task/{task}/schedstat") as schedstat:
            tasks[task] = (switches, int(schedstat.read().split()[0]))
    return tasks


def difference(before, after):
    """The difference; the counters of a pool thread that exited are lost."""
    both = [(before[task], after[task]) for task in after if task in before]
    return [sum(new[field] - old[field] for old, new in both) for field in (0, 1)]


def main(binary):
    median, _, worst = quantiles(exec_to_first_200(binary))
    print(f"exec to first 200: median {median:.1f} ms, worst {worst:.1f} ms of {RUNS}")
    daemon = Daemon(binary)
    daemon.get("/status")
    time.sleep(1)
    before = activity(daemon.pid)
    time.sleep(IDLE_SECONDS)
    switches, cpu = difference(before, activity(daemon.pid))
    rss, anonymous = memory(daemon.pid)
    print(f"idle: RSS {rss / 1024:.1f} MiB, anonymous {anonymous / 1024:.1f} MiB")
    print(f"idle for {IDLE_SECONDS} s: {switches} context switches, {cpu / 1e6:.3f} ms CPU")
    daemon.stop()


if __name__ == "__main__":
    main(sys.argv[1])
