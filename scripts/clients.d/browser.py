"""The browser's EventSource reads the stream as the others do (streams.py)."""
import sys

import streams

streams.main(sys.argv[1], ["curl", "EventSource"])
