import TestSupport
import Testing

/// What is renamed is removed first and then added with the same index, so that clients may key by name or by index.
@Suite("Renamed interfaces", .needsNamespaces)
struct RenameTests {
  private let client: Namespace
  private let daemon: DaemonUnderTest
  private let reader: EventReader

  init() throws {
    client = try Namespace()
    try client.sysctl("net.ipv6.conf.default.disable_ipv6", 1)
    // The two ends have different indexes; see VethPair.
    try client.ip("link add d0 type veth peer name d1")
    daemon = try DaemonUnderTest(in: client)
    reader = try daemon.events()
  }

  /// Runs commands in one process, and follows the stream until the change of `lo` that follows them.
  ///
  /// - Returns: what both kinds of client know, and the events.
  private func follow(_ batches: [[String]]) throws -> (replicas: InterfaceReplicas, events: [StreamEvent]) {
    let snapshot = try #require(try reader.next())
    #expect(snapshot.name == "snapshot")
    var replicas = InterfaceReplicas(snapshot.data)
    var events: [StreamEvent] = []
    var last = snapshot.data["id"]
    for (number, batch) in batches.enumerated() {
      try client.ip(batch: batch)
      let mtu = 60_000 + number
      try client.ip("link set lo mtu \(mtu)")
      while true {
        let event = try #require(try reader.next())
        replicas.take(event)
        last = event.data["id"]
        if event.data["interface"]?["mtu"]?.integer == mtu { break }
        events.append(event)
      }
    }
    let present = try JSONValue(daemon.get("/status").text)
    // Where one reading has all changes, those of other interfaces follow the one of `lo`.
    while last != present["id"] {
      let event = try #require(try reader.next())
      replicas.take(event)
      events.append(event)
      last = event.data["id"]
    }
    #expect(replicas.agree(with: present), "\(replicas), /status: \(present)")
    return (replicas, events.filter { $0.name == "interface" })
  }

  private func steps(_ events: [StreamEvent]) -> [String] {
    events.reduce(into: InterfaceReplicas(.null)) { $0.take($1) }.steps
  }

  @Test("The old name is removed first, with the new name and the cause")
  func renamed() throws {
    let index = try Int(client.index(of: "d0"))
    let (_, events) = try follow([["link set d0 name enx0"]])
    let removal = try #require(events.first)
    #expect(removal.data["interface"]?["name"] == "d0" && removal.data["interface"]?["index"]?.integer == index)
    #expect(removal.data["removed"] == true && removal.data["renamedTo"] == "enx0")
    #expect(removal.data["cause"]?.texts == ["renamed"])
    let added = try #require(events.first { $0.data["interface"]?["name"] == "enx0" })
    #expect(added.data["removed"] == false && added.data["renamedTo"] == .null)
    #expect(added.data["interface"]?["index"]?.integer == index && added.data["cause"]?.texts == ["renamed"])
    // The other end has another lower device.
    #expect(steps(events).sorted() == ["+d1", "+enx0", "-d0>enx0"])
  }

  @Test(
    "Clients by name and by index know the same after any sequence of renames",
    arguments: [
      // Back again, and to a name of the maximum length.
      [["link set d0 name n0", "link set n0 name d0"]], [["link set d0 name fifteen-chars-x"]],
      [["link set d0 name n0"], ["link set n0 name d0"], ["link set d0 name n0"]],
      // Swapped, and rotated among three.
      [["link set d0 name n9", "link set d1 name d0", "link set n9 name d1"]],
      [
        ["link add e0 type veth peer name e1"],
        ["link set d0 name n9", "link set d1 name d0", "link set e0 name d1", "link set n9 name e0"],
      ],
      // With other changes in the same batch.
      [["link set d0 name n0", "link set n0 up", "addr add 10.8.0.2/24 dev n0"]],
      [["link set d0 up", "link set d1 up"], ["link set d0 down", "link set d0 name n0", "link set n0 up"]],
      // The name of one that is deleted in the same batch.
      [["link add e0 type veth peer name e1"], ["link del e0", "link set d0 name e0"]],
      [["link set d0 name n0", "link add d0 type veth peer name d2"]],
      // Deleted, and another one with the same name, the same index, or both.
      [["link del d0", "link add d0 type veth peer name d1"]],
      [
        ["link add e0 index 900 type veth peer name e1"],
        ["link del e0", "link add e2 index 900 type veth peer name e3"],
      ],
      [
        ["link add e0 index 900 type veth peer name e1"],
        ["link del e0", "link add e0 index 900 type veth peer name e1"],
      ],
      // A stacked device and its lower one.
      [["link add link d0 name m0 type macvlan"], ["link set m0 name m1", "link set d0 name n0"]],
      [["link add br0 type bridge", "link set d0 master br0"], ["link set br0 name br1", "link set d0 name n0"]],
      // A dot, and a name that is a number.
      [["link set d0 name n0.5"]], [["link set d0 name 7"]],
      // Alternative names are not published.
      [["link property add dev d0 altname other"], ["link property del dev d0 altname other"]],
      [["link property add dev d0 altname other"], ["link set d0 name n0"]],
    ])
  func sequences(_ batches: [[String]]) throws { _ = try follow(batches) }

  @Test("Hundreds of renames in one batch leave both kinds of client with the present names")
  func manyRenames() throws {
    let batch = (0..<200).flatMap { number in
      ["link set d0 name n9", "link set d1 name d0", "link set n9 name d1"]
        + (number % 10 == 0 ? ["link set d0 up"] : [])
    }
    _ = try follow([batch, batch])
  }

  @Test("An alternative name alone causes no event")
  func alternativeNames() throws {
    let (_, events) = try follow([["link property add dev d0 altname other"]])
    #expect(events.isEmpty, "\(events)")
  }

  @Test("An interface that moves away and is renamed there is removed without a new name")
  func movedAway() throws {
    let elsewhere = try Namespace()
    let (_, events) = try follow([["link set d0 netns \(elsewhere.path) name d9"]])
    #expect(steps(events).contains("-d0"), "\(events)")
  }

  @Test("A device of another kind with the same index is not a renamed one")
  func replaced() throws {
    let (_, events) = try follow([
      ["link add e0 index 900 type veth peer name e1"],
      ["link del e0", "link add e2 index 900 type bridge"],
    ])
    #expect(steps(events).contains("-e0") && steps(events).contains("+e2"), "\(events)")
  }
}
