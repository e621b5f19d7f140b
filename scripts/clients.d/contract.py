"""Runs the fuzzer for openapi.yaml against the service: a limited number of examples for each operation."""
import os
import subprocess
import sys
import tempfile
import urllib.request

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
# With a data directory, because the history answers 503 without one. With a token of the scope admin, because the operations
# that need it answer 403 instead of 401 if no token could satisfy them.
data = tempfile.TemporaryDirectory()
tokens = os.path.join(data.name, "tokens.yaml")
with open(tokens, "w", encoding="ascii") as file:
    subprocess.run([sys.argv[1], "token", "create", "--scope", "admin", "--output", os.path.join(data.name, "token")],
                   stdout=file, check=True)
configuration = os.path.join(data.name, "reachd.yaml")
with open(configuration, "w", encoding="ascii") as file:
    file.write(f"tokensFile: {tokens}\n")
service = Daemon(sys.argv[1], "--config", configuration, "--log-level", "notice", "--data", os.path.join(data.name, "data"))
try:
    # The gate of the examples, so that requests for it find one.
    gate = urllib.request.Request(f"http://127.0.0.1:{service.port}/gates/app", b'{"machine": "reachable"}', {"Content-Type": "application/json"},
                                  method="PUT")
    urllib.request.urlopen(gate).close()
    result = subprocess.run(
        [os.path.join(os.path.dirname(sys.executable), "schemathesis"), "--config-file", "scripts/clients.d/schemathesis.toml",
         "run", "openapi.yaml", "--url", f"http://127.0.0.1:{service.port}", "--max-examples", str(EXAMPLES),
         "--seed", SEED, "--phases", "examples,coverage,fuzzing", "--request-timeout", "10", "--warnings", "off"],
        check=False)
finally:
    status = service.stop()
if result.returncode or status:
    raise SystemExit(f"contract: schemathesis ended with {result.returncode}, the service with {status}")
