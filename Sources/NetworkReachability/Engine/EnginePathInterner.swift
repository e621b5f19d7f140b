internal import ReachabilityModel

/// Identifies a path in a ``EnginePathInterner``, in as few bits as a ``EngineTargetID``; negative for no path.
typealias PathID = Int32

/// Stores each distinct path of the watched targets once, so that ten thousand targets behind one router share a path.
struct EnginePathInterner {
  static let none: PathID = -1

  private var paths: [SharedValue<NetworkPath>] = []
  private var ids: [NetworkPath: PathID] = [:]
  /// For each path, whether it is reachable, which is read far more often than the rest.
  private var reachable: [Bool] = []

  /// The number of stored paths; identifiers are less than it.
  var count: Int { paths.count }

  /// Returns the identifier of a path, and stores the path if it is new.
  mutating func id(of path: NetworkPath) -> PathID {
    if let id = ids[path] { return id }
    let id = PathID(paths.count)
    paths.append(SharedValue(path))
    reachable.append(path.status.isReachable)
    ids[path] = id
    return id
  }

  subscript(id: PathID) -> SharedValue<NetworkPath> { paths[Int(id)] }

  func isReachable(_ id: PathID) -> Bool { reachable[Int(id)] }

  /// Whether a change from one path to another loses reachability.
  func isLoss(_ old: PathID, _ new: PathID) -> Bool { reachable[Int(old)] && !reachable[Int(new)] }

  /// Removes all paths except those in use.
  ///
  /// - Parameter used: the identifiers in use; negative ones are ignored.
  /// - Returns: the new identifier of each old one.
  mutating func compact(keeping used: some Sequence<PathID>) -> [PathID] {
    var kept = EnginePathInterner()
    var renumbered = [PathID](repeating: Self.none, count: paths.count)
    for id in used where id >= 0 && renumbered[Int(id)] < 0 {
      renumbered[Int(id)] = kept.id(of: paths[Int(id)].value)
    }
    self = kept
    return renumbered
  }
}
