import ReachabilityChecks
import Testing

@Suite("The ladder blames the rung that a reason belongs to")
struct ExplanationTests {
  private func explanation(
    _ target: String, _ state: ProbeResult.State, _ reason: Reason?, path: NetworkPath = ExplanationTests.wired,
    phases: [ProbeResult.Phase.Name] = [], address: String? = "192.0.2.9"
  ) throws -> Explanation {
    let request = ProbeRequest(try ProbeTarget(target))
    let result = ProbeResult(
      state, reason, address: address.flatMap { IPAddress($0) }, startedAt: Timestamp(microseconds: 0),
      duration: .zero, phases: phases.map { .init($0, .milliseconds(1)) })
    return Explanation(of: CheckOutcome(request: request, result: result, path: path), in: .unknown(.starting))
  }

  /// A way through `eth0`.
  private static var wired: NetworkPath {
    var path = NetworkPath(flags: [.reachable])
    path.interface = .init(
      Interface(index: 2, name: "eth0", type: .ethernet, flags: .up, operationalState: .up, mtu: 1500))
    return path
  }

  @Test("Of a machine that has no way at all nothing is said about links and addresses")
  func nothing() throws {
    let explanation = try explanation("tcp://10.0.0.9:1", .unreachable, .noRoute, path: .none(.noRoute))
    #expect(explanation.answer?.rung == .route)
    #expect(explanation.steps.prefix(2).map(\.verdict) == [.notReached, .notReached])
  }

  @Test("Where the target has no way, the machine's own stands for the links and addresses that are there")
  func machine() throws {
    let request = ProbeRequest(try ProbeTarget("tcp://10.0.0.9:1"))
    let result = ProbeResult(.unreachable, .blackhole, startedAt: Timestamp(microseconds: 0), duration: .zero)
    var snapshot = Snapshot.unknown(.starting)
    snapshot.machine.ipv4 = Self.wired
    let outcome = CheckOutcome(request: request, result: result, path: .none(.blackhole))
    #expect(Explanation(of: outcome, in: snapshot).steps.first?.evidence == "eth0 is up")
  }

  static let reasons: [(String, Reason, Explanation.Rung)] = [
    ("tcp://a:1", .policyDenied, .policy), ("tcp://a:1", .linkDown, .link), ("tcp://a:1", .noSource, .address),
    ("tcp://a:1", .noRoute, .route), ("tcp://a:1", .blackhole, .route), ("tcp://a:1", .prohibited, .tcp),
    ("tcp://a:1", .dnsNotFound, .dns), ("tcp://a:1", .refused, .tcp), ("icmp://a", .noReply, .icmp),
    ("icmp://a", .packetLoss, .icmp), ("https://a/", .connectTimeout, .tcp), ("https://a/", .certificateExpired, .tls),
    ("https://a/", .httpStatus, .answer), ("dns://a/b", .dnsServerFailure, .answer), ("tls://a:1", .tlsHandshake, .tls),
  ]

  @Test(arguments: reasons)
  func blame(target: String, reason: Reason, rung: Explanation.Rung) throws {
    let explanation = try explanation(target, .down, reason)
    #expect(explanation.answer?.rung == rung)
    #expect(explanation.answer?.advice?.isEmpty == false)
    let place = try #require(explanation.steps.firstIndex { $0.verdict == .fail })
    #expect(explanation.steps[..<place].allSatisfy { $0.verdict == .pass })
    #expect(explanation.steps[(place + 1)...].allSatisfy { $0.verdict == .notReached })
  }

  @Test("A reason that can strike anywhere is found by the phases that were passed")
  func furthest() throws {
    #expect(try explanation("https://a/", .down, .timeout, phases: [.resolve]).answer?.rung == .tcp)
    #expect(try explanation("https://a/", .down, .reset, phases: [.resolve, .connect]).answer?.rung == .tls)
    #expect(try explanation("https://a/", .down, .noReply, phases: [.resolve, .connect, .tls]).answer?.rung == .answer)
  }

  @Test("A route's own prohibition is the route's")
  func prohibited() throws {
    #expect(try explanation("tcp://a:1", .unreachable, .prohibited, path: .none(.prohibited)).answer?.rung == .route)
  }

  @Test("A target that is up has passed every rung and has no answer")
  func up() throws {
    let explanation = try explanation("https://a/", .up, nil, phases: [.resolve, .connect, .tls, .processing])
    #expect(explanation.answer == nil)
    #expect(explanation.steps.map(\.rung) == [.link, .address, .route, .dns, .tcp, .tls, .answer])
    #expect(explanation.steps.allSatisfy { $0.verdict == .pass && $0.advice == nil && !$0.evidence.isEmpty })
  }
}
