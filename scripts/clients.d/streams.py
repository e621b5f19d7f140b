"""Independent clients read one stream with a disconnect in the middle of an event, and must receive the same list of ids."""
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
    # The reference: a reader without a disconnect.
    reference = READERS["raw"](f"http://127.0.0.1:{service.port}/events?types=path")
    readers = {}
    for name in names:
        scissors = Scissors(service.port, CUT_AFTER)
        readers[name] = (READERS[name](f"http://127.0.0.1:{scissors.port}/events?types=path"), scissors)
    wait("every client has a stream", lambda: reference.ready and all(r.ready for r, _ in readers.values()),
         lambda: [f"{name}: {reader.error!r}" for name, (reader, _) in readers.items() if not reader.ready])
    # Only `path` events, because interface events of the new veth pair may arrive at any time.
    earlier = set(reference.ids)
    for number in range(CHANGES):
        network.turn(number)
        wait("each change is one event", lambda: len(reference.ids) > len(earlier) + number)
    expected = [event_id for event_id in reference.ids if event_id not in earlier]
    failures = []
    for name, (reader, scissors) in readers.items():
        wait(None, lambda: reader.ids[-1:] == expected[-1:])
        ids = [event_id for event_id in reader.ids if event_id not in earlier]
        verdict = "ok" if ids == expected and scissors.cuts == 1 else "WRONG"
        print(f"streams: {name}: {verdict}: {len(ids)} of {len(expected)} ids, {scissors.cuts} cut, "
              f"{scissors.resumed or 'no'} Last-Event-ID")
        if verdict != "ok":
            failures.append(f"{name} read {ids} instead of {expected}")
        reader.stop()
    reference.stop()
    status = service.stop()
    if failures or status:
        raise SystemExit("streams: " + "; ".join(failures) + f"; the service ended with {status}")


def wait(what, condition, details=list):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            if what is None:
                return
            raise SystemExit(f"streams: timeout: {what} {details()}")
        time.sleep(0.01)


if __name__ == "__main__":
    main(sys.argv[1], ["curl", "httpx-sse", "sseclient-py"])
