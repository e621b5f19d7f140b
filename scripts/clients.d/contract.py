"""Runs the fuzzer for openapi.yaml against the service: a limited number of examples for each operation."""
import os
import subprocess
import sys
import tempfile

import network
from daemon import Daemon

EXAMPLES = 10
# A fixed seed makes runs reproducible; for other requests: SEED=… scripts/test-clients contract
SEED = os.environ.get("SEED", "1")

# A machine with a default route, because `?require=reachable` returns 503 otherwise.
network.set_up()
# The example hosts of openapi.yaml refuse connections immediately; the error without a host takes three seconds each time.
for host in ("10.0.0.9", "10.9.0.1"):
    network.ip("addr", "add", f"{host}/32", "dev", "lo")
# With a data directory, because the history answers 503 without one.
data = tempfile.TemporaryDirectory()
service = Daemon(sys.argv[1], "--log-level", "notice", "--data", os.path.join(data.name, "data"))
try:
    result = subprocess.run(
        [os.path.join(os.path.dirname(sys.executable), "schemathesis"), "--config-file", "scripts/clients.d/schemathesis.toml",
         "run", "openapi.yaml", "--url", f"http://127.0.0.1:{service.port}", "--max-examples", str(EXAMPLES),
         "--seed", SEED, "--phases", "examples,coverage,fuzzing", "--request-timeout", "10", "--warnings", "off"],
        check=False)
finally:
    status = service.stop()
if result.returncode or status:
    raise SystemExit(f"contract: schemathesis ended with {result.returncode}, the service with {status}")
