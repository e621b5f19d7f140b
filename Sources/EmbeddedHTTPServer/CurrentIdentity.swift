internal import Locks

/// The current identity of a server: its thread reads it in each handshake, and any thread may replace it.
final class CurrentIdentity: Sendable {
  private let current: Locked<TLSIdentity>

  init(_ identity: TLSIdentity) { current = Locked(identity) }

  var identity: TLSIdentity { current.withLock(\.self) }

  func replace(_ identity: TLSIdentity) { current.withLock { $0 = identity } }
}
