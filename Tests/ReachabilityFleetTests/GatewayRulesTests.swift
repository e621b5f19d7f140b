import ReachabilityModel
import Testing

@testable import ReachabilityFleet

@Suite("Rules of the gateway")
struct GatewayRulesTests {
  @Test(
    "A reply lies in the inbox of the agent, and has no wildcard",
    arguments: [
      "_INBOX.agent.a=2eb.x", "_INBOX.agent.a=2eb.x.Y9", "_INBOX.agent.a=2eb." + String(repeating: "a", count: 108),
    ])
  func replies(_ text: String) throws {
    #expect(FleetReplySubject(text, of: "a.b")?.description == text)
    #expect(FleetReplySubject(text, of: "a") == nil && FleetReplySubject(answer: text) == nil)
  }

  @Test(
    "Any other reply subject is none",
    arguments: [
      "", "_INBOX.agent.a", "_INBOX.agent.a.", "_INBOX.agent.a.x.", "_INBOX.agent.a..x", "_INBOX.agent.a.x.y.z",
      "_INBOX.agent.a.*", "_INBOX.agent.a.>", "_INBOX.agent.*.x", "_INBOX.agent.a.x y", "_INBOX.agent.a.x\r\nPUB",
      "_INBOX.agent.a.\u{e9}", "_INBOX.agent.a.x-y", "_INBOX.agent.b.x", "_INBOX.agent.ab.x", "_INBOX.replica.a.x",
      "_ANSWER.x", "rx2.ev.a", "$JS.API.INFO", "_INBOX.agent.a." + String(repeating: "a", count: 120),
      "_inbox.agent.a.x",
    ])
  func otherReplies(_ text: String) { #expect(FleetReplySubject(text, of: "a") == nil) }

  @Test("An agent answers on subjects for answers only")
  func answers() {
    #expect(FleetReplySubject(answer: "_ANSWER.3k2x") != nil)
    for text in ["_ANSWER", "_ANSWER.", "_ANSWER.a.b", "_ANSWER.>", "_INBOX.replica.x", "rx2.ev.a"] {
      #expect(FleetReplySubject(answer: text) == nil, "\(text)")
    }
  }

  @Test("Agents have no permission on the stream or the API, and one agent's are not another's")
  func permissions() {
    let own = FleetPermissions.agent("a.b")
    #expect(own.publish == ["rx2.in.a=2eb", "rx2.hb.a=2eb", "_ANSWER.>"])
    #expect(own.subscribe == ["rx2.ask.a=2eb", "rx2.new.a=2eb", "_INBOX.agent.a=2eb.>"])
    let other = FleetPermissions.agent("a")
    #expect(Set(own.publish).intersection(other.publish) == ["_ANSWER.>"])
    #expect(Set(own.subscribe).isDisjoint(with: other.subscribe))
    let stream = FleetSubject.stored.map { $0.split(separator: ".")[1] }
    #expect(own.publish.allSatisfy { subject in !stream.contains { subject.contains(".\($0).") } })
  }

  // MARK: - Membership

  private static let attributes = NodeHello(role: .agent, zone: "z", version: "1")

  private static func hello(_ instance: UInt64, known: UInt64 = 0, restates: Bool = false) -> GatewayHello {
    GatewayHello(instance: instance, known: known, restates: restates, attributes: attributes)
  }

  private static func last(_ content: NodeMessage.Content?, _ sequence: UInt64 = 7) -> GatewayMembership.Last {
    GatewayMembership.Last(sequence: sequence, content: content)
  }

  @Test("A hello is conditional on the last message, and one that is stored is found again")
  func hellos() {
    let stored = NodeMessage.Content.hello(Self.attributes, restates: false, instance: 1)
    let first = GatewayMembership.step(Self.hello(1), after: nil)
    #expect(first == .publish(stored, expecting: .none, isFirst: true, changes: false))
    #expect(GatewayMembership.step(Self.hello(1), after: Self.last(stored)) == .known(7))
    #expect(GatewayMembership.step(Self.hello(1, known: 7), after: Self.last(stored)) == .known(7))
    #expect(GatewayMembership.step(Self.hello(1, known: 5, restates: true), after: Self.last(stored)) == .known(7))
    let restated = NodeMessage.Content.hello(Self.attributes, restates: true, instance: 1)
    #expect(
      GatewayMembership.step(Self.hello(1, known: 7, restates: true), after: Self.last(stored))
        == .publish(restated, expecting: .sequence(7), isFirst: false, changes: false))
    // Another process has the id: the one that is running is asked.
    let other = NodeMessage.Content.hello(
      NodeHello(role: .agent, zone: "y", version: "1"), restates: false, instance: 2)
    #expect(
      GatewayMembership.step(Self.hello(1), after: Self.last(other))
        == .publish(stored, expecting: .sequence(7), isFirst: true, changes: true))
    let lost = NodeMessage.Content.lost(hello: 5, attributes: Self.attributes, by: "r")
    #expect(
      GatewayMembership.step(Self.hello(1, known: 5), after: Self.last(lost))
        == .publish(restated, expecting: .sequence(7), isFirst: false, changes: false))
    for content in [NodeMessage.Content.bye, nil] {
      #expect(
        GatewayMembership.step(Self.hello(1), after: Self.last(content))
          == .publish(stored, expecting: .sequence(7), isFirst: true, changes: false))
    }
  }

  @Test("The replica sets the role of an agent")
  func role() {
    var hello = Self.hello(1)
    hello.attributes.role = .replica
    guard case .publish(.hello(let attributes, _, _), _, _, _) = GatewayMembership.step(hello, after: nil) else {
      return #expect(Bool(false), "nothing is published")
    }
    #expect(attributes.role == .agent)
  }

  @Test("A late bye does not end an agent that has started again")
  func byes() {
    let own = NodeMessage.Content.hello(Self.attributes, restates: false, instance: 1)
    #expect(
      GatewayMembership.step(byeOf: 1, after: Self.last(own))
        == .publish(.bye, expecting: .sequence(7), isFirst: false, changes: false))
    #expect(GatewayMembership.step(byeOf: 2, after: Self.last(own)) == .known(0))
    #expect(GatewayMembership.step(byeOf: 1, after: Self.last(.bye)) == .known(0))
    #expect(GatewayMembership.step(byeOf: 1, after: nil) == .known(0))
  }

  // MARK: - Budget

  @Test("A burst of two largest bases is admitted, and excess is answered once a second")
  func budget() {
    var budget = GatewayBudget()
    let parts = 2 * FleetLimits.baseParts
    for _ in 0..<parts {
      #expect(budget.admit("a", bytes: GatewayLimits.requestBytes, at: .zero) == .admitted)
      #expect(budget.take(changes: FleetLimits.changesPerMessage, of: "a", at: .zero) == nil)
      budget.finish("a", bytes: GatewayLimits.requestBytes)
    }
    var answers: [GatewayBudget.Admission] = []
    for _ in 0..<10_000 {
      let admission = budget.admit("a", bytes: 10, at: .zero)
      if admission == .admitted { budget.finish("a", bytes: 10) } else { answers.append(admission) }
    }
    #expect(answers.count >= 9_000, "\(answers.count)")
    #expect(answers.count { if case .slowDown = $0 { true } else { false } } == 1)
    // The budget of another agent is its own.
    #expect(budget.admit("b", bytes: 10, at: .zero) == .admitted)
    // In a second the rate is granted, and one answer.
    var later: [GatewayBudget.Admission] = []
    for _ in 0..<1000 {
      later.append(budget.admit("a", bytes: 10, at: .seconds(1)))
      if later.last == .admitted { budget.finish("a", bytes: 10) }
    }
    #expect(later.count { $0 == .admitted } == Int(GatewayLimits.requests.perSecond))
    #expect(later.count { if case .slowDown = $0 { true } else { false } } == 1)
  }

  @Test("An agent that waits as long as it is asked to is always answered")
  func compliance() {
    var budget = GatewayBudget()
    var gate = GatewayGate(GatewayLimits.received)
    var now = Duration.zero
    var stored = 0
    while now < .seconds(60) {
      guard gate.admits("a", at: now) else { return #expect(Bool(false), "not received at \(now)") }
      switch budget.admit("a", bytes: 1000, at: now) {
      case .dropped: return #expect(Bool(false), "dropped at \(now)")
      case .slowDown(let wait):
        gate.close("a", until: now + min(wait, GatewayLimits.notice))
        now += wait
      case .admitted:
        budget.finish("a", bytes: 1000)
        stored += 1
        now += .milliseconds(1)
      }
    }
    #expect(stored >= 50 * 59 && stored <= 512 + 50 * 61, "\(stored)")
  }

  @Test("Changes are limited, and the time to wait suffices")
  func changes() throws {
    var budget = GatewayBudget()
    #expect(budget.admit("a", bytes: 10, at: .zero) == .admitted)
    var wait: Duration?
    for _ in 0..<1000 where wait == nil { wait = budget.take(changes: 255, of: "a", at: .zero) }
    let found = try #require(wait)
    #expect(found > .zero && found <= .seconds(1))
    #expect(budget.take(changes: 255, of: "a", at: found) == nil)
  }

  @Test("Requests under way are limited for each agent and in all")
  func concurrency() {
    var budget = GatewayBudget()
    let admitted = (0..<10).count { _ in budget.admit("a", bytes: 10, at: .zero) == .admitted }
    #expect(admitted == GatewayLimits.concurrentRequests)
    budget.finish("a", bytes: 10)
    #expect(budget.admit("a", bytes: 10, at: .zero) == .admitted)
    let most = GatewayLimits.concurrentBytes / GatewayLimits.requestBytes
    let all = (0..<(2 * most)).count {
      budget.admit("n\($0)", bytes: GatewayLimits.requestBytes, at: .zero) == .admitted
    }
    #expect(all <= most && all > most / 2)
  }

  @Test("Memberships and changes of attributes are limited")
  func memberships() {
    var budget = GatewayBudget()
    #expect(budget.admit("a", bytes: 10, at: .zero) == .admitted)
    let stored = (0..<100).count { _ in budget.takeMembership(of: "a", changes: false, at: .zero) == nil }
    #expect(stored == Int(GatewayLimits.memberships.burst))
    #expect(budget.takeMembership(of: "a", changes: false, at: .seconds(10)) == nil)
    #expect(budget.admit("b", bytes: 10, at: .zero) == .admitted)
    #expect(budget.takeMembership(of: "b", changes: true, at: .zero) == nil)
    #expect(budget.takeMembership(of: "b", changes: true, at: .seconds(9)) != nil)
    #expect(budget.takeMembership(of: "b", changes: true, at: .seconds(10)) == nil)
  }

  @Test("Ids without limit do not fill the memory")
  func ids() {
    var budget = GatewayBudget()
    var admitted = 0
    for number in 0..<(GatewayLimits.agents + 1000) where budget.admit("n\(number)", bytes: 1, at: .zero) == .admitted {
      admitted += 1
      budget.finish("n\(number)", bytes: 1)
    }
    #expect(admitted == GatewayLimits.agents)
    #expect(budget.admit("new", bytes: 1, at: .seconds(3600)) == .admitted)
  }

  @Test("A closed gate admits nothing until its time, and an open one admits its rate")
  func gate() {
    var gate = GatewayGate(GatewayRate(perSecond: 10, burst: 20))
    func admitted(_ subject: String, _ count: Int, at now: Duration) -> Int {
      (0..<count).count { _ in gate.admits(subject, at: now) }
    }
    #expect(admitted("a", 100, at: .zero) == 20)
    #expect(admitted("a", 100, at: .seconds(1)) == 10)
    #expect(admitted("b", 1, at: .zero) == 1, "another subject has its own rate")
    gate.close("a", until: .seconds(20))
    #expect(admitted("a", 1, at: .seconds(19)) == 0)
    #expect(admitted("a", 1, at: .seconds(20)) == 1)
    #expect(gate.dropped == 80 + 90 + 1)
    for number in 0..<(GatewayLimits.agents + 100) { _ = gate.admits("n\(number)", at: .seconds(30)) }
    #expect(admitted("new", 1, at: .seconds(30)) == 0)
    #expect(admitted("new", 1, at: .seconds(60)) == 1)
  }
}
