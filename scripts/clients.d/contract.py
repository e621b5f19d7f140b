"""The contract's fuzzer against the live service: a bounded number of examples for each operation."""
import os
import subprocess
import sys

import network
from daemon import Daemon

EXAMPLES = 10
# The same requests every day; another seed finds what this one does not: SEED=… scripts/test-clients contract
SEED = os.environ.get("SEED", "1")

# A machine that can reach something: `?require=reachable` answers 503 otherwise, as it should.
network.set_up()
# The contract's example hosts refuse at once; to be told that nobody is there takes three seconds each time.
for host in ("10.0.0.9", "10.9.0.1"):
    network.ip("addr", "add", f"{host}/32", "dev", "lo")
service = Daemon(sys.argv[1], "--log-level", "notice")
try:
    result = subprocess.run(
        [os.path.join(os.path.dirname(sys.executable), "schemathesis"), "--config-file", "scripts/schemathesis.toml",
         "run", "openapi.yaml", "--url", f"http://127.0.0.1:{service.port}", "--max-examples", str(EXAMPLES),
         "--seed", SEED, "--phases", "examples,coverage,fuzzing", "--request-timeout", "10", "--warnings", "off"],
        check=False)
finally:
    status = service.stop()
if result.returncode or status:
    raise SystemExit(f"contract: schemathesis ended with {result.returncode}, the service with {status}")
