internal import CNATS
internal import Dispatch
internal import Locks

/// The ended subscriptions of a connection, until the library's reading thread cannot use them any more.
///
/// Up to libnats 3.5 (Debian 12 has 3.4), that thread uses the subscription of a message without a reference of its own
/// (nats.c issue 637), and writes to freed memory if another thread releases the last one meanwhile. When a flush returns,
/// the thread has processed everything that arrived before, and no longer uses what had ended before the flush.
final class NATSEndedSubscriptions: Sendable {
  private struct State: Sendable {
    /// The library's subscriptions, as numbers.
    var handles: [UInt] = []
    var isScheduled = false
  }

  private static let queue = DispatchQueue(label: "nats-ended", qos: .utility)
  private let state = Locked(State())

  /// Whether no further subscription may begin: without responses of the server, those that end are kept.
  var isFull: Bool { state.withLock { $0.handles.count >= Limits.endedSubscriptions } }

  var isEmpty: Bool { state.withLock(\.handles.isEmpty) }

  /// Keeps a subscription that receives nothing any more, and releases it after a flush of its connection.
  func add(_ handle: OpaquePointer, of connection: NATSConnection) {
    let number = UInt(bitPattern: handle)
    let begins = state.withLock { state in
      state.handles.append(number)
      defer { state.isScheduled = true }
      return !state.isScheduled
    }
    if begins { schedule(connection) }
  }

  /// Releases all, when the connection has no reading thread any more.
  func releaseAll() {
    let handles = state.withLock { state in
      defer { state.handles = [] }
      return state.handles
    }
    Self.release(handles)
  }

  private func schedule(_ connection: NATSConnection) {
    let deadline = DispatchTime.now() + .milliseconds(Int(Limits.endedSubscriptionPause / .milliseconds(1)))
    Self.queue.asyncAfter(deadline: deadline) { [self, weak connection] in
      guard let connection else { return }
      let count = state.withLock(\.handles.count)
      let isFlushed = (try? connection.flush(within: Limits.endedSubscriptionFlush)) != nil
      let (ended, isDone) = state.withLock { state in
        let ended = isFlushed ? Array(state.handles.prefix(count)) : []
        state.handles.removeFirst(ended.count)
        state.isScheduled = !state.handles.isEmpty
        return (ended, state.handles.isEmpty)
      }
      Self.release(ended)
      if !isDone { schedule(connection) }
    }
  }

  private static func release(_ handles: [UInt]) {
    for handle in handles { unsafe natsSubscription_Destroy(OpaquePointer(bitPattern: handle)) }
  }
}
