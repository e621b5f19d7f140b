import Glibc
import Locks
import NetworkReachability
import ReachabilityModel
import TestSupport
import Testing

/// Verdicts against connect(2) of TCP sockets, in networks that change at random: rules, tables, multipath, blocks of local
/// addresses, links and addresses that come and go, sockets that are bound to sources and interfaces.
///
/// `REACHD_CONNECTION_CHECKS` sets how many connections are compared, `REACHD_CONNECTION_SEED` how the network changes.
@Suite(.needsNamespaces) struct ConnectionComparisonTests {
  static let checks = ProcessEnvironment.number("REACHD_CONNECTION_CHECKS") ?? 4_000
  static let seed = UInt64(ProcessEnvironment.number("REACHD_CONNECTION_SEED") ?? 1)
  static let checksOfRound = 100

  /// One connection.
  struct Question: CustomStringConvertible {
    var destination: IPAddress
    var source: IPAddress?
    var interface: String?
    var port: UInt16

    var target: ReachabilityTarget {
      ReachabilityTarget(
        .address(destination), source: source, interface: interface, transport: TransportSelector(.tcp, port: port))
    }
    var description: String {
      "\(destination) port \(port)" + (source.map { " from \($0)" } ?? "") + (interface.map { " oif \($0)" } ?? "")
    }
  }

  @Test func verdictsAgreeWithConnections() throws {
    var random = RandomNetwork(seed: Self.seed)
    let pair = try VethPair()
    try random.prepare(pair)
    let monitor = ReachabilityMonitor(configuration: .init(settle: .zero))
    try pair.client.run { () throws(KernelError) in try monitor.start() }
    defer { monitor.stop() }
    let causeless = Locked<[String]>([])
    let all = monitor.listen(to: [.status, .path], on: .direct) { update in
      guard let transition = update.transition, transition.causes.isEmpty else { return }
      causeless.withLock { $0.append("\(transition)") }
    }
    var wrong: [String] = []
    for round in 0..<max(1, Self.checks / Self.checksOfRound) where wrong.count < 20 {
      try pair.client.ipAnyway(batch: random.commands())
      for (name, value) in random.settings() { try? pair.client.sysctl(name, value) }
      for _ in 0..<Self.checksOfRound {
        let question = random.question()
        // The kernel may still be working on a change: a link without carrier, an advertisement.
        var difference: String?
        try eventually(within: .seconds(1)) {
          difference = try compare(question, monitor, pair.client)
          return difference == nil
        }
        if let difference {
          let state = wrong.isEmpty ? "\n" + (try random.dump(pair.client)) : ""
          wrong.append("seed \(Self.seed), round \(round): \(question): \(difference)\(state)")
        }
      }
    }
    all?.cancel()
    #expect(wrong.isEmpty, "\(wrong.joined(separator: "\n"))")
    #expect(causeless.withLock(\.self).isEmpty)
  }

  /// The difference between a verdict and a connection; nil for none.
  private func compare(_ question: Question, _ monitor: ReachabilityMonitor, _ client: Namespace) throws -> String? {
    // In the namespace, because an evaluation may read the tables again.
    let verdict = try client.run { () throws(KernelError) in try monitor.evaluate(question.target) }
    let attempt: ConnectionAttempt
    do {
      attempt = try client.connect(
        to: question.destination.description, from: question.source?.description, interface: question.interface,
        port: question.port)
    } catch {
      // The source is not an address of this machine.
      return verdict.path.reason == .noSource ? nil : "\(verdict.path), but \(error)"
    }
    switch attempt {
    case .refused: return verdict.path.status == .notReachable ? nil : "\(verdict.path), but \(attempt)"
    case .source(let text):
      let source = IPAddress(text)
      if verdict.path.status.isReachable {
        return verdict.path.source == source ? nil : "\(verdict.path), but \(attempt)"
      }
      // A socket connects without carrier, and from an address that no answer can be sent to.
      let isUnusable = source.map { $0.isUnspecified || $0.isLinkLocal || $0.isLoopback } ?? true
      let isExpected = verdict.path.reason == .linkDown || verdict.path.reason == .noSource && isUnusable
      return isExpected ? nil : "\(verdict.path), but \(attempt)"
    }
  }
}
