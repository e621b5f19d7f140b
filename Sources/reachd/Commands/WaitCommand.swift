internal import ArgumentParser
internal import Logging
internal import NetworkReachability
internal import ReachabilityChecks
internal import Service
internal import StatusAPI

/// `reachd wait`: for scripts and init containers that must not go on before a host can be reached.
struct WaitCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "wait",
    abstract: "Wait until targets can be reached: exit 0 then, 1 when the time is over, 2 could not tell.",
    discussion: """
      A target is route://HOST, or HOST alone: a name, an address, default or local-link. It is judged by the kernel's
      routes, from the kernel's own events, without a service and without a packet to the host. A name must be resolved.

      Or it is what reachd check asks: tcp://HOST:PORT, https://HOST/PATH, icmp://HOST and others. These are asked every
      second, and at once when the way to them changes.

      EXAMPLES
        reachd wait default
        reachd wait route://db.internal route://10.0.0.9 --timeout 60s
        reachd wait db-a db-b --any
        reachd wait tcp://db:5432 https://api/health --timeout 60s
        reachd wait 10.0.0.9 --not && echo 'the way is gone'
      """)

  @Argument(help: "Targets: route://HOST, or HOST alone, or tcp://HOST:PORT and the like.")
  var targets: [String]

  @Option(help: "How long to wait at the most, such as 500ms, 30s or 2m.")
  var timeout = "30s"

  @Flag(help: "One of the targets is enough.")
  var any = false

  @Flag(name: .customLong("not"), help: "Wait until they can not be reached.")
  var negated = false

  @Option(help: "How long one check may take.")
  var checkTimeout = "5s"

  @OptionGroup var source: SourceOptions

  func validate() throws {
    guard !targets.isEmpty else { throw ValidationError("Give at least one target, such as default or route://db.") }
    guard let timeLimit = DurationFormat.parse(timeout), timeLimit > .zero else {
      throw ValidationError("--timeout is above zero, such as 500ms, 30s or 2m; reachd check asks just once.")
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
    // Routes alone need no clock: the kernel tells when they change.
    let diagnostics =
      targets.allSatisfy { $0.scheme == .route }
      ? await routes(targets.map(\.host), monitor, timeLimit)
      : await checks(targets, Checker(monitor: monitor), timeLimit)
    guard let diagnostics else { return }
    // What stood in the way is worth a line each: the script's log is all that its reader has.
    for diagnostic in diagnostics { Terminal.writeError("reachd: \(diagnostic)") }
    throw ExitStatus.negative
  }

  /// Waits for the way to hosts; gives what stood in the way if the time was over.
  private func routes(_ targets: [ReachabilityTarget], _ monitor: ReachabilityMonitor, _ timeLimit: Duration) async
    -> [String]?
  {
    let (any, negated) = (any, negated)
    // What is not known is neither.
    @Sendable func isSatisfied(_ verdict: HostVerdict) -> Bool {
      negated ? verdict.path.status == .notReachable : verdict.isConfirmedReachable
    }
    let outcome = await monitor.wait(for: targets, timeout: timeLimit) { verdicts in
      any ? verdicts.contains(where: isSatisfied) : verdicts.allSatisfy(isSatisfied)
    }
    if outcome.isFulfilled { return nil }
    return outcome.verdicts.filter { !isSatisfied($0) }.map { verdict in
      // The way out is judged in the place of one that nobody knows.
      let doubt = verdict.phase == .optimistic ? "its name is not resolved; the way out: " : ""
      return "\(verdict.target): \(doubt)\(UpdateFormatter.line(verdict))"
    }
  }

  /// Waits for answers; gives what stood in the way if the time was over.
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
      return try CheckTarget(text)
    } catch {
      throw ValidationError("\(Redaction.redacted(text)): \(error)")
    }
  }
}

extension CheckOutcome {
  /// It was asked and did not answer, or there is no way to it.
  fileprivate var isConfirmedDown: Bool { result.state == .down || result.state == .unreachable }
}
