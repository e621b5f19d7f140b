internal import ArgumentParser
internal import Logging
internal import ReachabilityChecks
internal import Service
internal import StatusAPI
internal import StatusClient

/// `reachd check`: checks targets once, from this machine, without a service.
struct CheckCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Check targets: exit 0 all are up, 1 at least one is not, 2 undetermined.",
    usage: "reachd check TARGET ... [OPTIONS]",
    discussion: """
      A target is tcp://HOST:PORT, icmp://HOST, http:// or https://HOST/PATH,
      tls://HOST:PORT, dns://SERVER/NAME?type=A, or route://HOST, which sends no
      packet. HOST:PORT alone is tcp://HOST:PORT, HOST alone is icmp://HOST. Several
      targets are checked concurrently, and printed in order of completion.

      EXAMPLES
        reachd check db:5432
        reachd check 10.0.0.1 --count 5
        reachd check https://api.internal/health --explain
        reachd check tcp://[2001:db8::1]:22 --ip 6 --timeout 500ms
      """)

  @Argument(help: "Targets, such as tcp://db:5432, db:5432 or 10.0.0.1.")
  var targets: [String]

  @Flag(help: "Print each step between this machine and the target.")
  var explain = false

  @Flag(help: "Print JSON Lines.")
  var json = false

  @Option(help: "The timeout of one check, such as 500ms or 5s.")
  var timeout = "5s"

  @Option(help: "The module; default: the one for the target's scheme.")
  var module: String?

  @Option(help: "The number of ICMP echo requests to send, or of checks to make.")
  var count: Int?

  @Option(
    help: "The addresses of a name to check: any, 4, 6 or both.", completion: .list(["any", "4", "6", "both"]))
  var ip: String?

  @Option(help: "The outgoing interface.", completion: .shellCommand("ls /sys/class/net"))
  var interface: String?

  @Option(name: .customLong("source"), help: "The source address.")
  var sourceAddress: String?

  @OptionGroup var color: ColorOption
  @OptionGroup var source: SourceOptions

  func validate() throws {
    guard !targets.isEmpty else { throw ValidationError("at least one target is required, such as tcp://db:5432") }
    // `run()` validates the module, after it has read the configuration.
    _ = try forEachTarget { parameters throws(CheckPlan.InvalidParameters) in try CheckPlan.validate(parameters) }
  }

  mutating func run() async throws {
    let configuration = try source.sources().loadOrExit()
    let own = Dictionary(configuration.modules.map { ($0.name, $0) }) { $1 }
    let modules = CheckPlan.builtInModules.merging(own) { $1 }
    let plans = try makePlans(modules)
    try ExitStatus.requireTLS(plans.contains(where: \.usesHTTPS))
    // A route is unknown without the kernel; the result of any other check does not need it.
    let monitor = try configuration.makeStartedMonitor(isRequired: false)
    defer { monitor.stop() }
    let checker = Checker(monitor: monitor)
    var states: [CheckResult.State] = []
    let progress = Progress("checking", of: plans.count, isCounted: true)
    await progress.during {
      await withTaskGroup(of: [CheckOutcome].self) { group in
        for plan in plans { group.addTask { await plan.run(checker) } }
        for await outcomes in group {
          progress.advance { print(outcomes, monitor) }
          states += outcomes.map(\.result.state)
        }
      }
    }
    if states.contains(where: { $0 == .down || $0 == .unreachable }) { throw ExitStatus.negative }
    if !states.allSatisfy({ $0 == .up }) { throw ExitStatus.undetermined }
  }

  /// Makes the plans with the modules of the configuration; an error names the help of this command, not of the program.
  private func makePlans(_ modules: [String: CheckModule]) throws -> [CheckPlan] {
    do {
      return try forEachTarget { parameters throws(CheckPlan.InvalidParameters) in
        try CheckPlan(parameters, modules: modules, policy: nil)
      }
    } catch let error as ValidationError {
      Terminal.writeError("Error: \(error)")
      Terminal.writeError("Usage: \(Self.configuration.usage ?? "")")
      Terminal.writeError("  See 'reachd check --help' for more information.")
      throw ExitCode.validationFailure
    }
  }

  /// Adds the default scheme to a host, or to a host with a port.
  static func withScheme(_ text: String) -> String {
    // One with a path needs its scheme, and `http:/host` is not the port "/host" of a host `http`.
    guard !text.isEmpty, !text.contains("/") else { return text }
    // These are routes, not hosts.
    if ["default", "local-link"].contains(text) { return "route://" + text }
    let bracket = text.lastIndex(of: "]") ?? text.startIndex
    let colons = text[bracket...].count { $0 == ":" }
    // Two colons without brackets are an IPv6 address, which has no port.
    return (colons == 1 ? "tcp://" : "icmp://") + text
  }

  private func forEachTarget<Result>(
    _ body: (CheckPlan.Parameters) throws(CheckPlan.InvalidParameters) -> Result
  ) throws -> [Result] {
    try targets.map { target in
      let parameters = CheckPlan.Parameters(
        target: Self.withScheme(target), module: module, timeout: timeout, count: count.map { String($0) }, ip: ip,
        source: sourceAddress, interface: interface)
      do throws(CheckPlan.InvalidParameters) {
        return try body(parameters)
      } catch {
        throw ValidationError("\(Redaction.redacted(target)): \(error)")
      }
    }
  }

  private func print(_ outcomes: [CheckOutcome], _ monitor: ReachabilityMonitor) {
    guard explain else {
      if json { return Terminal.line(CheckFormatter.json(outcomes)) }
      for outcome in outcomes { Terminal.line(color.colored(CheckFormatter.line(outcome))) }
      return
    }
    for outcome in outcomes {
      let explanation = Diagnosis(of: outcome, in: monitor.snapshot)
      Terminal.line(json ? CheckFormatter.json(explanation) : CheckFormatter.diagnosis(explanation))
    }
  }
}
