internal import CMicroHTTPD
internal import Glibc
internal import Synchronization

/// How event streams reach their clients.
public enum StreamMode: String, Sendable, CaseIterable {
  /// Taken over when a self-test at the start says that this libmicrohttpd lets sockets go, else by callback.
  case auto
  /// The socket is taken from libmicrohttpd after the request: a stream costs a few bytes, an event one system call.
  case takeover
  /// libmicrohttpd keeps the connection and asks for every block.
  case callback
}

/// The streams whose sockets were taken over, spread over threads of their own.
final class StreamHub: Sendable {
  private let inboxes: [Inbox<StreamShard.Message>]
  private let threads: [pthread_t]
  private let next = Atomic(0)

  /// Starts the threads; nil when the system has none, or no descriptors, left.
  init?(counters: ServerCounters, lagLimit: Int, onIdle: @escaping @Sendable () -> Void) {
    var inboxes: [Inbox<StreamShard.Message>] = []
    var threads: [pthread_t] = []
    for _ in 0..<min(Limits.streamShards, max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)) / 2)) {
      guard let shard = StreamShard(counters: counters, lagLimit: lagLimit, onIdle: onIdle) else { break }
      let context = unsafe Unmanaged.passRetained(shard)
      var thread = pthread_t()
      guard unsafe pthread_create(&thread, nil, streamThread, context.toOpaque()) == 0 else {
        unsafe context.release()
        break
      }
      inboxes.append(shard.inbox)
      threads.append(thread)
    }
    guard !threads.isEmpty else { return nil }
    self.inboxes = inboxes
    self.threads = threads
  }

  /// Hands a stream over; its socket is the hub's from here on.
  func adopt(_ handoff: StreamShard.StreamHandoff) {
    let turn = next.wrappingAdd(1, ordering: .relaxed).oldValue
    inboxes[turn % inboxes.count].post(.adopt(handoff))
  }

  /// Ends all streams: each gets what is pending, the farewell, and its end.
  func endStreams(closeEvent: [UInt8]) {
    for inbox in inboxes { inbox.post(.endStreams(closeEvent: closeEvent)) }
  }

  /// Cuts what is open and waits for the threads; once.
  func stop() {
    for inbox in inboxes { inbox.post(.stop) }
    for thread in threads { pthread_join(thread, nil) }
  }
}

/// The body of a shard's thread; `context` is a retained shard.
private func streamThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context = unsafe context else { return nil }
  var signals = sigset_t()
  unsafe sigfillset(&signals)
  unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
  unsafe CMicroHTTPD_name_thread("streams")
  unsafe Unmanaged<StreamShard>.fromOpaque(context).takeRetainedValue().run()
  return nil
}
