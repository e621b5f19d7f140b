"""Validates a compose file against the Compose Specification: compose.py FILE."""
import json
import re
import sys

import compose_spec
import yaml

# As in compose, variables get their defaults and YAML merge keys are resolved first; unknown keys are errors.
with open(sys.argv[1], encoding="utf-8") as file:
    text = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", file.read())
names = compose_spec.PyCompose.from_json(json.dumps(yaml.safe_load(text))).service_names()
print(f"{sys.argv[1]}: {', '.join(names)}")
