import Testing

@testable import Service

/// Warnings about environment variables that look like settings.
@Suite struct UnknownVariablesTests {
  @Test(arguments: [
    ("REACHD_ACCESS_READ", "REACHD_ACCESS_READS"), ("REACHD_LISTN", "REACHD_LISTEN"),
    ("REACHD_DRAINDELAY", "REACHD_DRAIN_DELAY"),
  ])
  func misspelledVariableIsReported(name: String, meant: String) {
    #expect(
      UnknownVariables.warnings([name: "x", "HOME": "/"]) == [
        "unknown environment variable \(name) (did you mean \(meant)?)"
      ])
  }

  @Test func unknownVariableIsReported() {
    #expect(
      UnknownVariables.warnings(["REACHD_TARGETS_FOR_ALL": ""]) == [
        "unknown environment variable REACHD_TARGETS_FOR_ALL, which is ignored"
      ])
  }

  @Test func knownAndKubernetesVariablesAreIgnored() {
    var environment = [
      "REACHD_CONFIG": "/etc/reachd.yaml", "REACHD_TOKEN": "x", "REACHD_URL": "http://a",
      "REACHD_SERVICE_HOST": "10.0.0.1", "REACHD_PORT": "tcp://10.0.0.1:8080", "REACHD_PORT_8080_TCP_PROTO": "tcp",
      "REACHDX": "1", "PATH": "/bin",
    ]
    for setting in Setting.all { environment[setting.variable] = "x" }
    #expect(UnknownVariables.warnings(environment).isEmpty)
  }
}
