import NetworkReachability
import NetworkReachabilityTesting
import ReachabilityModel
import Testing

@Suite("Interfaces that are renamed or replaced")
struct InterfaceRenameTests {
  /// A machine with `a` (2), `b` (3) and `c` (4).
  private static var script: KernelScript {
    var script = KernelScript()
    script.addLoopback()
    script.addInterface(2, "a", addresses: ["10.0.0.5/24"])
    script.addInterface(3, "b")
    script.addInterface(4, "c")
    script.addDefault(via: "10.0.0.1", on: 2)
    return script
  }

  /// What the transitions say, one word each: `-a2>x renamed` is the removal of `a` with the index 2, which is `x` now.
  private func words(_ transitions: [Transition]) -> [String] {
    transitions.compactMap { transition in
      guard case .interface(let state, let removed) = transition.change else { return nil }
      let name = "\(removed ? "-" : "+")\(state.interface.name)\(state.interface.index)"
      return ([name + (transition.renamedTo.map { ">\($0)" } ?? "")] + transition.causes.map(\.rawValue))
        .joined(separator: " ")
    }
  }

  /// The transitions of one change, which both kinds of client can follow.
  private func transitions(_ change: (inout KernelScript) -> Void) throws -> [String] {
    let bench = try Bench.started(Self.script)
    let (recorder, subscription) = try bench.record(.all)
    defer { subscription.cancel() }
    var fold = Fold(bench.monitor.snapshot)
    bench.kernel.change { change(&$0) }
    for update in recorder.updates.dropFirst() { fold.take(update) }
    #expect(fold.problems.isEmpty)
    #expect(fold.snapshot == bench.monitor.snapshot)
    return words(recorder.transitions)
  }

  @Test("The old name is removed before the new one is added")
  func renamed() throws {
    let found = try transitions { $0.change("b") { $0.name = "x" } }
    #expect(found == ["-b3>x renamed", "+x3 renamed"])
  }

  @Test("An interface whose lower device is renamed changes, too")
  func lower() throws {
    var script = Self.script
    script.change("c") { $0.lowerIndex = 3 }
    let bench = try Bench.started(script)
    let (recorder, subscription) = try bench.record(.interface)
    bench.kernel.change { $0.change("b") { $0.name = "x" } }
    #expect(words(recorder.transitions) == ["-b3>x renamed", "+x3 renamed", "+c4"])
    subscription.cancel()
  }

  @Test("A path over a renamed interface has the cause, too")
  func path() throws {
    let bench = try Bench.started(Self.script)
    let (recorder, subscription) = try bench.record(.path)
    bench.kernel.change { $0.change("a") { $0.name = "x" } }
    #expect(recorder.transitions.map(\.causes) == [[.renamed]])
    #expect(bench.monitor.snapshot.machine.ipv4.interface?.name == "x")
    subscription.cancel()
  }

  @Test("Names are exchanged, rotated, and taken from a deleted interface")
  func exchanged() throws {
    func rename(_ script: inout KernelScript, _ names: [UInt32: String]) {
      for place in script.interfaces.indices {
        script.interfaces[place].name = names[script.interfaces[place].index] ?? script.interfaces[place].name
      }
    }
    #expect(
      try transitions { rename(&$0, [2: "b", 3: "a"]) }
        == ["-a2>b renamed", "-b3>a renamed", "+b2 renamed", "+a3 renamed"])
    #expect(
      try transitions { rename(&$0, [2: "b", 3: "c", 4: "a"]) } == [
        "-a2>b renamed", "-b3>c renamed", "-c4>a renamed", "+b2 renamed", "+c3 renamed", "+a4 renamed",
      ])
    #expect(
      try transitions { script in
        script.interfaces.removeAll { $0.index == 4 }
        rename(&script, [3: "c"])
      } == ["-b3>c renamed", "-c4 linkDown", "+c3 renamed"])
  }

  @Test("Other changes in the same reading are part of the addition")
  func otherChanges() throws {
    let found = try transitions { script in
      script.change("b") {
        $0.name = "x"
        $0.flags.remove(.up)
        $0.type = .wifi
      }
      script.addAddress("10.9.0.5/24", to: 3)
    }
    #expect(found == ["-b3>x renamed", "+x3 linkDown renamed addressAdded"])
  }

  @Test("Another device with the same index or name is not renamed", arguments: [true, false])
  func replaced(_ isSameIndex: Bool) throws {
    let found = try transitions { script in
      script.interfaces.removeAll { $0.index == 4 }
      script.addInterface(isSameIndex ? 4 : 9, isSameIndex ? "x" : "c")
      script.change("x") { $0.kind = "tun" }
    }
    #expect(found == (isSameIndex ? ["-c4 linkDown", "+x4 linkUp"] : ["-c4 linkDown", "+c9 linkUp"]))
  }

  @Test("Of two interfaces with one name, the one that had it before waits for the next reading")
  func outdatedName() throws {
    let bench = try Bench.started(Self.script)
    let (recorder, subscription) = try bench.record(.all)
    var fold = Fold(bench.monitor.snapshot)
    // 3 was read before it became "a", 2 after it became "b".
    bench.kernel.change { $0.change("a") { $0.name = "b" } }
    bench.kernel.change { script in
      for place in script.interfaces.indices where script.interfaces[place].index == 3 {
        script.interfaces[place].name = "a"
      }
    }
    for update in recorder.updates.dropFirst() { fold.take(update) }
    #expect(fold.problems.isEmpty)
    #expect(fold.snapshot == bench.monitor.snapshot)
    #expect(fold.names == ["lo": 1, "b": 2, "a": 3, "c": 4])
    subscription.cancel()
  }

  // MARK: - After a restart

  /// The transitions of the first reading after a start with stored interfaces.
  private func transitions(after stored: [(index: UInt32, name: String)]) throws -> [String] {
    let bench = Bench(Self.script)
    let present = Self.script.tables.interfaces
    let states = stored.map { index, name in
      var interface = present.first { $0.name == name || $0.index == index } ?? present[1]
      (interface.index, interface.name) = (index, name)
      let addresses = Self.script.tables.usableAddresses(of: index).map(\.prefix)
      return InterfaceState(interface: interface, addresses: addresses)
    }
    bench.monitor.restore(RestoredEngineState(lastNumber: 41, machine: nil, since: nil, interfaces: states))
    let sink = RecordingSink()
    bench.monitor.attach(sink)
    try bench.monitor.start()
    let names = Dictionary(states.map { ($0.interface.name, $0.interface.index) }) { first, _ in first }
    var replica = names
    var indexes = Dictionary(states.map { ($0.interface.index, $0.interface.name) }) { first, _ in first }
    for transition in sink.transitions {
      guard case .interface(let state, let removed) = transition.change else { continue }
      replica[state.interface.name] = removed ? nil : state.interface.index
      indexes[state.interface.index] = removed ? nil : state.interface.name
    }
    #expect(replica == ["lo": 1, "a": 2, "b": 3, "c": 4])
    #expect(indexes == [1: "lo", 2: "a", 3: "b", 4: "c"])
    return words(sink.transitions)
  }

  @Test("A restart without a change has no transition")
  func unchanged() throws {
    #expect(try transitions(after: [(1, "lo"), (2, "a"), (3, "b"), (4, "c")]) == [])
  }

  @Test(
    "Clients that resume after a restart have the present interfaces",
    arguments: [
      // Renamed, exchanged, deleted, and added meanwhile.
      [(1, "lo"), (2, "x"), (3, "b"), (4, "c")], [(1, "lo"), (3, "a"), (2, "b"), (4, "c")],
      [(1, "lo"), (2, "a"), (3, "b"), (4, "c"), (5, "d")], [(1, "lo")],
      // Other indexes, as after a start of the machine.
      [(1, "lo"), (12, "a"), (13, "b"), (14, "c")], [(1, "lo"), (4, "a"), (2, "b"), (3, "c")],
      // Two and more with one index, as 0.1.0 stored them after a rename.
      [(1, "lo"), (2, "a"), (2, "x"), (3, "b"), (4, "c")], [(1, "lo"), (2, "x"), (2, "y"), (2, "z")],
      [(2, "lo"), (2, "a"), (2, "b"), (2, "c")],
      // Indexes that no kernel assigns.
      [(0, "a"), (.max, "b"), (.max, "x")],
    ] as [[(UInt32, String)]])
  func changed(_ stored: [(UInt32, String)]) throws {
    let found = try transitions(after: stored.map { (index: $0.0, name: $0.1) })
    #expect(!found.isEmpty)
    #expect(found.allSatisfy { $0.hasSuffix(" restart") && !$0.contains(">") }, "\(found)")
  }
}
