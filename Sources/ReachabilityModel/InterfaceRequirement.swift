/// The interface types that may carry the traffic, like the parameters of NWPathMonitor.
public struct InterfaceRequirement: Hashable, Sendable {
  /// The only type that is permitted; nil for any.
  public var required: InterfaceType?
  /// The types that are not permitted.
  public var prohibited: Set<InterfaceType>

  /// Creates a requirement; by default none.
  public init(required: InterfaceType? = nil, prohibited: Set<InterfaceType> = []) {
    self.required = required
    self.prohibited = prohibited
  }

  /// Permits every type.
  public static let none = InterfaceRequirement()

  /// Whether an interface of this type may carry the traffic.
  public func permits(_ type: InterfaceType) -> Bool {
    (required == nil || required == type) && !prohibited.contains(type)
  }

  /// The scopes of the lookups: unscoped, and if types are restricted, each permitted interface.
  func scopes(in tables: KernelTables) -> [UInt32?] {
    guard self != .none else { return [nil] }
    return [nil] + tables.interfaces.filter { permits($0.type) && $0.type != .loopback }.map(\.index)
  }

  /// The path that counts, of those found in ``scopes(in:)``, in the same order.
  ///
  /// That is the kernel's own choice if it is permitted; otherwise the permitted path with the highest rank, the first
  /// on a tie.
  func choice(of paths: [NetworkPath]) -> NetworkPath {
    guard let own = paths.first else { return .unknown(.starting) }
    guard self != .none, own.isKnown else { return own }
    if let interface = own.interface, permits(interface.type) { return own }
    // A scoped answer without an interface (no route) is a loss like any other.
    return paths.dropFirst().reduce(NetworkPath.none(.noRoute)) { best, path in path.rank > best.rank ? path : best }
  }
}
