internal import ReachabilityModel

/// Every path that some target has or had, once: ten thousand targets behind one router share one path by its number.
struct PathCatalogue {
  private var paths: [Shared<NetworkPath>] = []
  private var numbers: [NetworkPath: Int32] = [:]
  /// Whether each is reachable, which is asked far more often than the rest.
  private var reachable: [Bool] = []

  /// How many there are; the numbers go up to it.
  var count: Int { paths.count }

  /// The number of a path, a new one when it was never seen.
  mutating func number(of path: NetworkPath) -> Int32 {
    if let number = numbers[path] { return number }
    let number = Int32(paths.count)
    paths.append(Shared(path))
    reachable.append(path.status.isReachable)
    numbers[path] = number
    return number
  }

  /// The path of a number.
  subscript(number: Int32) -> Shared<NetworkPath> { paths[Int(number)] }

  /// Whether a path leads somewhere.
  func isReachable(_ number: Int32) -> Bool { reachable[Int(number)] }

  /// True when going from one path to another loses the way.
  func isLoss(_ old: Int32, _ new: Int32) -> Bool { reachable[Int(old)] && !reachable[Int(new)] }

  /// Forgets all paths but those in use.
  ///
  /// - Parameter used: the numbers in use; less than zero is no number.
  /// - Returns: the new number of each old one.
  mutating func keep(_ used: some Sequence<Int32>) -> [Int32] {
    var kept = PathCatalogue()
    var renumbered = [Int32](repeating: -1, count: paths.count)
    for number in used where number >= 0 && renumbered[Int(number)] < 0 {
      renumbered[Int(number)] = kept.number(of: paths[Int(number)].value)
    }
    self = kept
    return renumbered
  }
}
