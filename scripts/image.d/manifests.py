"""Checks what a schema does not: python manifests.py FILE, with the output of `kubectl kustomize`.

Manifests must fit clusters that differ from the usual ones: with nodes of other operating systems, with IPv6 addresses, with a
name server on another port, with quotas for critical pods.
"""
import sys

import yaml


def problems(documents):
    quotas = [value for each in documents if each["kind"] == "ResourceQuota"
              for scope in each["spec"]["scopeSelector"]["matchExpressions"] for value in scope["values"]]
    for document in documents:
        name = f"{document['kind']} {document['metadata']['name']}"
        spec = document.get("spec", {}).get("template", {}).get("spec")
        if spec:
            priority = spec.get("priorityClassName", "")
            if priority.startswith("system-") and priority not in quotas:
                yield f"{name}: {priority} needs a ResourceQuota outside of kube-system"
            if spec.get("nodeSelector", {}).get("kubernetes.io/os") != "linux":
                yield f"{name}: nodeSelector must have kubernetes.io/os: linux"
            if "env" in str(spec["containers"]) and spec.get("enableServiceLinks", True):
                yield f"{name}: enableServiceLinks must be false"
            for container in spec["containers"]:
                for variable in container.get("env", []):
                    value = variable.get("value", "")
                    if "_ADDRESS):" in value:
                        yield f"{name}: {variable['name']}={value} needs brackets around the address"
        if document["kind"] == "NetworkPolicy":
            rules = document["spec"].get("egress", [])
            ports = {(port["protocol"], port["port"]) for rule in rules for port in rule.get("ports", [])}
            missing = {(protocol, port) for protocol in ("UDP", "TCP") for port in (53, 5353)} - ports
            if rules and missing:
                yield f"{name}: name servers may listen on {sorted(missing)}"
        if document["kind"] == "Service" and document["metadata"]["name"].startswith("reachd-"):
            yield f"{name}: the variables that Kubernetes derives from the name begin like settings (REACHD_)"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        found = list(problems([each for each in yaml.safe_load_all(file) if each]))
    for problem in found:
        print(f"manifests: {problem}", file=sys.stderr)
    sys.exit(bool(found))


main()
