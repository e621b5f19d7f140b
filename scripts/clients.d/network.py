"""A small network in this namespace, and changes of it that each cause one event."""
import subprocess

GATEWAYS = ("10.9.0.1", "10.9.0.3")


def ip(*words):
    subprocess.run(["ip", *words], check=True)


def set_up():
    """Creates a veth pair with both ends here, and a default route."""
    ip("link", "add", "c0", "type", "veth", "peer", "name", "r0")
    for end in ("c0", "r0"):
        ip("link", "set", end, "up")
    ip("addr", "add", "10.9.0.2/24", "dev", "c0")
    turn(1)


def turn(number):
    """Changes the gateway: one `path` event, without settle time."""
    ip("route", "replace", "default", "via", GATEWAYS[number % 2], "dev", "c0")
