import ReachabilityChecks
import Testing

@Suite("Diagnosis")
struct DiagnosisTests {
  private func diagnosis(
    _ target: String, _ state: CheckResult.State, _ reason: Reason?, path: NetworkPath = DiagnosisTests.wired,
    phases: [CheckResult.Phase.Name] = [], address: String? = "192.0.2.9"
  ) throws -> Diagnosis {
    let request = CheckRequest(try CheckTarget(target))
    let result = CheckResult(
      state, reason, address: address.flatMap { IPAddress($0) }, startedAt: Timestamp(microseconds: 0),
      duration: .zero, phases: phases.map { .init($0, .milliseconds(1)) })
    return Diagnosis(of: CheckOutcome(request: request, result: result, path: path), in: .unknown(.starting))
  }

  /// A path through `eth0`.
  private static var wired: NetworkPath {
    var path = NetworkPath(flags: [.reachable])
    path.interface = .init(
      Interface(index: 2, name: "eth0", type: .ethernet, flags: .up, operationalState: .up, mtu: 1500))
    return path
  }

  @Test("Without any path, links and addresses are omitted")
  func nothing() throws {
    let diagnosis = try diagnosis("tcp://10.0.0.9:1", .unreachable, .noRoute, path: .none(.noRoute))
    #expect(diagnosis.failure?.step == .route)
    #expect(diagnosis.steps.prefix(2).map(\.verdict) == [.notReached, .notReached])
  }

  @Test("Without a route, the default path provides link and address")
  func machine() throws {
    let request = CheckRequest(try CheckTarget("tcp://10.0.0.9:1"))
    let result = CheckResult(.unreachable, .blackhole, startedAt: Timestamp(microseconds: 0), duration: .zero)
    var snapshot = Snapshot.unknown(.starting)
    snapshot.machine.ipv4 = Self.wired
    let outcome = CheckOutcome(request: request, result: result, path: .none(.blackhole))
    #expect(Diagnosis(of: outcome, in: snapshot).steps.first?.evidence == "eth0 is up")
  }

  /// A snapshot with interfaces `eth0`, `eth1` … of these states, and a loopback interface.
  private func snapshot(_ states: (Interface.Flags, Interface.OperationalState)...) -> Snapshot {
    var snapshot = Snapshot.unknown(.starting)
    snapshot.interfaces = [
      .init(
        interface: Interface(
          index: 1, name: "lo", type: .loopback, flags: [.up, .running], operationalState: .unknown),
        addresses: [])
    ]
    snapshot.interfaces += states.enumerated().map { number, state in
      let index = UInt32(number + 2)
      return .init(
        interface: Interface(
          index: index, name: "eth\(number)", type: .ethernet, flags: state.0, operationalState: state.1),
        addresses: [])
    }
    return snapshot
  }

  private func withoutRoute(
    _ snapshot: Snapshot, _ reason: Reason = .noRoute, interface: String? = nil
  ) throws -> Diagnosis {
    var request = CheckRequest(try CheckTarget("tcp://10.0.0.9:1"))
    request.interface = interface
    let result = CheckResult(.unreachable, reason, startedAt: Timestamp(microseconds: 0), duration: .zero)
    return Diagnosis(of: CheckOutcome(request: request, result: result, path: .none(reason)), in: snapshot)
  }

  @Test("Without a link that is up, the link is the failed step, not the route")
  func noLink() throws {
    for reason in [Reason.noRoute, .networkUnreachable] {
      let failure = try #require(try withoutRoute(snapshot(([], .down), (.up, .down)), reason).failure)
      #expect(failure.step == .link)
      #expect(failure.evidence == "no link is up: eth0 (disabled), eth1 (no carrier)")
      #expect(failure.advice?.contains("ip link set") == true)
    }
    // These are decided by a route, whatever the links are.
    for reason in [Reason.unreachableRoute, .blackhole, .notUnicast] {
      #expect(try withoutRoute(snapshot(([], .down)), reason).failure?.step == .route)
    }
    #expect(try withoutRoute(snapshot()).failure?.step == .route)
  }

  @Test("With a link that is up, the route is the failed step, and the link's evidence has the links that are down")
  func someLinks() throws {
    let diagnosis = try withoutRoute(snapshot(([.up, .lowerUp], .up), ([], .down)))
    #expect(diagnosis.failure?.step == .route)
    #expect(diagnosis.steps.first?.evidence == "eth0 is up; down: eth1 (disabled)")
    let both = try withoutRoute(snapshot(([.up, .lowerUp], .up), ([.up, .lowerUp], .up)))
    #expect(both.steps.first?.evidence == "eth0, eth1 are up")
    let many = Array(repeating: Interface.Flags(), count: 12)
    var crowded = snapshot()
    crowded.interfaces += many.enumerated().map {
      .init(
        interface: Interface(
          index: UInt32($0.offset + 2), name: "v\($0.offset)", type: .ethernet, flags: [], operationalState: .down),
        addresses: [])
    }
    #expect(try withoutRoute(crowded).failure?.evidence.hasSuffix("and 4 more") == true)
  }

  @Test("A check through an interface depends on that link only")
  func namedLink() throws {
    let snapshot = snapshot(([], .down), ([.up, .lowerUp], .up))
    let down = try withoutRoute(snapshot, interface: "eth0")
    #expect(down.failure?.evidence == "no link is up: eth0 (disabled)")
    #expect(try withoutRoute(snapshot, interface: "eth1").failure?.step == .route)
  }

  static let reasons: [(String, Reason, Diagnosis.Step)] = [
    ("tcp://a:1", .policyDenied, .policy), ("tcp://a:1", .linkDown, .link), ("tcp://a:1", .noSource, .address),
    ("tcp://a:1", .noRoute, .route), ("tcp://a:1", .blackhole, .route), ("tcp://a:1", .prohibited, .tcp),
    ("tcp://a:1", .dnsNotFound, .dns), ("tcp://a:1", .refused, .tcp), ("icmp://a", .noReply, .icmp),
    ("icmp://a", .packetLoss, .icmp), ("https://a/", .connectTimeout, .tcp), ("https://a/", .certificateExpired, .tls),
    ("https://a/", .httpStatus, .answer), ("dns://a/b", .dnsServerFailure, .answer), ("tls://a:1", .tlsHandshake, .tls),
  ]

  @Test("Before a failed step, a link and a route that are missing have not passed")
  func missing() throws {
    func verdicts(_ path: NetworkPath) -> [Diagnosis.Verdict] {
      var snapshot = Snapshot.unknown(.starting)
      snapshot.machine.ipv4 = path
      snapshot.machine.ipv6 = .none(.noRoute)
      let request = try? CheckRequest(CheckTarget("tcp://db.test:1"))
      guard let request else { return [] }
      let result = CheckResult(.unknown, .dnsTimeout, startedAt: Timestamp(microseconds: 0), duration: .zero)
      return Diagnosis(of: CheckOutcome(request: request, result: result, path: nil), in: snapshot).steps.prefix(4)
        .map(\.verdict)
    }
    var wired = Self.wired
    wired.source = IPAddress("192.0.2.2")
    #expect(verdicts(wired) == [.pass, .pass, .pass, .fail])
    for reason in [Reason.noRoute, .unreachableRoute, .blackhole, .prohibited, .kernelUnavailable, .starting] {
      #expect(verdicts(.none(reason)) == [.notReached, .notReached, .notReached, .fail], "\(reason)")
    }
    for reason in [Reason.linkDown, .connectionRequired] {
      wired.flags = []
      wired.source = nil
      wired.reason = reason
      #expect(verdicts(wired) == [.notReached, .notReached, .notReached, .fail], "\(reason)")
    }
    wired.reason = .noSource
    #expect(verdicts(wired) == [.pass, .notReached, .notReached, .fail])
  }

  @Test(arguments: reasons)
  func failedStep(target: String, reason: Reason, step: Diagnosis.Step) throws {
    let diagnosis = try diagnosis(target, .down, reason)
    #expect(diagnosis.failure?.step == step)
    #expect(diagnosis.failure?.advice?.isEmpty == false)
    let place = try #require(diagnosis.steps.firstIndex { $0.verdict == .fail })
    #expect(diagnosis.steps[..<place].allSatisfy { $0.verdict == .pass })
    #expect(diagnosis.steps[(place + 1)...].allSatisfy { $0.verdict == .notReached })
  }

  @Test("An ambiguous reason is located by the completed phases")
  func furthest() throws {
    #expect(try diagnosis("https://a/", .down, .timeout, phases: [.resolve]).failure?.step == .tcp)
    #expect(try diagnosis("https://a/", .down, .reset, phases: [.resolve, .connect]).failure?.step == .tls)
    #expect(try diagnosis("https://a/", .down, .noReply, phases: [.resolve, .connect, .tls]).failure?.step == .answer)
  }

  @Test("A prohibiting route is the failed step")
  func prohibited() throws {
    #expect(try diagnosis("tcp://a:1", .unreachable, .prohibited, path: .none(.prohibited)).failure?.step == .route)
  }

  @Test("After a redirect, names, ports and steps are those of the server that was contacted last")
  func redirected() throws {
    func diagnosis(_ state: CheckResult.State, _ reason: Reason?) throws -> Diagnosis {
      let request = CheckRequest(try CheckTarget("http://10.0.0.9:81/"))
      var result = CheckResult(
        state, reason, address: IPAddress("192.0.2.9"), startedAt: Timestamp(microseconds: 0), duration: .zero,
        phases: [.init(.connect, .milliseconds(1))])
      result.evidence.redirectTarget = try CheckTarget("https://two.example:8443/x")
      result.evidence.http = .init(status: 200, version: "1.1", redirects: 2)
      return Diagnosis(of: CheckOutcome(request: request, result: result, path: Self.wired), in: .unknown(.starting))
    }
    let up = try diagnosis(.up, nil)
    let texts = Dictionary(up.steps.map { ($0.step, $0.evidence) }, uniquingKeysWith: { $1 })
    #expect(texts[.dns] == "two.example is 192.0.2.9")
    #expect(texts[.tcp] == "192.0.2.9:8443 accepts connections (1.000 ms)")
    #expect(texts[.answer] == "status 200, redirects: 2")
    let expired = try diagnosis(.down, .certificateExpired)
    #expect(expired.failure?.step == .tls && expired.failure?.evidence == "192.0.2.9:8443: certificateExpired")
    #expect(try diagnosis(.down, .refused).failure?.step == .tcp)
  }

  @Test("A target that is up has no failed step")
  func up() throws {
    let diagnosis = try diagnosis("https://a/", .up, nil, phases: [.resolve, .connect, .tls, .processing])
    #expect(diagnosis.failure == nil)
    #expect(diagnosis.steps.map(\.step) == [.link, .address, .route, .dns, .tcp, .tls, .answer])
    #expect(diagnosis.steps.allSatisfy { $0.verdict == .pass && $0.advice == nil && !$0.evidence.isEmpty })
  }
}
