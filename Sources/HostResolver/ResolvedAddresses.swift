/// The addresses of a name: at most 64 of each family.
public struct ResolvedAddresses: Sendable, Hashable, RandomAccessCollection, ExpressibleByArrayLiteral {
  private let list: [ResolvedAddress]

  /// The number of the name's further addresses, which are left out.
  public let omitted: Int

  /// Makes a list of some addresses of a name.
  package init(_ list: [ResolvedAddress], omitted: Int = 0) {
    self.list = list
    self.omitted = omitted
  }

  /// Makes a list of all addresses of a name.
  public init(arrayLiteral elements: ResolvedAddress...) { self.init(elements) }

  /// Keeps addresses of one family up to a limit.
  ///
  /// More than that are kept by their value, because a server that rotates its answers would otherwise seem to change the
  /// name.
  init(_ list: [ResolvedAddress], limit: Int) {
    if list.count <= limit {
      self.init(list)
    } else {
      let sorted = list.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
      self.init(Array(sorted.prefix(limit)), omitted: list.count - limit)
    }
  }

  /// The position of the first address.
  public var startIndex: Int { list.startIndex }

  /// The position after the last address.
  public var endIndex: Int { list.endIndex }

  /// The address at a position.
  public subscript(position: Int) -> ResolvedAddress { list[position] }

  /// The addresses of both lists.
  static func + (left: Self, right: Self) -> Self {
    Self(left.list + right.list, omitted: left.omitted + right.omitted)
  }

  func withTimesToLive(_ change: (Duration?) -> Duration?) -> Self {
    Self(list.map { $0.with(timeToLive: change($0.timeToLive)) }, omitted: omitted)
  }
}
