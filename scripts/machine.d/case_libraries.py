"""The tests of the modules that wrap libraries, on a bare root: the release whose versions differ from those of this machine.

Everything is compiled, all tests included. It takes as long as a debug build.
"""
from case_build import SOURCE, checkout, toolchain

# Those that use libmicrohttpd, c-ares, libcurl, GnuTLS, SQLite, libnats, libyaml, PCRE2, zlib and the kernel's headers.
TARGETS = ("EmbeddedHTTPServerTests", "HostResolverTests", "CredentialsTests", "DatabaseTests", "JetStreamTests", "YAMLTreeTests",
           "TextSyntaxTests", "CompressionTests", "NetlinkTests")
# Seconds, on a busy machine.
LONGEST_BUILD = 3_600
LONGEST_TEST = 1_800
# Of the memory: the toolchain's packages and a debug build.
ROOT_SIZE = "8g"


def run(context):
    with context.root(size=ROOT_SIZE) as root:
        options = toolchain(root)
        checkout(root)
        root.run("sh", "-euc", f"cd {SOURCE}\nscripts/setup scripts/packages.txt scripts/packages-test.txt\nscripts/dependencies", **options)
        status, printed = root.enter("sh", "-euc", f"cd {SOURCE}\nREACHD_STRICT=1 swift build --build-tests", timeout=LONGEST_BUILD, **options)
        errors = [line for line in printed.splitlines() if "error:" in line]
        context.check(status == 0, "everything compiles, without warnings of its own", "\n".join(errors[:20]) or printed[-2000:])
        tests = f"^({'|'.join(TARGETS)})\\."
        status, printed = root.enter("sh", "-euc", f"cd {SOURCE}\nscripts/test --filter '{tests}'", timeout=LONGEST_TEST, **options)
        failed = [line for line in printed.splitlines() if line.startswith(("✘", "test: "))]
        context.check(status == 0, "the tests of modules that wrap libraries pass", "\n".join(failed[-40:]) or printed[-2000:])
