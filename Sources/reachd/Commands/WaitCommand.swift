internal import ArgumentParser
internal import Logging
internal import NetworkReachability
internal import ReachabilityChecks
internal import Service
internal import StatusAPI

/// `reachd wait`: blocks scripts and init containers until a host is reachable.
struct WaitCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "wait",
    abstract: "Wait until targets are reachable: exit 0 when they are, 1 after the timeout, 2 undetermined.",
    discussion: """
      A target is route://HOST, or HOST alone: a name, an address, default or local-link. The verdict follows from the
      kernel's routes and events, without a service and without a packet to the host. A name must be resolved.

      Or it is a target of reachd check: tcp://HOST:PORT, https://HOST/PATH, icmp://HOST and others. These are checked
      every second, and immediately when the route to them changes.

      EXAMPLES
        reachd wait default
        reachd wait route://db.internal route://10.0.0.9 --timeout 60s
        reachd wait db-a db-b --any
        reachd wait tcp://db:5432 https://api/health --timeout 60s
        reachd wait 10.0.0.9 --not && echo 'the route is gone'
      """)

  @Argument(help: "Targets: route://HOST, or HOST alone, or tcp://HOST:PORT and the like.")
  var targets: [String]

  @Option(help: "The longest time to wait, such as 500ms, 30s or 2m.")
  var timeout = "30s"

  @Flag(help: "One of the targets is enough.")
  var any = false

  @Flag(name: .customLong("not"), help: "Wait until the targets are not reachable.")
  var negated = false

  @Option(help: "The timeout of one check.")
  var checkTimeout = "5s"

  @OptionGroup var source: SourceOptions

  func validate() throws {
    guard !targets.isEmpty else { throw ValidationError("Give at least one target, such as default or route://db.") }
    guard let timeLimit = DurationFormat.parse(timeout), timeLimit > .zero else {
      throw ValidationError("--timeout is above zero, such as 500ms, 30s or 2m; reachd check checks once.")
    }
    guard let longest = DurationFormat.parse(checkTimeout), longest > .zero else {
      throw ValidationError("--check-timeout is a duration, such as 500ms or 5s.")
    }
    for text in targets { _ = try Self.target(text) }
  }

  mutating func run() async throws {
    let targets = try self.targets.map { text throws in try Self.target(text) }
    let configuration = try source.sources().loadOrExit()
    let monitor = try configuration.makeStartedMonitor()
    defer { monitor.stop() }
    let timeLimit = DurationFormat.parse(timeout) ?? .zero
    // Routes alone need no periodic checks, because the kernel reports their changes.
    let diagnostics =
      targets.allSatisfy { $0.scheme == .route }
      ? await routes(targets.map(\.host), monitor, timeLimit)
      : await checks(targets, Checker(monitor: monitor), timeLimit)
    guard let diagnostics else { return }
    // One line per cause, because the script's log is often the only information.
    for diagnostic in diagnostics { Terminal.writeError("reachd: \(diagnostic)") }
    throw ExitStatus.negative
  }

  /// Waits for routes to hosts; returns the causes of failure after the timeout.
  private func routes(_ targets: [ReachabilityTarget], _ monitor: ReachabilityMonitor, _ timeLimit: Duration) async
    -> [String]?
  {
    let (any, negated) = (any, negated)
    // An unknown verdict satisfies neither condition.
    @Sendable func isSatisfied(_ verdict: HostVerdict) -> Bool {
      negated ? verdict.path.status == .notReachable : verdict.isConfirmedReachable
    }
    let outcome = await monitor.wait(for: targets, timeout: timeLimit) { verdicts in
      any ? verdicts.contains(where: isSatisfied) : verdicts.allSatisfy(isSatisfied)
    }
    if outcome.isFulfilled { return nil }
    return outcome.verdicts.filter { !isSatisfied($0) }.map { verdict in
      // Without addresses, the default route is evaluated in place of the host's.
      let doubt = verdict.phase == .optimistic ? "the name is not resolved; default path: " : ""
      return "\(verdict.target): \(doubt)\(UpdateFormatter.line(verdict))"
    }
  }

  /// Waits for check results; returns the causes of failure after the timeout.
  private func checks(_ targets: [CheckTarget], _ checker: Checker, _ timeLimit: Duration) async -> [String]? {
    let (any, negated) = (any, negated)
    let longest = DurationFormat.parse(checkTimeout) ?? .seconds(5)
    @Sendable func isSatisfied(_ outcome: CheckOutcome?) -> Bool {
      outcome.map { negated ? $0.isConfirmedDown : $0.result.state == .up } ?? false
    }
    let outcome = await checker.wait(
      for: targets.map { CheckRequest($0, timeout: longest) }, timeout: timeLimit
    ) { outcomes in
      any ? outcomes.contains(where: isSatisfied) : outcomes.allSatisfy(isSatisfied)
    }
    if outcome.isFulfilled { return nil }
    return zip(targets, outcome.outcomes).filter { !isSatisfied($1) }.map { target, outcome in
      outcome.map { CheckFormatter.line($0) } ?? "\(target.redacted): no outcome within \(timeout)"
    }
  }

  private static func target(_ text: String) throws -> CheckTarget {
    do throws(TargetError) {
      return try CheckTarget(text.contains("://") ? text : "route://\(text)")
    } catch {
      throw ValidationError("\(Redaction.redacted(text)): \(error)")
    }
  }
}

extension CheckOutcome {
  /// Whether the target was contacted and failed, or has no route.
  fileprivate var isConfirmedDown: Bool { result.state == .down || result.state == .unreachable }
}
