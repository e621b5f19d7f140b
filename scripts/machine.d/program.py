"""A program that was built on this machine, and what it needs in a root."""
import os
import pathlib
import re
import subprocess

from report import Skipped


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def owner(library):
    """The Debian package of a library; None for one that no package has, such as Swift's own."""
    real = os.path.realpath(library)
    for path in (real, library, f"/usr{library}", real.removeprefix("/usr")):
        found = subprocess.run(["dpkg-query", "--search", path], capture_output=True, text=True, check=False)
        if found.returncode == 0:
            return found.stdout.split(":", 1)[0]
    return None


class Program:
    """The program, the Debian packages of its libraries, and the libraries of the toolchain that a debug build needs."""

    def __init__(self, path):
        self.path = pathlib.Path(path).resolve()
        if not self.path.is_file():
            raise Skipped(f"{path} is not built")
        self.packages, self.libraries = set(), set()
        libraries = dict(re.findall(r"(\S+) => (/\S+)", output("ldd", self.path)))
        waiting = [self.path]
        while waiting:
            for name in re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "--dynamic", waiting.pop())):
                library = libraries.get(name)
                if not library or library in self.libraries:
                    continue
                if package := owner(library):
                    # apt installs what this package needs.
                    self.packages.add(package)
                else:
                    self.libraries.add(library)
                    waiting.append(library)

    def install(self, root, destination):
        """Copies the program into a root that has its packages."""
        root.copy(self.path, destination)
        self.install_libraries(root)

    def install_libraries(self, root):
        """Copies the libraries that no package has."""
        for library in self.libraries:
            root.copy(library, library)
