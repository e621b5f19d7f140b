internal import ReachabilityModel

/// All watched targets: who watches them, what they were told, and which of them a change of the kernel touches.
///
/// Targets that are judged by the routes to their addresses alone share ``PathClass``es; an event touches the classes of
/// the addresses in its block, found by binary search, and costs one lookup for each. The others (pairs, scoped targets,
/// names not resolved yet, special addresses) are asked about one by one when an event's block covers them.
///
/// Pure: no clock, no lock. A reading comes in two steps, ``queries(for:due:)`` and ``judge(_:settle:)``.
struct WatchBook {
  /// Which interfaces count.
  let requirement: InterfaceRequirement
  /// Nil where a target ended.
  var watches: [Watch?] = []
  /// By the numbers of the watches: their places in the order in which targets were asked for.
  var orders: [UInt64] = []
  /// Numbers no longer grow with the order.
  private(set) var hasReusedNumbers = false
  private var free: [Int32] = []
  private(set) var numbers: [ReachabilityTarget: Int32] = [:]
  private var nextOrder: UInt64 = 0
  /// By watch: the number of the path that everybody has been told, of single targets.
  var told: [Int32] = []
  /// By watch: when a loss that waits is told, of single targets; zero when none waits.
  var holds: [Duration] = []
  /// The single targets that may have a loss waiting.
  var held: [Int32] = []
  /// The others whose loss waits.
  var heldWholes: Set<Int32> = []
  var wholes: [Int32: Whole] = [:]
  var touchedWholes: [Int32] = []

  /// The addresses of IPv4, then those of IPv6.
  var indexes = IPAddress.Family.allCases.map(TargetIndex.init)
  /// The blocks of all routes and rules; nil until a survey listed them.
  var blocks: RouteBlocks?
  var classes: [PathClass?] = []
  var freeClasses: [Int32] = []
  var classNumbers: [IPPrefix: Int32] = [:]
  var touchedClasses: [Int32] = []
  var paths = PathCatalogue()
  /// The number of the last survey, so that a class is asked once in each.
  var round: UInt64 = 0
  /// Members of a class turned out to have paths of their own: the next reading should be made at once.
  var needsAnotherRound = false
  /// Where the next audit takes its samples from.
  var auditPosition = 0
  /// Blocks that the last audit's list had and we had not.
  var missingBlocks = 0

  /// How many targets are watched.
  var count: Int { numbers.count }

  init(permitting requirement: InterfaceRequirement = .none) { self.requirement = requirement }

  /// The addresses by whose classes a watch is judged; nil when it has questions of its own.
  func routedAddresses(of watch: Watch) -> [IPAddress]? {
    TargetRules.routedAddresses(of: watch.target, resolution: watch.resolution, permitting: requirement)
  }

  // MARK: - Who is watched

  /// Starts watching a target, or counts one more who does.
  ///
  /// - Parameters:
  ///   - target: what is watched.
  ///   - limit: how many targets there may be with it.
  /// - Returns: false when there are too many targets already.
  mutating func watch(_ target: ReachabilityTarget, limit: Int = Limits.watchedTargets) -> Bool {
    if let number = numbers[target] {
      watches[Int(number)]?.subscriptions += 1
      return true
    }
    guard count < limit else { return false }
    let number = newNumber()
    nextOrder += 1
    numbers[target] = number
    watches[Int(number)] = Watch(target: target)
    orders[Int(number)] = nextOrder
    place(number)
    return true
  }

  private mutating func newNumber() -> Int32 {
    if let number = free.popLast() {
      hasReusedNumbers = true
      return number
    }
    watches.append(nil)
    orders.append(0)
    told.append(TargetIndex.unknown)
    holds.append(.zero)
    return Int32(watches.count - 1)
  }

  /// Stops watching a target that nobody else watches.
  mutating func unwatch(_ target: ReachabilityTarget) {
    guard let number = numbers[target], let watch = watches[Int(number)] else { return }
    guard watch.subscriptions == 1 else {
      watches[Int(number)]?.subscriptions -= 1
      return
    }
    displace(number)
    forgetVerdict(number)
    watches[Int(number)] = nil
    numbers[target] = nil
    free.append(number)
  }

  /// Takes in what the resolver found; the next reading judges by it.
  mutating func resolved(_ target: ReachabilityTarget, _ resolution: NameResolution) {
    guard let number = numbers[target], let watch = watches[Int(number)], watch.resolution != resolution else { return }
    displace(number)
    // What was told stays told until the next reading.
    let verdict = wholes[number]?.verdict
    watches[Int(number)]?.resolution = resolution
    watches[Int(number)]?.hasNewAnswer = true
    place(number)
    wholes[number]?.verdict = verdict
  }

  /// Puts a watch where changes find it.
  private mutating func place(_ number: Int32) {
    guard let watch = watches[Int(number)] else { return }
    let addresses = routedAddresses(of: watch)
    guard let addresses else {
      watches[Int(number)]?.form = .own
      wholes[number] = Whole()
      return touchWhole(number)
    }
    if case .name = watch.target.remote {
      watches[Int(number)]?.form = .several
      wholes[number] = Whole()
    } else {
      watches[Int(number)]?.form = .single
    }
    for address in Set(addresses.map(\.unmapped)) { add(address, for: number, isOwn: false) }
  }

  private mutating func displace(_ number: Int32) {
    guard let watch = watches[Int(number)] else { return }
    let addresses = routedAddresses(of: watch)
    let own = wholes[number]?.queries?.map(\.destination) ?? []
    for address in Set((addresses ?? own).map(\.unmapped)) { remove(address, of: number) }
  }

  private mutating func forgetVerdict(_ number: Int32) {
    told[Int(number)] = TargetIndex.unknown
    holds[Int(number)] = .zero
    wholes[number] = nil
    heldWholes.remove(number)
  }

  mutating func add(_ address: IPAddress, for watch: Int32, isOwn: Bool) {
    indexes[address.family.place].add(address, for: watch, isOwn: isOwn)
  }

  mutating func remove(_ address: IPAddress, of watch: Int32) {
    indexes[address.family.place].remove(address, of: watch)
  }
}

extension IPAddress.Family {
  /// Where the family's index stands in ``WatchBook/indexes``.
  var place: Int { self == .ipv4 ? 0 : 1 }
}
