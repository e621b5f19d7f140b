internal import EventLoop
internal import Glibc
internal import Synchronization

/// Event streams on sockets that their server has handed over, spread over threads of their own.
package final class StreamHub: Sendable {
  private let inboxes: [Mailbox<StreamShard.Message>]
  private let threads: [LoopThread]
  private let next = Atomic(0)

  /// Starts the threads; nil if the process has no threads or descriptors left.
  ///
  /// - Parameters:
  ///   - counters: What the streams count; the server counts a stream as open before it hands it over.
  ///   - lagLimit: Bytes of its logs that a stream may be behind while its socket takes nothing.
  ///   - onClose: Called on a thread of the hub after a stream's socket was closed.
  ///   - onIdle: Called on a thread of the hub when its last stream has ended after ``endStreams(closeEvent:)``.
  package init?(
    counters: StreamCounters, lagLimit: Int, onClose: @escaping @Sendable () -> Void,
    onIdle: @escaping @Sendable () -> Void
  ) {
    var inboxes: [Mailbox<StreamShard.Message>] = []
    var threads: [LoopThread] = []
    for _ in 0..<min(Limits.streamShards, max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)) / 2)) {
      do throws(EventLoopError) {
        let shard = try StreamShard(counters: counters, lagLimit: lagLimit, onClose: onClose, onIdle: onIdle)
        let inbox = shard.inbox
        threads.append(try LoopThread("streams") { shard.run() })
        inboxes.append(inbox)
      } catch {
        break
      }
    }
    guard !threads.isEmpty else { return nil }
    self.inboxes = inboxes
    self.threads = threads
  }

  /// Takes a stream from the server; the hub owns its socket from here on.
  package func adopt(_ handoff: StreamHandoff) {
    let turn = next.wrappingAdd(1, ordering: .relaxed).oldValue
    inboxes[turn % inboxes.count].post(.adopt(handoff))
  }

  /// Ends the streams whose clients have taken no byte for the longest time, if there are more such streams than `count`.
  package func limitStalled(to count: Int) {
    for inbox in inboxes { inbox.post(.limitStalled(count / inboxes.count)) }
  }

  /// Ends all streams: each sends its pending entries, then the close event, then its end.
  package func endStreams(closeEvent: [UInt8]) {
    for inbox in inboxes { inbox.post(.endStreams(closeEvent: closeEvent)) }
  }

  /// Closes the remaining streams and waits for the threads; must be called once.
  package func stop() {
    for inbox in inboxes { inbox.post(.stop) }
    for thread in threads { thread.join() }
  }
}
