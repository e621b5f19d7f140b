"""Independent clients read one stream to the same list of ids, with a cut in the middle of an event."""
import subprocess
import sys
import time

import network
from daemon import Daemon
from readers import READERS
from scissors import Scissors

CHANGES = 40
CUT_AFTER = 15
PATIENCE = 60


def main(binary, names):
    network.set_up()
    service = Daemon(binary, "--log-level", "notice")
    # The reference: a reader that nobody cuts.
    reference = READERS["raw"](f"http://127.0.0.1:{service.port}/events")
    readers = {}
    for name in names:
        scissors = Scissors(service.port, CUT_AFTER)
        readers[name] = (READERS[name](f"http://127.0.0.1:{scissors.port}/events"), scissors)
    wait("every client has a stream", lambda: reference.ready and all(r.ready for r, _ in readers.values()))
    for number in range(CHANGES):
        network.turn(number)
        wait("each change is one event", lambda: len(reference.ids) > number)
    expected = list(reference.ids)
    failures = []
    for name, (reader, scissors) in readers.items():
        wait(None, lambda: reader.ids[-1:] == expected[-1:])
        verdict = "ok" if reader.ids == expected and scissors.cuts == 1 else "WRONG"
        print(f"streams: {name}: {verdict}: {len(reader.ids)} of {len(expected)} ids, {scissors.cuts} cut, "
              f"{scissors.resumed or 'no'} Last-Event-ID")
        if verdict != "ok":
            failures.append(f"{name} read {reader.ids} instead of {expected}")
        reader.stop()
    reference.stop()
    status = service.stop()
    if failures or status:
        raise SystemExit("streams: " + "; ".join(failures) + f"; the service ended with {status}")


def wait(what, condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            if what is None:
                return
            raise SystemExit(f"streams: it never happened that {what}")
        time.sleep(0.01)


if __name__ == "__main__":
    main(sys.argv[1], ["curl", "httpx-sse", "sseclient-py"])
