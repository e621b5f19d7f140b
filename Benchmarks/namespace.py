"""A network namespace for this process, with one interface that generates events."""
import ctypes
import os
import socket
import subprocess

CLONE_NEWNET = 0x40000000


def enter_new_namespace(prefix="10.9.0.2/24"):
    """Loopback, and `c0` with an address; returns the index of `c0`."""
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET):
        raise SystemExit("unshare: " + os.strerror(ctypes.get_errno()))
    for command in ("link set lo up", "link add c0 type veth peer name r0", "link set c0 up", "link set r0 up",
                    f"addr add {prefix} dev c0"):
        subprocess.run(["ip", *command.split()], check=True)
    return socket.if_nametoindex("c0")
