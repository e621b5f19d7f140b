import Locks
import NetworkReachability
import NetworkReachabilityTesting

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

/// A snapshot that is carried forward by transitions alone, and what is wrong with them.
struct Fold {
  private(set) var snapshot: Snapshot
  /// The indexes by name, as a client has them that does not key by index.
  private(set) var names: [String: UInt32]
  private(set) var hosts: [ReachabilityTarget: HostVerdict] = [:]
  private(set) var problems: [String] = []

  init(_ snapshot: Snapshot) {
    self.snapshot = snapshot
    names = Self.names(snapshot)
  }

  private static func names(_ snapshot: Snapshot) -> [String: UInt32] {
    Dictionary(snapshot.interfaces.map { ($0.interface.name, $0.interface.index) }) { first, _ in first }
  }

  /// Takes a subscriber's next update.
  mutating func take(_ update: ReachabilityUpdate) {
    guard let transition = update.transition else { return complain("a second initial update", when: true) }
    apply(transition)
    // Earlier host verdicts have the machine's number, not its next one.
    if transition.kind == .host { return }
    // Changes of one reading share the state after all of them.
    guard transition.sequence == update.snapshot.sequence else { return }
    complain("the fold is not the update's snapshot at \(transition.sequence)", when: snapshot != update.snapshot)
    complain("the names are not those of the snapshot at \(transition.sequence)", when: names != Self.names(snapshot))
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
    default: break
    }
  }

  private mutating func apply(_ state: InterfaceState, removed: Bool, _ number: UInt64) {
    let place = snapshot.interfaces.firstIndex { $0.interface.index == state.interface.index }
    let name = state.interface.name
    complain("\(number): removed a name of another index", when: removed && names[name] != state.interface.index)
    names[name] = removed ? nil : state.interface.index
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
