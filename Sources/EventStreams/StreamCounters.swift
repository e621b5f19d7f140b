package import Synchronization

/// The counters of a server's streams; written by its threads, read by any thread.
package final class StreamCounters: Sendable {
  package let open = Atomic(0)
  package let opened = Atomic(0)
  /// Streams closed because their reader was too slow.
  package let lagged = Atomic(0)
  /// Streams whose client closed the connection.
  package let gone = Atomic(0)
  /// Taken-over streams that are behind now: the buffers of most of their sockets are full.
  package let behind = Atomic(0)
  /// Bytes that taken-over streams have sent, without the response's head.
  package let bytes = Atomic(0)

  package init() {}
}

extension Atomic<Int> {
  /// Adds 1.
  package func increment() { wrappingAdd(1, ordering: .relaxed) }
  package func add(_ amount: Int) { wrappingAdd(amount, ordering: .relaxed) }
  /// Subtracts 1.
  package func decrement() { wrappingSubtract(1, ordering: .relaxed) }
}
