import TestSupport

/// The configuration of nats-server that `reachd-fleet config engine` prints.
enum EngineAccounts {
  /// For some agents and replicas, whose passwords are `secret`, and a user `test` without limits.
  static func configuration(agents: [String], replicas: [String] = ["replica1"]) throws -> String {
    let arguments = agents.flatMap { ["--agent", $0] } + replicas.flatMap { ["--replica", $0] }
    let child = try Child(
      Program.path + "-fleet", ["config", "engine"] + arguments, environment: Program.environment())
    guard try child.wait() == .exited(0) else { throw TestError(child.errors) }
    return child.output.replacing(/\$[A-Z0-9_]+_PASSWORD/, with: "secret")
      .replacing("users: [", with: "users: [\n      { user: test, password: secret }", maxReplacements: 1)
  }
}
