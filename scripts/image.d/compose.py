"""Holds a compose file to the Compose Specification: compose.py FILE."""
import json
import sys

import compose_spec
import yaml

# The merge keys are YAML's affair and are resolved first; unknown keys are refused.
with open(sys.argv[1], encoding="utf-8") as text:
    names = compose_spec.PyCompose.from_json(json.dumps(yaml.safe_load(text))).service_names()
print(f"{sys.argv[1]}: {', '.join(names)}")
