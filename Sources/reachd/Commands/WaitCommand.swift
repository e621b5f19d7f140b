internal import ArgumentParser
internal import Logging
internal import ReachabilityChecks
internal import Service
internal import StatusClient

/// `reachd wait`: blocks scripts and init containers until a host is reachable.
struct WaitCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "wait",
    abstract: "Wait until targets are reachable: exit 0 when they are, 1 after the timeout, 2 undetermined.",
    usage: "reachd wait TARGET ... [OPTIONS] [-- COMMAND [ARGUMENT ...]]",
    discussion: """
      A target is route://HOST, or HOST alone: a name, an address, default or
      local-link. The verdict follows from the kernel's routes and events, without a
      service and without a packet to the host. A name must be resolved.

      Or it is a target of reachd check: tcp://HOST:PORT, https://HOST/PATH,
      icmp://HOST and others. These are checked every second, and immediately when
      the route to them changes.

      A command after -- replaces reachd when the condition holds (execve(2)): its
      process id, exit status, signals and streams are those of the command. The
      variable REACHD_WAITED_MS has the time waited in milliseconds. After the
      timeout it is not started. The exit code is 127 if it does not exist, 126 if
      it cannot be executed.

      EXAMPLES
        reachd wait default
        reachd wait route://db.internal route://10.0.0.9 --timeout 60s
        reachd wait db-a db-b --any
        reachd wait tcp://db:5432 https://api/health --timeout 60s
        reachd wait 10.0.0.9 --not && echo 'the route is gone'
        reachd wait tcp://db:5432 --timeout 60s -- /usr/bin/app --port 80
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

  @Flag(help: "Print the last result of each target as JSON.")
  var json = false

  @OptionGroup var source: SourceOptions

  func validate() throws {
    guard !targets.isEmpty else {
      throw ValidationError("at least one target is required, such as default or route://db")
    }
    guard let timeLimit = DurationFormat.parse(timeout), timeLimit > .zero else {
      throw ValidationError(
        "--timeout must be a duration above zero of at most 8760h, such as 30s or 2m, got \(timeout.debugDescription)")
    }
    guard let longest = DurationFormat.parse(checkTimeout), longest > .zero else {
      throw ValidationError(
        "--check-timeout must be a duration above zero of at most 8760h, such as 5s, got \(checkTimeout.debugDescription)"
      )
    }
    for text in targets { _ = try Self.target(text) }
  }

  mutating func run() async throws {
    let targets = try self.targets.map { text throws in try Self.target(text) }
    let configuration = try source.sources().loadOrExit()
    try ExitStatus.requireTLS(targets.contains { $0.scheme == .https })
    let monitor = try configuration.makeStartedMonitor(isRequired: targets.contains { $0.scheme == .route })
    defer { monitor.stop() }
    let timeLimit = DurationFormat.parse(timeout) ?? .zero
    let progress = Progress("waiting for", of: targets.count, isCounted: false, limit: timeout)
    let (isFulfilled, results) = await progress.during {
      // Routes alone need no periodic checks, because the kernel reports their changes.
      targets.allSatisfy { $0.scheme == .route }
        ? await routes(targets, monitor, timeLimit) : await checks(targets, Checker(monitor: monitor), timeLimit)
    }
    if json {
      Terminal.line(
        WaitFormatter.json(isFulfilled: isFulfilled, results.map { ($0.target, $0.diagnostic == nil, $0.outcome) }))
    }
    if isFulfilled { return }
    // One line per cause, because the script's log is often the only information.
    let diagnostics = results.compactMap(\.diagnostic)
    Terminal.writeError("reachd: timeout after \(timeout), pending: \(diagnostics.count) of \(results.count) targets")
    for diagnostic in diagnostics { Terminal.writeError("reachd: \(diagnostic)") }
    throw ExitStatus.negative
  }

  /// The last result for one target.
  private struct Result {
    var target: CheckTarget
    var outcome: WaitFormatter.Outcome
    /// Why the target does not fulfil the condition; nil when it does.
    var diagnostic: String?
  }

  /// Waits for routes to hosts.
  private func routes(_ targets: [CheckTarget], _ monitor: ReachabilityMonitor, _ timeLimit: Duration) async
    -> (isFulfilled: Bool, results: [Result])
  {
    let (any, negated) = (any, negated)
    // An unknown verdict satisfies neither condition.
    @Sendable func isSatisfied(_ verdict: HostVerdict) -> Bool {
      negated ? verdict.path.status == .notReachable : verdict.isConfirmedReachable
    }
    let outcome = await monitor.wait(for: targets.map(\.host), timeout: timeLimit) { verdicts in
      any ? verdicts.contains(where: isSatisfied) : verdicts.allSatisfy(isSatisfied)
    }
    var seen: Set<ReachabilityTarget> = []
    let results = targets.filter { seen.insert($0.host).inserted }.map { target in
      guard let verdict = outcome.verdicts.first(where: { $0.target == target.host }) else {
        return Result(target: target, outcome: .host(nil), diagnostic: "\(target.host): no verdict within \(timeout)")
      }
      // Without addresses, the default route is evaluated in place of the host's.
      let doubt = verdict.phase == .optimistic ? "the name is not resolved; default path: " : ""
      let diagnostic = isSatisfied(verdict) ? nil : "\(verdict.target): \(doubt)\(UpdateFormatter.line(verdict))"
      return Result(target: target, outcome: .host(verdict), diagnostic: diagnostic)
    }
    return (outcome.isFulfilled, results)
  }

  /// Waits for check results.
  private func checks(_ targets: [CheckTarget], _ checker: Checker, _ timeLimit: Duration) async
    -> (isFulfilled: Bool, results: [Result])
  {
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
    let results = zip(targets, outcome.outcomes).map { target, outcome in
      let text = outcome.map { CheckFormatter.line($0) } ?? "\(target.redacted): no outcome within \(timeout)"
      return Result(target: target, outcome: .check(outcome), diagnostic: isSatisfied(outcome) ? nil : text)
    }
    return (outcome.isFulfilled, results)
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
