internal import Locks
public import ReachabilityModel

/// Scripted name resolution: the test double for the hosts file and the name servers.
///
/// ```swift
/// let names = ScriptedNames(["db.internal": ["10.0.0.9"]])
/// let monitor = ReachabilityMonitor(kernel: kernel, names: names)
/// ```
///
/// A name that is not in the script does not exist, including `localhost`; case and a final dot are ignored. A monitor that
/// watches a name receives its first answer with the first verdict, and each change before
/// ``change(_:to:file:line:)-(_,NameResolution,_,_)`` returns. A malformed text ends the test, with a message that names the
/// text and the line. A `Checker` without a custom prober queries real servers.
public final class ScriptedNames: NameSource {
  private struct State {
    var resolutions: [String: NameResolution] = [:]
    var listeners: [@Sendable () -> Void] = []
  }

  private let state = Locked(State())

  /// A script with the addresses of some names, as texts.
  public init(_ names: [String: [String]] = [:], file: StaticString = #fileID, line: UInt = #line) {
    for (name, addresses) in names { change(name, to: addresses, file: file, line: line) }
  }

  /// Replaces the addresses of a name, as texts.
  ///
  /// Without an address the name does not exist.
  public func change(
    _ name: String, to addresses: [String], file: StaticString = #fileID, line: UInt = #line
  ) {
    let syntax = ScriptSyntax(file: file, line: line)
    let addresses = addresses.map { syntax.address($0) }
    change(name, to: addresses.isEmpty ? .notFound : .addresses(addresses), file: file, line: line)
  }

  /// Replaces the resolution of a name: `.notFound`, `.failed(.dnsTimeout)`, or `.pending` for no answer yet.
  ///
  /// As with real servers, a failure does not remove the addresses of a watched name.
  public func change(
    _ name: String, to resolution: NameResolution, file: StaticString = #fileID, line: UInt = #line
  ) {
    let name = ScriptSyntax(file: file, line: line).hostName(name)
    let listeners = state.withLock { state in
      state.resolutions[Self.key(name)] = resolution
      return state.listeners
    }
    for notify in listeners { notify() }
  }

  /// The resolution of a name.
  public func resolution(of name: String) -> NameResolution {
    state.withLock { $0.resolutions[Self.key(name)] } ?? .notFound
  }

  /// Adds a closure that is called after each change.
  public func onChange(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.listeners.append(body) } }

  private static func key(_ name: String) -> String {
    let name = name.lowercased()
    return name.hasSuffix(".") ? String(name.dropLast()) : name
  }
}
