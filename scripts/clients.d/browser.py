"""Reads the stream with a browser's EventSource, like the other clients (streams.py)."""
import sys

import streams

streams.main(sys.argv[1], ["curl", "EventSource"])
