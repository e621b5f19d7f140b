internal import ArgumentParser
internal import Logging
internal import NetworkReachability
internal import StatusAPI

/// `reachd wait`: for scripts and init containers that must not go on before a host can be reached.
struct WaitCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "wait",
    abstract: "Wait until hosts can be reached: exit 0 then, 1 when the time is over, 2 could not tell.",
    discussion: """
      A target is route://HOST, or HOST alone: a name, an address, default or local-link. It is judged by the kernel's
      routes, from the kernel's own events, without a service and without a packet to the host. A name must be resolved.

      EXAMPLES
        reachd wait default
        reachd wait route://db.internal route://10.0.0.9 --timeout 60s
        reachd wait db-a db-b --any
        reachd wait 10.0.0.9 --not && echo 'the way is gone'
      """)

  @Argument(help: "Targets: route://HOST, or HOST alone.")
  var targets: [String]

  @Option(help: "How long to wait at the most, such as 500ms, 30s or 2m.")
  var timeout = "30s"

  @Flag(help: "One of the targets is enough.")
  var any = false

  @Flag(name: .customLong("not"), help: "Wait until they can not be reached.")
  var negated = false

  @OptionGroup var source: SourceOptions

  func validate() throws {
    guard !targets.isEmpty else { throw ValidationError("Give at least one target, such as default or route://db.") }
    guard DurationText.parse(timeout) != nil else {
      throw ValidationError("--timeout is a duration, such as 500ms, 30s or 2m.")
    }
    for text in targets { _ = try Self.target(text) }
  }

  mutating func run() async throws {
    let targets = try self.targets.map { text throws in try Self.target(text) }
    let configuration = try source.sources().loadOrExit()
    let monitor = try configuration.startedMonitor()
    defer { monitor.stop() }
    let (any, negated) = (any, negated)
    let outcome = await monitor.wait(for: targets, timeout: DurationText.parse(timeout) ?? .zero) { verdicts in
      let answers = verdicts.map { $0.isSurelyReachable != negated }
      return any ? answers.contains(true) : answers.allSatisfy { $0 }
    }
    if outcome.isFulfilled { return }
    // What stood in the way is worth a line each: the script's log is all that its reader has.
    for verdict in outcome.verdicts { Terminal.complain("reachd: \(verdict.target): \(ChangeText.line(verdict))") }
    throw Exit.no
  }

  private static func target(_ text: String) throws -> Target {
    var host = text
    if let colon = text.firstRange(of: "://") {
      let scheme = text[..<colon.lowerBound]
      guard scheme == "route" else {
        throw ValidationError("\(text): \(scheme):// cannot be waited for; route://HOST can.")
      }
      host = String(text[colon.upperBound...])
    }
    do throws(TargetError) {
      return try Target(host: host)
    } catch {
      throw ValidationError("\(text): \(error)")
    }
  }
}
