import Glibc
import TestSupport
import Testing

/// A machine of its own with the program on it, and a client that follows its events.
final class KernelFixture {
  let pair: VethPair
  let daemon: DaemonUnderTest
  private let reader: EventReader
  private(set) var status: StatusReplica
  private let settle: Int
  private var fences = 0
  /// `status` and `path` events that no test has read yet.
  private var pending: [StateEvent] = []
  /// `interface` events that no test has read yet.
  private var interfaces: [StateEvent] = []

  /// The machine under test.
  var client: Namespace { pair.client }

  /// Starts the program on a machine with a cable and, unless `prepare` adds some, no default route.
  ///
  /// - Parameters:
  ///   - settle: how long a loss waits, in milliseconds.
  ///   - privileges: those of the program.
  ///   - prepare: what is done before the program starts.
  /// - Throws: when the machine, the program or the stream cannot be made.
  init(
    settle: Int = 10, privileges: DaemonUnderTest.Privileges = .all, _ prepare: (VethPair) throws -> Void = { _ in }
  ) throws {
    self.settle = settle
    pair = try VethPair()
    try prepare(pair)
    daemon = try DaemonUnderTest(in: pair.client, settle: "\(settle)ms", privileges: privileges)
    reader = try daemon.events()
    guard let snapshot = try reader.next() else { throw TestError("the stream ended at once") }
    status = try StatusReplica(snapshot)
    // What the kernel still does about the new cable shall not be taken for news.
    try pair.waitForLinkLocal()
    try verifyStatus()
  }

  private func read(within deadline: Duration = .seconds(20)) throws -> StateEvent {
    do {
      guard let event = try reader.next(within: deadline) else { throw TestError("the stream ended") }
      try status.take(event)
      return StateEvent(event: event)
    } catch {
      throw TestError("\(error); the last that the program said:\n\(daemon.child.errors.suffix(2000))")
    }
  }

  /// The next `status` or `path` event.
  func next(within deadline: Duration = .seconds(20)) throws -> StateEvent {
    while pending.isEmpty { try sort(try read(within: deadline)) }
    return pending.removeFirst()
  }

  /// The next `interface` event for which `condition` holds; those before it are passed over.
  @discardableResult
  func nextInterface(where condition: (StateEvent) -> Bool) throws -> StateEvent {
    while true {
      while !interfaces.isEmpty {
        let news = interfaces.removeFirst()
        if condition(news) { return news }
      }
      try sort(try read())
    }
  }

  /// Waits for an interface to be operational.
  func waitUp(_ name: String) throws {
    try nextInterface { $0.interface?["name"]?.text == name && $0.interface?["operationalState"] == "up" }
  }

  private func sort(_ news: StateEvent) throws {
    if news.name == "interface" { interfaces.append(news) } else { pending.append(news) }
  }

  /// Makes a harmless change and reads until its event: what the kernel did before it has been told then.
  private func fence() throws {
    fences += 1
    let mtu = 60_000 + fences
    try client.ip("link set lo mtu \(mtu)")
    while true {
      let news = try read()
      if news.interface?["name"] == "lo", news.interface?["mtu"]?.integer == mtu { return }
      try sort(news)
    }
  }

  /// Reads everything there is, also a loss that still waits, and compares `/status` with what the events said.
  ///
  /// - Returns: the events of the interfaces since the last time.
  @discardableResult
  func verifyStatus(_ location: SourceLocation = #_sourceLocation) throws -> [StateEvent] {
    try fence()
    if settle > 0 {
      pause(.milliseconds(settle), because: "a loss that waits is evaluated with the first reading after its time")
      try fence()
    }
    let answer = try daemon.get("/status")
    let document = try answer.json
    let number = document["id"]?.text?.split(separator: "-").last.flatMap { Int($0) } ?? 0
    // The kernel may have done something on its own in between.
    while status.number < number { try sort(try read()) }
    let hasSameRepresentation = status.agrees(with: document) || status.number > number
    #expect(hasSameRepresentation, "events: \(status.document), /status: \(document)", sourceLocation: location)
    #expect(pending.isEmpty, "unexpected events", sourceLocation: location)
    pending = []
    defer { interfaces = [] }
    return interfaces
  }

  /// The one `status` or `path` event since the last time; any other is an issue.
  func only(
    within deadline: Duration = .seconds(20), _ location: SourceLocation = #_sourceLocation
  ) throws -> StateEvent {
    let news = try next(within: deadline)
    try verifyStatus(location)
    return news
  }
}

extension VethPair {
  /// Waits until the client's interface has its own link-local address, the last thing that happens to a new cable.
  func waitForLinkLocal() throws {
    let client = client
    guard try eventually({ try client.ip("-6 -o addr show dev c0 scope link -tentative").contains("fe80::") }) else {
      throw TestError("c0 has no link-local address")
    }
  }

  /// Gives the client a second interface `d0` (10.8.0.2/24), whose other end `d1` is on the same machine.
  func addSecondInterface() throws {
    try client.ip("link add d0 type veth peer name d1")
    try client.ip(batch: ["link set d1 up", "link set d0 up", "addr add 10.8.0.2/24 dev d0"])
    let client = client
    guard try eventually({ try client.ip("-o link show d0").contains("state UP") }) else {
      throw TestError("d0 did not come up")
    }
  }
}
