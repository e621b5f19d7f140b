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

      gate:ID is a gate of a running service, which is requested every second; see
      --service.

      A command after -- replaces reachd when the condition holds (execve(2)): its
      process id, exit status, signals and streams are those of the command. The
      variable REACHD_WAITED_MS has the time waited in milliseconds. After the
      timeout it is not started. The exit code is 127 if it does not exist, 126 if
      it cannot be executed.

      EXAMPLES
        reachd wait default
        reachd wait route://db.internal route://10.0.0.9 --timeout 60s
        reachd wait db-a db-b --any
        reachd wait gate:app --service http://127.0.0.1:8080
        reachd wait tcp://db:5432 https://api/health --timeout 60s
        reachd wait 10.0.0.9 --not && echo 'the route is gone'
        reachd wait tcp://db:5432 --timeout 60s -- /usr/bin/app --port 80
      """)

  @Argument(help: "Targets: route://HOST, or HOST alone, or tcp://HOST:PORT and the like, or gate:ID.")
  var targets: [String]

  @Option(help: "The longest time to wait, such as 500ms, 30s or 2m.")
  var timeout = "30s"

  @Flag(help: "One of the targets is enough.")
  var any = false

  @Flag(name: .customLong("not"), help: "Wait until the targets are not reachable.")
  var negated = false

  @Option(help: "The timeout of one check.")
  var checkTimeout = "5s"

  @Option(
    help: "The service with the gates, such as http://127.0.0.1:8080; default: REACHD_URL, or the configured one.")
  var service: String?

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
    let gates = targets.filter { $0.hasPrefix(Self.gatePrefix) }.map { String($0.dropFirst(Self.gatePrefix.count)) }
    for id in gates where !TargetSpec.isID(id) {
      throw ValidationError(
        "\(id.debugDescription) is not the id of a gate; expected 1 to 68 of a-z, 0-9, dot, underscore and hyphen")
    }
    guard service == nil || !gates.isEmpty else {
      throw ValidationError("--service is for gates; name one as gate:ID")
    }
    _ = try client()
    for text in targets where !text.hasPrefix(Self.gatePrefix) { _ = try Self.target(text) }
  }

  mutating func run() async throws {
    let targets = try self.targets.filter { !$0.hasPrefix(Self.gatePrefix) }.map { text throws in
      try Self.target(text)
    }
    let gates = GateWait(
      ids: self.targets.filter { $0.hasPrefix(Self.gatePrefix) }.map { String($0.dropFirst(Self.gatePrefix.count)) },
      client: try client(), source: source, isAny: any, isNegated: negated)
    let timeLimit = DurationFormat.parse(timeout) ?? .zero
    let count = targets.count + gates.ids.count
    let progress = Progress("waiting for", of: count, isCounted: false, limit: timeout)
    let monitor = targets.isEmpty ? nil : try startedMonitor(targets)
    defer { monitor?.stop() }
    let outcomes = await progress.during { await wait(for: targets, monitor, gates, timeLimit) }
    if let failure = outcomes.compactMap(\.failure).first { throw failure }
    let isFulfilled = any ? outcomes.contains(where: \.isFulfilled) : outcomes.allSatisfy(\.isFulfilled)
    let results = outcomes.flatMap(\.results)
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

  private func startedMonitor(_ targets: [CheckTarget]) throws -> ReachabilityMonitor {
    let configuration = try source.sources().loadOrExit()
    try ExitStatus.requireTLS(targets.contains { $0.scheme == .https })
    return try configuration.makeStartedMonitor(isRequired: targets.contains { $0.scheme == .route })
  }

  /// The last result for one target.
  struct Result: Sendable {
    var target: String
    var outcome: WaitFormatter.Outcome
    /// Why the target does not fulfil the condition; nil when it does.
    var diagnostic: String?
  }

  func routes(_ targets: [CheckTarget], _ monitor: ReachabilityMonitor, _ timeLimit: Duration) async
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
        return Result(
          target: target.redacted, outcome: .host(nil), diagnostic: "\(target.host): no verdict within \(timeout)")
      }
      // Without addresses, the default route is evaluated in place of the host's.
      let doubt = verdict.phase == .optimistic ? "the name is not resolved; default path: " : ""
      let diagnostic = isSatisfied(verdict) ? nil : "\(verdict.target): \(doubt)\(UpdateFormatter.line(verdict))"
      return Result(target: target.redacted, outcome: .host(verdict), diagnostic: diagnostic)
    }
    return (outcome.isFulfilled, results)
  }

  func checks(_ targets: [CheckTarget], _ checker: Checker, _ timeLimit: Duration) async
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
      return Result(target: target.redacted, outcome: .check(outcome), diagnostic: isSatisfied(outcome) ? nil : text)
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
