internal import Locks

/// A server's identity as it is now: its thread reads it at each handshake, and any thread may replace it.
final class CurrentIdentity: Sendable {
  private let current: Locked<TLSIdentity>

  init(_ identity: TLSIdentity) { current = Locked(identity) }

  var identity: TLSIdentity { current.withLock(\.self) }

  func replace(_ identity: TLSIdentity) { current.withLock { $0 = identity } }
}
