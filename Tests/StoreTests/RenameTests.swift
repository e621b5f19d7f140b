import TestSupport
import Testing

@Suite("Renamed interfaces with a data directory", .needsNamespaces)
struct StoredRenameTests {
  private let fixture: StoreFixture

  init() throws { fixture = try StoreFixture() }

  /// The names of the interfaces whose state is stored.
  private func storedNames() throws -> [String] {
    try fixture.sqlite("SELECT substr(name, 11) FROM subject WHERE name LIKE 'interface:%' AND length(state) > 0")
      .split(separator: "\n").map(String.init).sorted()
  }

  private func waitForName(_ name: String, _ daemon: StoreDaemon) throws {
    let isThere = try eventually {
      try JSONValue(daemon.get("/interfaces").text)["interfaces"]?.elements?.contains { $0["name"]?.text == name }
        == true
    }
    try #require(isThere, "no \(name)")
  }

  /// Starts the program again, follows its events from an id, and compares what clients know with the present state.
  private func restart(after id: String?, mtu: Int, _ replicas: inout InterfaceReplicas) throws -> StoreDaemon {
    let daemon = try fixture.start()
    let reader = try daemon.events(after: id)
    try fixture.changeMTU([mtu])
    while true {
      let event = try #require(try reader.next())
      #expect(event.name != "gap")
      replicas.take(event)
      if event.data["interface"]?["mtu"]?.integer == mtu { break }
    }
    let present = try JSONValue(daemon.get("/status").text)
    #expect(replicas.agree(with: present), "\(replicas), /status: \(present)")
    return daemon
  }

  private static let cases: [(running: [String], stopped: [String])] = [
    // Renamed while it runs; then also deleted, or renamed again, while it does not.
    (["link set e0 name e9"], []), (["link set e0 name e9"], ["link del e9"]),
    (["link set e0 name e9"], ["link set e9 name e0"]), (["link set e0 name e9"], ["link set e9 name e8"]),
    (["link set e0 name e9", "link set e9 name e0"], []), (["link set e0 name e9", "link del e9"], []),
    // Renamed while it does not run; swapped.
    ([], ["link set e0 name e9"]), ([], ["link set e0 name n9", "link set e1 name e0", "link set n9 name e1"]),
    (["link set e0 name n9", "link set e1 name e0", "link set n9 name e1"], []),
    // Another device with the same index, or with the same name, as after a start of the machine.
    (["link del e0", "link add e9 index 900 type veth peer name e1"], []),
    ([], ["link del e0", "link add e9 index 900 type veth peer name e1"]),
    ([], ["link del e0", "link add e0 index 950 type veth peer name e1"]),
    ([], ["link del e0", "link add e1 index 900 type veth peer name e0 index 950"]),
  ]

  @Test("Clients that resume know the present names and indexes after each of two restarts", arguments: cases.indices)
  func restarts(_ number: Int) throws {
    let (running, stopped) = Self.cases[number]
    try fixture.namespace.ip("link add e0 index 900 type veth peer name e1")
    let first = try fixture.start()
    let snapshot = try #require(try first.events().next())
    try fixture.namespace.ip(batch: running)
    // Its event is the last one before the end.
    try fixture.changeMTU([1400])
    #expect(try eventually { try fixture.mtu(first) == 1400 })
    try first.terminate()
    try fixture.namespace.ip(batch: stopped)
    var replicas = InterfaceReplicas(snapshot.data)
    let second = try restart(after: snapshot.id, mtu: 1401, &replicas)
    let status = try JSONValue(second.get("/status").text)
    try second.terminate()
    #expect(try storedNames() == replicas.byName.keys.sorted())
    var resumed = InterfaceReplicas(status)
    let third = try restart(after: status["id"]?.text, mtu: 1402, &resumed)
    // Nothing has changed but the MTU: no interface came or went.
    #expect(Set(resumed.steps) == ["+d0"])
    try third.terminate()
    #expect(try storedNames() == replicas.byName.keys.sorted())
  }

  @Test("A store that has two interfaces with one index starts, and removes the one that is not there")
  func duplicates() throws {
    let first = try fixture.start()
    try fixture.changeMTU([1400])
    #expect(try eventually { try fixture.mtu(first) == 1400 })
    let snapshot = try #require(try first.events().next())
    try first.terminate()
    // As 0.1.0 left it after a rename: the state of `d0` also under the name `old`, and once without a name of its own.
    let state = try fixture.sqlite("SELECT hex(state) FROM subject WHERE name = 'interface:d0'")
    let hex = state.filter { !$0.isNewline }
    let renamed = hex.prefix(10) + "0300" + "6F6C64" + hex.dropFirst(18)
    try #require(hex.dropFirst(10).hasPrefix("02006430"), "the name of d0 follows its index: \(hex)")
    _ = try fixture.sqlite(
      "INSERT INTO subject(name, state) VALUES('interface:old', x'\(renamed)'), ('interface:older', x'\(hex)')")
    var replicas = InterfaceReplicas(snapshot.data)
    let second = try fixture.start()
    let reader = try second.events(after: snapshot.id)
    var removed: Set<String> = []
    try fixture.changeMTU([1401])
    while true {
      let event = try #require(try reader.next())
      guard event.data["removed"] != true else {
        removed.insert(event.data["interface"]?["name"]?.text ?? "")
        #expect(event.data["cause"]?.texts == ["restart"] && event.data["renamedTo"] == .null)
        continue
      }
      replicas.take(event)
      if event.data["interface"]?["mtu"]?.integer == 1401 { break }
    }
    #expect(removed == ["old", "older"])
    #expect(replicas.agree(with: try JSONValue(second.get("/status").text)))
    let history = try JSONValue(second.get("/history?subject=interface:old").text)["history"]?.elements
    #expect(history?.first?["to"]?.text == "removed", "\(history ?? [])")
    try second.terminate()
    #expect(try storedNames() == ["d0", "d1", "lo"])
    let third = try fixture.start()
    let status = try JSONValue(third.get("/status").text)
    #expect(InterfaceReplicas(status).byName.keys.sorted() == ["d0", "d1", "lo"])
    try third.terminate()
  }

  @Test("The history of a renamed interface ends with its removal, and continues under the new name")
  func history() throws {
    let daemon = try fixture.start()
    try fixture.namespace.ip("link set d0 name wan0")
    try waitForName("wan0", daemon)
    func changes(of name: String) throws -> [String] {
      try JSONValue(daemon.get("/history?subject=interface:\(name)&order=asc").text)["history"]?.elements?
        .compactMap { "\($0["from"]?.text ?? "")>\($0["to"]?.text ?? "") \($0["cause"]?.texts ?? [])" } ?? []
    }
    #expect(try eventually { try changes(of: "wan0").isEmpty == false })
    let (old, new) = (try changes(of: "d0"), try changes(of: "wan0"))
    #expect(old.last?.hasSuffix("removed [\"renamed\"]") == true, "\(old)")
    #expect(new.first?.hasPrefix(">") == true, "\(new)")
    try daemon.terminate()
  }
}
