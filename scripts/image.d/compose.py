"""Holds a compose file to the Compose Specification: compose.py FILE."""
import json
import re
import sys

import compose_spec
import yaml

# Variables get their defaults and YAML's merge keys are resolved first, as by compose itself; unknown keys are refused.
with open(sys.argv[1], encoding="utf-8") as file:
    text = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", file.read())
names = compose_spec.PyCompose.from_json(json.dumps(yaml.safe_load(text))).service_names()
print(f"{sys.argv[1]}: {', '.join(names)}")
