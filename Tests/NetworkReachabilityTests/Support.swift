import Dispatch
import Locks
import NetworkReachability
import NetworkReachabilityTesting
import Testing

extension KernelScript {
  /// A machine with a wire: `eth0`, 10.0.0.5/24, the default route over 10.0.0.1.
  static var wired: KernelScript {
    var script = KernelScript()
    script.addLoopback()
    script.addInterface(2, "eth0", addresses: ["10.0.0.5/24"])
    script.addDefault(via: "10.0.0.1", on: 2)
    return script
  }

  /// A machine with a wire that leads nowhere.
  static var withoutDefault: KernelScript {
    var script = KernelScript.wired
    script.removeDefaults(.ipv4)
    return script
  }
}

/// A monitor over a script, and what a test needs to move it.
struct Bench {
  let kernel: ScriptedKernel
  let monitor: ReachabilityMonitor
  static let settle = Duration.milliseconds(10)

  init(
    _ script: KernelScript = .wired, settle: Duration = Bench.settle, nameServers: [String] = ["127.0.0.1:1"],
    nameTimeout: Duration = .seconds(5)
  ) {
    let kernel = ScriptedKernel(script)
    self.kernel = kernel
    monitor = ReachabilityMonitor(
      configuration: .init(settle: settle, nameServers: nameServers, nameTimeout: nameTimeout), kernel: { kernel })
  }

  static func started(_ script: KernelScript = .wired, settle: Duration = Bench.settle) throws -> Bench {
    let bench = Bench(script, settle: settle)
    try bench.monitor.start()
    return bench
  }

  /// A recorder that hears these kinds at once, with what ends it.
  func record(
    _ kinds: Transition.Kinds = [.status, .path], watching targets: [Target] = []
  ) throws -> (UpdateRecorder, Subscription) {
    let recorder = UpdateRecorder()
    let subscription = try #require(
      monitor.listen(to: kinds, watching: targets, on: .immediate) { recorder.record($0) })
    return (recorder, subscription)
  }

  func loseDefault(_ causes: Set<Cause> = [.routeRemoved]) { kernel.change(causes) { $0.removeDefaults(.ipv4) } }

  func gainDefault(via gateway: String = "10.0.0.1", _ causes: Set<Cause> = [.routeAdded]) {
    kernel.change(causes) { $0.addDefault(via: gateway, on: 2) }
  }
}

let online = ReachabilityStatus.reachable(.ethernetOrWiFi)

extension UpdateRecorder {
  var transitions: [Transition] { updates.compactMap(\.transition) }
  var hosts: [HostVerdict] { updates.compactMap(\.host) }
}

/// A value that several threads share.
final class Shared<Value: Sendable>: Sendable {
  private let locked: Locked<Value>
  init(_ value: Value) { locked = Locked(value) }
  func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
    locked.withLock { value in body(&value) }
  }
  var value: Value { withLock { $0 } }
}

/// Runs `body` once on each of several threads of its own, all at once, and waits for them.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
  let group = DispatchGroup()
  for number in 0..<count {
    DispatchQueue(label: "test thread \(number)").async(group: group) { body(number) }
  }
  group.wait()
}

/// A snapshot that is carried forward by transitions alone, and what is wrong with them.
struct Fold {
  private(set) var snapshot: Snapshot
  private(set) var hosts: [Target: HostVerdict] = [:]
  private(set) var problems: [String] = []

  init(_ snapshot: Snapshot) { self.snapshot = snapshot }

  /// Takes a subscriber's next update.
  mutating func take(_ update: ReachabilityUpdate) {
    guard let transition = update.transition else { return complain("a second initial update", when: true) }
    apply(transition)
    // Verdicts over hosts that came first are told with the machine's number, not with its next one.
    if transition.kind == .host { return }
    // Changes of one reading share the state after all of them.
    guard transition.sequence == update.snapshot.sequence else { return }
    complain("the fold is not the update's snapshot at \(transition.sequence)", when: snapshot != update.snapshot)
  }

  mutating func apply(_ transition: Transition) {
    let number = transition.sequence
    if case .host(let from, let to) = transition.change {
      complain("host transition numbered \(number) after \(snapshot.sequence)", when: number != snapshot.sequence)
      complain("\(to.target): from is not what was told", when: from != nil && from != hosts[to.target])
      complain("\(to.target): from is to", when: from == to)
      hosts[to.target] = to
      return
    }
    complain("hole: \(number) after \(snapshot.sequence)", when: number != snapshot.sequence + 1)
    snapshot.sequence = number
    switch transition.change {
    case .status(let from, let to, _):
      complain("\(number): from is not what was told", when: from != snapshot.machine)
      complain("\(number): same status", when: from.status == to.status)
      snapshot.machine = to
      snapshot.since = transition.time
    case .path(let from, let to):
      complain("\(number): from is not what was told", when: from != snapshot.machine)
      complain("\(number): path with from == to, or another status", when: from == to || from.status != to.status)
      snapshot.machine = to
    case .interface(let state, let removed):
      apply(state, removed: removed, number)
    case .host, .target: break
    }
  }

  private mutating func apply(_ state: InterfaceState, removed: Bool, _ number: UInt64) {
    let place = snapshot.interfaces.firstIndex { $0.interface.index == state.interface.index }
    if removed {
      complain("\(number): removed what was not there", when: place == nil)
      if let place { snapshot.interfaces.remove(at: place) }
    } else if let place {
      complain("\(number): interface did not change", when: snapshot.interfaces[place] == state)
      snapshot.interfaces[place] = state
    } else {
      snapshot.interfaces.append(state)
      snapshot.interfaces.sort { $0.interface.index < $1.interface.index }
    }
  }

  private mutating func complain(_ problem: String, when wrong: Bool) {
    if wrong { problems.append(problem) }
  }
}

/// Keeps what a sink is given.
final class RecordingSink: TransitionSink {
  private let taken = Shared<[([Transition], Snapshot)]>([])
  func take(_ transitions: [Transition], _ snapshot: Snapshot) { taken.withLock { $0.append((transitions, snapshot)) } }
  var calls: [([Transition], Snapshot)] { taken.value }
  var transitions: [Transition] { calls.flatMap(\.0) }
  func forget() { taken.withLock { $0 = [] } }
}
