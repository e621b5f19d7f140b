"""Applies a manifest's probes to a container as the kubelet does: periods, thresholds and their effects."""
import subprocess
import time


class Probe:
    """One probe of the manifest, with the kubelet's defaults and counters."""

    def __init__(self, spec, container, address):
        get = spec["httpGet"]
        ports = {port.get("name"): port["containerPort"] for port in container.get("ports", [])}
        self.port = ports.get(get["port"], get["port"])
        self.host = get.get("host", address)
        self.path = get.get("path", "/")
        self.period = spec.get("periodSeconds", 10)
        self.delay = spec.get("initialDelaySeconds", 0)
        self.timeout = spec.get("timeoutSeconds", 1)
        self.success_threshold = spec.get("successThreshold", 1)
        self.failure_threshold = spec.get("failureThreshold", 3)
        self.passed = self.failed = 0

    def ask(self, namespace):
        """One request from a namespace; 200 to 399 is a success."""
        code = subprocess.run(
            ["ip", "netns", "exec", namespace, "curl", "-s", "-o", "/dev/null", "-w", "%{http_code}",
             "--max-time", str(self.timeout), f"http://{self.host}:{self.port}{self.path}"],
            capture_output=True, text=True).stdout
        return code.isdigit() and 200 <= int(code) < 400

    def observe(self, is_success):
        """Counts a result: returns True or False when a threshold is reached, None before."""
        self.passed = self.passed + 1 if is_success else 0
        self.failed = 0 if is_success else self.failed + 1
        if self.passed >= self.success_threshold:
            return True
        return False if self.failed >= self.failure_threshold else None


class Kubelet:
    """The kubelet's state of one container; a tick is a second, of which a smaller part may pass (`pace`)."""

    def __init__(self, container, namespace, address):
        def probe(name):
            return Probe(container[name], container, address) if name in container else None

        self.namespace = namespace
        self.startup, self.readiness, self.liveness = map(probe, ("startupProbe", "readinessProbe", "livenessProbe"))
        self.is_started = self.startup is None
        self.is_ready = False
        self.restarts = []
        self.second = 0

    def tick(self, pace=1):
        """Runs the probes that are due in this second; only the startup probe until it has passed."""
        begun = time.monotonic()
        if not self.is_started:
            answer = self._answer(self.startup)
            if answer is False:
                self.restarts.append("startup")
            self.is_started = answer is True
        else:
            answer = self._answer(self.readiness)
            if answer is not None:
                self.is_ready = answer
            if self._answer(self.liveness) is False:
                self.restarts.append("liveness")
                self.liveness.failed = 0
        self.second += 1
        time.sleep(max(0, begun + pace - time.monotonic()))

    def _answer(self, probe):
        if probe is None or self.second < probe.delay or (self.second - probe.delay) % probe.period:
            return None
        return probe.observe(probe.ask(self.namespace))

    def until(self, condition, seconds):
        """Ticks until a condition holds; returns False after the timeout."""
        for _ in range(seconds):
            if condition():
                return True
            self.tick()
        return condition()
