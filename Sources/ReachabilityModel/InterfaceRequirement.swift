/// Which types of interface may carry the traffic that is judged, as NWPathMonitor's parameters say it.
public struct InterfaceRequirement: Hashable, Sendable {
  /// Only interfaces of this type count; nil for any.
  public var required: InterfaceType?
  /// Interfaces of these types do not count.
  public var prohibited: Set<InterfaceType>

  /// A requirement; by default none.
  public init(required: InterfaceType? = nil, prohibited: Set<InterfaceType> = []) {
    self.required = required
    self.prohibited = prohibited
  }

  /// Every type may.
  public static let none = InterfaceRequirement()

  /// Whether an interface of this type may carry the traffic.
  public func permits(_ type: InterfaceType) -> Bool {
    (required == nil || required == type) && !prohibited.contains(type)
  }

  /// The scopes in which to ask the kernel: its own choice, and where that may not be taken, each interface that may.
  func scopes(in tables: KernelTables) -> [UInt32?] {
    guard self != .none else { return [nil] }
    return [nil] + tables.interfaces.filter { permits($0.type) && $0.type != .loopback }.map(\.index)
  }

  /// Of the ways that were found in ``scopes(in:)``, in that order, the one that counts.
  ///
  /// That is the kernel's own choice where it is permitted; else the permitted one that comes furthest, the first on a tie.
  func choice(of paths: [NetworkPath]) -> NetworkPath {
    guard let own = paths.first else { return .unknown(.starting) }
    guard self != .none, own.isKnown else { return own }
    if let interface = own.interface, permits(interface.type) { return own }
    // A scoped answer that names no interface, because there is no way, is a loss like others.
    return paths.dropFirst().reduce(NetworkPath.none(.noRoute)) { best, path in path.rank > best.rank ? path : best }
  }
}
