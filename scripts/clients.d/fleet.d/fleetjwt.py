"""Runs a fleet whose users are JWTs: a scoped signing key gives each agent the permissions of its name.

The permissions are those that `reachd-fleet config engine` prints. An agent that lies about its id, and a client with an
agent's credentials that publishes and subscribes as another one, must be refused.
"""
import asyncio
import base64
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import fleetnet
import nats
import nkeys
from fleetnet import HOST, Listener, Member, define, expect, request, wait

PROGRAM = sys.argv[1] + "-fleet"
LIMITS = {"subs": 100, "data": -1, "payload": 262_144}
ACCOUNT_LIMITS = {"subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": True, "conn": -1, "leaf": 0}
STORAGE = {"mem_storage": 0, "disk_storage": 1 << 30, "streams": 1, "consumer": -1}


class Key:
    """A key pair as `nsc` makes it."""

    def __init__(self, kind):
        self.seed = bytes(nkeys.encode_seed(os.urandom(32), kind))
        self.pair = nkeys.from_seed(bytearray(self.seed))
        self.public = self.pair.public_key.decode()

    def sign(self, subject, name, nats_claims):
        """A JWT for a public key, in the format of github.com/nats-io/jwt, version 2."""
        claims = {"jti": base64.b32encode(os.urandom(32)).decode().rstrip("="), "iat": int(time.time()), "iss": self.public,
                  "name": name, "sub": subject, "nats": {**nats_claims, "version": 2}}
        parts = [{"typ": "JWT", "alg": "ed25519-nkey"}, claims]
        text = ".".join(encoded(json.dumps(part).encode()) for part in parts)
        return f"{text}.{encoded(self.pair.sign(text.encode()))}"


def encoded(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def permissions(name):
    """What `config engine` permits a member, with the function of a scoped signing key in place of an agent's name."""
    text = subprocess.run([PROGRAM, "config", "engine", "--replica=replica1", "--agent=anyone"],
                          check=True, capture_output=True, text=True).stdout
    user = text[text.index(f'user: "{name}"'):]
    lists = [json.loads(re.search(word + r": (\[.*\])", user)[1]) for word in ("publish", "subscribe")]
    publish, subscribe = ([each.replace("anyone", "{{name()}}") for each in subjects] for subjects in lists)
    return {"pub": {"allow": publish}, "sub": {"allow": subscribe}}


class Tokens:
    """An operator, an account with a scoped signing key, and credentials of members."""

    def __init__(self, work):
        self.work = work
        operator, system, account, self.agents = (Key(kind) for kind in (
            nkeys.PREFIX_BYTE_OPERATOR, nkeys.PREFIX_BYTE_ACCOUNT, nkeys.PREFIX_BYTE_ACCOUNT, nkeys.PREFIX_BYTE_ACCOUNT))
        self.account = account
        scope = {"kind": "user_scope", "key": self.agents.public, "role": "agent", "template": {**permissions("anyone"), **LIMITS}}
        tokens = {
            system.public: operator.sign(system.public, "SYS", {"type": "account", "limits": ACCOUNT_LIMITS}),
            account.public: operator.sign(account.public, "FLEET", {
                "type": "account", "limits": {**ACCOUNT_LIMITS, **STORAGE}, "signing_keys": [scope]}),
        }
        own = operator.sign(operator.public, "fleet", {"type": "operator", "system_account": system.public})
        preload = "\n".join(f"  {key}: {token}" for key, token in tokens.items())
        self.configuration = (f"operator: {own}\nsystem_account: {system.public}\nresolver: MEMORY\n"
                              f"resolver_preload: {{\n{preload}\n}}\n")

    def credentials(self, name, is_agent=True):
        """A `.creds` file; an agent's user has no permissions of its own, those of the scope count."""
        user = Key(nkeys.PREFIX_BYTE_USER)
        signer, more = (self.agents, {}) if is_agent else (self.account, {**permissions(name), **LIMITS})
        token = signer.sign(user.public, name, {"type": "user", "issuer_account": self.account.public, **more})
        file = self.work / f"{name}.creds"
        file.write_text(f"-----BEGIN NATS USER JWT-----\n{token}\n------END NATS USER JWT------\n\n"
                        f"-----BEGIN USER NKEY SEED-----\n{user.seed.decode()}\n------END USER NKEY SEED------\n", encoding="ascii")
        file.chmod(0o600)
        return file


async def tries_as_another(credentials):
    """What the server refuses a client with the credentials of `node1`."""
    refused = []

    async def collect(error):
        refused.append(str(error))

    client = await nats.connect(f"nats://{HOST}:4222", user_credentials=str(credentials), error_cb=collect,
                                inbox_prefix=b"_INBOX.agent.node1")
    publications = ["rx2.in.node2", "rx2.hb.node2", "rx2.ev.node1", "rx2.verdict.web", "rx2.ask.node2", "$JS.API.STREAM.INFO.RX2",
                    "$JS.API.STREAM.DELETE.RX2", "_INBOX.replica.x", "_INBOX.agent.node2.x"]
    subscriptions = [">", "rx2.>", "rx2.in.*", "rx2.ask.*", "rx2.hb.*", "_INBOX.>", "_ANSWER.>", "$SYS.>"]
    for subject in publications:
        await client.publish(subject, b"x")
    for subject in subscriptions:
        await client.subscribe(subject)
    await client.flush()
    deadline = time.monotonic() + fleetnet.PATIENCE
    while len(refused) < len(publications) + len(subscriptions) and time.monotonic() < deadline:
        await asyncio.sleep(0.05)
    await client.close()
    for subject in publications + subscriptions:
        if not any(f'"{subject}"'.lower() in each.lower() for each in refused):
            raise SystemExit(f"fleetjwt: {subject} was not refused: {refused}")


def main():
    Listener()
    fleetnet.add_bridge()
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        tokens = Tokens(work)
        (work / "nats.conf").write_text(
            f'server_name: fleet\nlisten: "{HOST}:4222"\njetstream {{ store_dir: "{work}/engine" }}\n{tokens.configuration}',
            encoding="ascii")
        node1 = tokens.credentials("node1")
        engine = subprocess.Popen([fleetnet.SERVER, "-c", work / "nats.conf", "-l", work / "nats.log"])
        members = []
        try:
            replica1 = tokens.credentials("replica1", is_agent=False)
            members.append(Member(PROGRAM, work, "replica1", "replica", "a", None, replica1))
            wait("a replica", fleetnet.is_ready)
            members.append(Member(PROGRAM, work, "node1", "agent", "a", 2, node1))
            wait("the agent", lambda: request("GET", "/fleet")["agents"]["present"] == 1)
            define("web", HOST)
            expect("web", "up")
            # An agent whose id is not the name in its JWT.
            members.append(Member(PROGRAM, work, "node2", "agent", "a", 3, node1))
            wait("a refusal", lambda: "Permissions Violation" in members[-1].log.read_text())
            asyncio.run(tries_as_another(node1))
            agents = request("GET", "/fleet")["agents"]
            if agents != {"present": 1, "lost": 0}:
                raise SystemExit(f"fleetjwt: {agents}")
        except BaseException:
            for file in work.glob("*.log"):
                print(f"{file.name}:\n{file.read_text()[-3000:]}", file=sys.stderr)
            raise
        finally:
            for member in members:
                member.stop()
            engine.terminate()
            engine.wait(10)
    print("fleetjwt: passed")


if __name__ == "__main__":
    main()
