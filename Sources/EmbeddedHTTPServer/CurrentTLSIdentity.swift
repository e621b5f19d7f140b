internal import Locks

/// The current identity of a server: its thread reads it in each handshake, and any thread may replace it.
final class CurrentTLSIdentity: Sendable {
  private let current: Locked<ServerTLSIdentity>

  init(_ identity: ServerTLSIdentity) { current = Locked(identity) }

  var identity: ServerTLSIdentity { current.withLock(\.self) }

  func replace(_ identity: ServerTLSIdentity) { current.withLock { $0 = identity } }
}
