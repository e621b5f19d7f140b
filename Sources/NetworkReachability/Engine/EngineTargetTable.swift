internal import ReachabilityModel

/// Identifies a watched target, as an index into the columns kept per target; reused after the target is removed.
///
/// 32 bits, because columns of them are scanned for a hundred thousand targets at a time.
typealias EngineTargetID = Int32

/// The watched targets: their identifiers, the number of subscriptions to each, and the order of their first subscriptions.
struct EngineTargetTable {
  enum EvaluationMode: UInt8 {
    /// By the forwarding class of its address.
    case address
    /// By the forwarding classes of all its addresses: a resolved name.
    case name
    /// By lookups of its own.
    case individual
  }

  struct Entry {
    let target: ReachabilityTarget
    var subscriptions = 1
    var resolution: NameResolution = .pending
    /// The resolver reported a new answer after the last verdict.
    var hasNewResolution = false
    var mode = EvaluationMode.individual
  }

  /// By identifier; nil where a target was removed.
  private var entries: [Entry?] = []
  private var ids: [ReachabilityTarget: EngineTargetID] = [:]
  private var freeIDs: [EngineTargetID] = []
  /// By identifier: the position of the target in the order of subscription.
  private var ranks: [UInt64] = []
  private var lastRank: UInt64 = 0
  /// Identifiers no longer ascend in the order of subscription.
  private var hasReusedIDs = false

  var count: Int { ids.count }
  /// The length of a column with one element for each identifier.
  var columnCount: Int { entries.count }

  subscript(id: EngineTargetID) -> Entry? { entries[Int(id)] }

  /// The identifier of a target; nil when it is not watched.
  func id(of target: ReachabilityTarget) -> EngineTargetID? { ids[target] }

  // Projections of one field: the subscript copies the whole entry.

  /// The target of an identifier; nil when it was removed.
  func target(_ id: EngineTargetID) -> ReachabilityTarget? { entries[Int(id)]?.target }

  /// The evaluation mode of a target; nil when it was removed.
  func mode(_ id: EngineTargetID) -> EvaluationMode? { entries[Int(id)]?.mode }

  /// The targets in the order of their first subscriptions.
  var inOrder: [ReachabilityTarget] {
    entries.indices.sorted { ranks[$0] < ranks[$1] }.compactMap { entries[$0]?.target }
  }

  // MARK: - Changes

  /// Adds a target with one subscription.
  mutating func insert(_ target: ReachabilityTarget) -> EngineTargetID {
    let id = makeID()
    lastRank += 1
    ids[target] = id
    entries[Int(id)] = Entry(target: target)
    ranks[Int(id)] = lastRank
    return id
  }

  private mutating func makeID() -> EngineTargetID {
    if let id = freeIDs.popLast() {
      hasReusedIDs = true
      return id
    }
    entries.append(nil)
    ranks.append(0)
    return EngineTargetID(entries.count - 1)
  }

  mutating func retain(_ id: EngineTargetID) { entries[Int(id)]?.subscriptions += 1 }

  /// Ends a subscription to a target.
  ///
  /// - Returns: whether it was the last; the caller then calls ``remove(_:)``.
  mutating func release(_ id: EngineTargetID) -> Bool {
    guard let count = entries[Int(id)]?.subscriptions else { return false }
    if count > 1 { entries[Int(id)]?.subscriptions = count - 1 }
    return count == 1
  }

  mutating func remove(_ id: EngineTargetID) {
    guard let target = target(id) else { return }
    entries[Int(id)] = nil
    ids[target] = nil
    freeIDs.append(id)
  }

  mutating func setMode(_ mode: EvaluationMode, of id: EngineTargetID) { entries[Int(id)]?.mode = mode }

  mutating func setResolution(_ resolution: NameResolution, of id: EngineTargetID) {
    entries[Int(id)]?.resolution = resolution
    entries[Int(id)]?.hasNewResolution = true
  }

  /// Returns whether the resolver reported a new answer after the last call.
  mutating func takeNewResolution(_ id: EngineTargetID) -> Bool {
    guard entries[Int(id)]?.hasNewResolution == true else { return false }
    entries[Int(id)]?.hasNewResolution = false
    return true
  }

  // MARK: - Order

  /// The positions of changes in the order in which their targets were subscribed to.
  ///
  /// When many targets change together, one pass over a column is several times faster than sorting.
  func order(_ changes: EngineChangeList) -> [Int] {
    let count = changes.count
    guard count > 1 else { return Array(0..<count) }
    guard !hasReusedIDs, count > entries.count / 8 else {
      return (0..<count).sorted { ranks[Int(changes.target(at: $0))] < ranks[Int(changes.target(at: $1))] }
    }
    var positions = [Int](repeating: -1, count: entries.count)
    for position in 0..<count { positions[Int(changes.target(at: position))] = position }
    return positions.filter { $0 >= 0 }
  }
}
