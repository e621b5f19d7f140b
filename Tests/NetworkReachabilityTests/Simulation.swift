import NetworkReachability
import NetworkReachabilityTesting
import TestSupport

/// A random life of a network, and of those who listen to it, that depends on a seed alone.
struct Simulation {
  let bench = Bench(.wired)
  var script = KernelScript.wired
  var generator: SeededGenerator
  private(set) var problems: [String] = []
  private(set) var quietPoints = 0
  private var listeners: [Listening] = []
  private var readers: [(iterator: ReachabilityUpdates.Iterator, fold: Fold?)] = []
  private let sink = RecordingSink()
  private var sinkFold: Fold?
  private var step = 0

  private struct Listening {
    let recorder: Tape
    let subscription: ReachabilityMonitor.Subscription
    let targets: [ReachabilityTarget]
    var fold: Fold?
  }

  /// Stores updates until they are read.
  private final class Tape: Sendable {
    private let updates = Shared<[ReachabilityUpdate]>([])
    func record(_ update: ReachabilityUpdate) { updates.withLock { $0.append(update) } }
    func take() -> [ReachabilityUpdate] {
      updates.withLock { updates in
        defer { updates = [] }
        return updates
      }
    }
  }

  static let targets: [ReachabilityTarget] =
    [
      .default, .localLink, ReachabilityTarget(.address(IPAddress(ipv4: 0x0a00_0109))),
      ReachabilityTarget(.address(IPAddress(ipv4: 0xc000_0201))),
      ReachabilityTarget(.defaultPath, interface: "eth1"),
      ReachabilityTarget(.address(IPAddress(ipv4: 0x0a00_0209)), source: IPAddress(ipv4: 0x0a00_0205)),
    ] + routed

  /// Targets that share classes, in blocks that are added and removed, of both families.
  static let routed: [ReachabilityTarget] = (0..<24).map { number in
    let bits = UInt32(number)
    return number < 16
      ? ReachabilityTarget(.address(IPAddress(ipv4: 0xc612_0000 | (bits & 3) << 14 | bits >> 2)))
      : ReachabilityTarget(.address(IPAddress(ipv6: 0x2001_0db8_0000_0000 | UInt64(bits & 3) << 16, UInt64(bits))))
  }

  /// A block around one of those.
  private mutating func someBlock() -> IPPrefix {
    guard case .address(let address) = Self.routed.randomElement(using: &generator)?.remote else { return anyIPv4 }
    let lengths = address.family == .ipv4 ? [8, 15, 16, 18, 28, 31, 32] : [16, 32, 46, 48, 64, 127, 128]
    return IPPrefix(address, length: UInt8(lengths.randomElement(using: &generator) ?? 0)).block
  }

  init(seed: UInt64) throws {
    generator = SeededGenerator(seed: seed)
    try bench.monitor.start()
    bench.monitor.attach(sink)
  }

  mutating func run(steps: Int) async {
    for _ in 0..<steps where problems.isEmpty {
      step += 1
      switch Int.random(in: 0..<100, using: &generator) {
      case 0..<60: change()
      case 60..<70: bench.kernel.change(causes())
      case 70..<80: bench.kernel.advance(by: .microseconds(Int.random(in: 0...15_000, using: &generator)))
      case 80..<82: bench.kernel.fail(KernelError(operation: "recv", errno: 105, message: "no buffer space"))
      case 82..<88: comeOrGo()
      case 88..<90: bench.kernel.refresh()
      default: await quietPoint()
      }
    }
    await quietPoint()
    listeners.forEach { $0.subscription.cancel() }
    bench.monitor.stop()
  }

  private mutating func causes() -> Set<Cause> {
    let some: [Cause] = [.routeAdded, .routeRemoved, .resync]
    return Set(some.shuffled(using: &generator).prefix(Int.random(in: 0...2, using: &generator)))
  }

  // MARK: - Events

  private mutating func change() {
    let index = UInt32.random(in: 2...4, using: &generator)
    let name = "eth\(index - 2)"
    switch Int.random(in: 0..<20, using: &generator) {
    case 18: exchangeNames(index)
    case 19:
      if !script.interfaces.contains(where: { $0.name == "\(name).1" }) {
        script.change(name) { $0.name = "\(name).1" }
      }
    case 12...15:
      let types: [RouteType] = [.unicast, .unicast, .unicast, .blackhole, .unreachable, .prohibit]
      let type = types.randomElement(using: &generator) ?? .unicast
      let metric = UInt32.random(in: 1...3, using: &generator)
      // One route to a block and metric, as the kernel has it; the script takes the first of equals.
      let block = someBlock()
      script.routes.removeAll { $0.prefix == block && $0.metric == metric }
      var hops = type == .unicast ? [Route.NextHop(interfaceIndex: index)] : []
      if type == .unicast, Bool.random(using: &generator) { hops.append(.init(interfaceIndex: 2)) }
      var route = Route(type: type, prefix: block, metric: metric, hops: hops)
      route.selectsByDestination = hops.count > 1
      script.routes.append(route)
    case 16...17:
      script.routes.removeAll { $0.prefix.length > 0 && $0.metric > 0 && Bool.random(using: &generator) }
    case 0: script.removeDefaults(Bool.random(using: &generator) ? .ipv4 : .ipv6)
    case 1...2:
      if script.routes.count(where: { $0.prefix.length == 0 }) < 6 {
        let metric = UInt32.random(in: 1...3, using: &generator)
        let isIPv4 = Int.random(in: 0..<3, using: &generator) > 0
        script.addDefault(via: isIPv4 ? "10.0.\(index).1" : "fe80::\(index)", on: index, metric: metric)
      }
    case 3: script.change(name) { $0.flags.formSymmetricDifference(.up) }
    case 4:
      let states = Interface.OperationalState.allCases
      let state = states.randomElement(using: &generator) ?? .up
      script.change(name) { $0.operationalState = state }
    case 5: script.change(name) { $0.mtu ^= 4 }
    case 6:
      // IFF_PROMISC, which is irrelevant.
      script.change(name) { $0.flags.formSymmetricDifference(.init(rawValue: 1 << 8)) }
    case 7:
      if !script.interfaces.contains(where: { $0.index == index || $0.name == name }) {
        script.addInterface(index, name, [.ethernet, .wifi, .wwan][Int(index) - 2])
      }
    case 8:
      script.interfaces.removeAll { $0.index == index }
      script.addresses.removeAll { $0.interfaceIndex == index }
      script.routes.removeAll { route in route.hops.contains { $0.interfaceIndex == index } }
    case 9:
      if script.addresses.count < 8 { script.addAddress("10.0.\(index).5/24", to: index) }
    case 10:
      if script.addresses.count < 8 { script.addAddress("2001:db8:\(index)::5/64", to: index) }
    default:
      script.addresses.removeAll { $0.interfaceIndex == index }
      script.routes.removeAll { $0.prefix.length > 0 && $0.hops.contains { $0.interfaceIndex == index } }
    }
    let changed = script
    bench.kernel.change(causes()) { $0 = changed }
  }

  /// Gives two interfaces each other's names.
  private mutating func exchangeNames(_ index: UInt32) {
    let other = index == 4 ? 2 : index + 1
    guard let first = script.interfaces.firstIndex(where: { $0.index == index }),
      let second = script.interfaces.firstIndex(where: { $0.index == other })
    else { return }
    let name = script.interfaces[first].name
    script.interfaces[first].name = script.interfaces[second].name
    script.interfaces[second].name = name
  }

  private mutating func comeOrGo() {
    switch Int.random(in: 0..<4, using: &generator) {
    case 0 where listeners.count < 5:
      let targets = Self.targets.shuffled(using: &generator).prefix(Int.random(in: 0...12, using: &generator))
      let recorder = Tape()
      let subscription = bench.monitor.listen(to: .all, watching: Array(targets), on: .immediate) {
        recorder.record($0)
      }
      guard let subscription else { return complain("refused") }
      listeners.append(Listening(recorder: recorder, subscription: subscription, targets: Array(targets)))
    case 1 where !listeners.isEmpty:
      var listener = listeners.remove(at: Int.random(in: 0..<listeners.count, using: &generator))
      check(&listener)
    case 2 where readers.count < 2:
      readers.append((bench.monitor.updates(of: .all).makeAsyncIterator(), nil))
    case 3 where !readers.isEmpty:
      readers.removeFirst()
    default: break
    }
  }

  // MARK: - Conditions

  private mutating func quietPoint() async {
    quietPoints += 1
    // A successful reading, and then the end of every settle time.
    bench.kernel.change()
    bench.kernel.advance(by: Bench.settle)
    let snapshot = bench.monitor.snapshot
    complain("a loss still waits", when: bench.kernel.deadline != nil)
    complain("verdict differs from the rules", when: snapshot.machine != freshMachine())
    complain("interfaces differ from the script", when: shown(snapshot.interfaces) != shown(freshInterfaces()))
    for target in Set(listeners.flatMap(\.targets)) {
      complain("\(target) differs from the rules", when: bench.monitor.verdict(of: target) != fresh(target))
    }
    checkSink(snapshot)
    for index in listeners.indices {
      var listener = listeners[index]
      check(&listener)
      listeners[index] = listener
    }
    await checkReaders(snapshot)
    let differences = bench.kernel.audit()
    complain("an audit finds \(differences) differences", when: differences != 0)
  }

  private func freshMachine() -> MachinePath {
    func path(_ family: IPAddress.Family) -> NetworkPath {
      let queries = StatusRules.defaultQueries(family)
      let answers = Dictionary(uniqueKeysWithValues: queries.map { ($0, script.answer($0)) })
      var path = StatusRules.defaultPath(queries, answers, in: script.tables)
      (path.prefix, path.routeType) = (nil, nil)
      return path
    }
    return MachinePath(ipv4: path(.ipv4), ipv6: path(.ipv6))
  }

  private func fresh(_ target: ReachabilityTarget) -> HostVerdict {
    let queries = TargetRules.queries(for: target, in: script.tables)
    let answers = Dictionary(queries.map { ($0, script.answer($0)) }, uniquingKeysWith: { first, _ in first })
    return TargetRules.verdict(for: target, answers: answers, in: script.tables)
  }

  private func freshInterfaces() -> [InterfaceState] {
    script.tables.interfaces.map { interface in
      let addresses = script.tables.usableAddresses(of: interface.index).map(\.prefix)
      return InterfaceState(interface: interface, addresses: addresses)
    }
  }

  /// The interfaces without irrelevant flags.
  private func shown(_ states: [InterfaceState]) -> [InterfaceState] {
    states.map { state in
      var state = state
      state.interface.flags.remove(.init(rawValue: 1 << 8))
      return state
    }
  }

  private mutating func checkSink(_ snapshot: Snapshot) {
    let calls = sink.calls
    guard var fold = sinkFold ?? calls.first.map({ Fold($0.1) }) else { return complain("the sink was told nothing") }
    for (transitions, after) in calls {
      transitions.forEach { fold.apply($0) }
      complain("the sink's fold is not its snapshot", when: fold.snapshot != after)
    }
    fold.problems.forEach { complain("sink: \($0)") }
    complain("the sink's fold is not the snapshot", when: fold.snapshot != snapshot)
    sinkFold = fold
    sink.forget()
  }

  private mutating func check(_ listener: inout Listening) {
    for update in listener.recorder.take() {
      if listener.fold == nil {
        complain("no initial update", when: !update.isInitial)
        listener.fold = Fold(update.snapshot)
      } else {
        listener.fold?.take(update)
      }
    }
    listener.fold?.problems.forEach { complain("listener: \($0)") }
    complain("a listener's fold is not the snapshot", when: listener.fold?.snapshot != bench.monitor.snapshot)
    for target in listener.targets {
      let verdict = bench.monitor.verdict(of: target)
      complain("a listener's \(target) is not what is told", when: listener.fold?.hosts[target] != verdict)
    }
  }

  private mutating func checkReaders(_ snapshot: Snapshot) async {
    for index in readers.indices {
      if readers[index].fold == nil {
        guard let initial = await readers[index].iterator.next() else { return complain("a sequence ended") }
        readers[index].fold = Fold(initial.snapshot)
      }
      // Every change so far is in the mailbox, so this does not wait.
      while let number = readers[index].fold?.snapshot.sequence, number < snapshot.sequence, problems.isEmpty {
        guard let update = await readers[index].iterator.next() else { return complain("a sequence ended") }
        if update.skipped > 0 { readers[index].fold = Fold(update.snapshot) } else { readers[index].fold?.take(update) }
        readers[index].fold?.problems.forEach { complain("sequence: \($0)") }
      }
      complain("a sequence's fold is not the snapshot", when: readers[index].fold?.snapshot != snapshot)
    }
  }

  private mutating func complain(_ problem: String, when wrong: Bool = true) {
    if wrong { problems.append("step \(step): \(problem)") }
  }
}
