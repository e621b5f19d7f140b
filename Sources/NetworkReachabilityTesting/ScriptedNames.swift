internal import Locks
public import ReachabilityModel

/// Names that resolve to what a test says: the test double for the hosts file and the name servers.
///
/// ```swift
/// let names = ScriptedNames(["db.internal": ["10.0.0.9"]])
/// let monitor = ReachabilityMonitor(kernel: { kernel }, names: names)
/// ```
///
/// A name that the script does not have does not exist, `localhost` included; case does not matter, nor a final dot.
/// Monitors that watch a name are told of its first answer with their first verdict, and of each change before
/// ``change(_:to:)-(_,NameResolution)`` returns. A `Checker` that was made without a prober of its own asks real servers.
public final class ScriptedNames: NameSource {
  private struct State {
    var resolutions: [String: NameResolution] = [:]
    var listeners: [@Sendable () -> Void] = []
  }

  private let state = Locked(State())

  /// A script with the addresses of some names, as texts; a malformed text counts for none.
  public init(_ names: [String: [String]] = [:]) {
    for (name, addresses) in names { change(name, to: addresses) }
  }

  /// Gives a name these addresses, as texts, in place of what it had; a malformed text counts for none.
  ///
  /// Without any the name does not exist.
  public func change(_ name: String, to addresses: [String]) {
    let addresses = addresses.compactMap { IPAddress($0) }
    change(name, to: addresses.isEmpty ? .notFound : .addresses(addresses))
  }

  /// Has a name resolve to something else: `.notFound`, `.failed(.dnsTimeout)`, or `.pending` for no answer yet.
  ///
  /// As with real servers, those that fail take no addresses away from who watches the name.
  public func change(_ name: String, to resolution: NameResolution) {
    let listeners = state.withLock { state in
      state.resolutions[Self.key(name)] = resolution
      return state.listeners
    }
    for tell in listeners { tell() }
  }

  /// What the script says of a name.
  public func resolution(of name: String) -> NameResolution {
    state.withLock { $0.resolutions[Self.key(name)] } ?? .notFound
  }

  /// Has a monitor told of changes.
  public func onChange(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.listeners.append(body) } }

  private static func key(_ name: String) -> String {
    let name = name.lowercased()
    return name.hasSuffix(".") ? String(name.dropLast()) : name
  }
}
