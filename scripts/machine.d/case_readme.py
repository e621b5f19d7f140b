"""README's commands on a bare root: its packages, `make run` until the service answers, and `make test`.

It takes as long as a release build and all tests.
"""
from case_build import SOURCE, checkout, toolchain

# Seconds, for a build on a busy machine.
LONGEST_BUILD = 3_600
LONGEST_TEST = 5_400
# Of the memory: two builds.
ROOT_SIZE = "10g"

# If it fails: the summary, the last lines, because the clients run after the tests, and what a group printed that did not pass, which may
# have ended without a failed test.
TEST = """
make test >/run/test.log 2>&1 && exit
grep -E '^(✘|test: )' /run/test.log
tail -n 60 /run/test.log
for status in .build/test-*.status; do
  [ "$(cat "$status")" = 0 ] || tail -n 40 "${status%.status}.log" | sed 's/^/log: /'
done
exit 1
"""

# README's command with another address, because the network is that of this machine.
RUN = """
make run ARGS="--listen unix:/run/readme.sock" >/run/readme.log 2>&1 &
end=$(($(date +%s) + 3000))
until curl -fs --unix-socket /run/readme.sock http://reachd/readyz; do
  [ "$(date +%s)" -lt "$end" ] && kill -0 $! || { tail -n 30 /run/readme.log; exit 1; }
  sleep 1
done
curl -sS --unix-socket /run/readme.sock http://reachd/status
for process in /proc/[0-9]*; do
  [ "$(cat "$process/comm" 2>/dev/null)" != reachd ] || kill "${process#/proc/}"
done
wait
"""


def run(context):
    with context.root(size=ROOT_SIZE) as root:
        options = toolchain(root)
        checkout(root)
        status, printed = root.enter("bash", "-euc", f"cd {SOURCE}\n{RUN}", timeout=LONGEST_BUILD, **options)
        context.check(status == 0 and '"status":"reachable"' in printed, "README: make run builds and serves", printed[-2000:])
        status, printed = root.enter("sh", "-euc", f"cd {SOURCE}\n{TEST}", timeout=LONGEST_TEST, **options)
        context.check(status == 0, "README: make test passes", printed[-16_000:])
