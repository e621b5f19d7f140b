internal import Glibc
internal import Locks

/// Reads two pipes on a thread until both end.
final class OutputCollector: Sendable {
  private struct Collected {
    var output: [UInt8] = []
    var errors: [UInt8] = []
    var isAtEnd = false
  }

  private let descriptors: (output: Int32, errors: Int32)
  private let collected = Locked(Collected())
  private let isStarted = Locked(false)

  /// Takes over the reading ends of two pipes.
  init(output: Int32, errors: Int32) { descriptors = (output, errors) }

  deinit {
    close(descriptors.output)
    close(descriptors.errors)
  }

  var output: String { collected.withLock { String(decoding: $0.output, as: UTF8.self) } }
  var errors: String { collected.withLock { String(decoding: $0.errors, as: UTF8.self) } }
  var isAtEnd: Bool { collected.withLock { $0.isAtEnd } }

  /// Starts the thread.
  func start() {
    var thread = pthread_t()
    let context = unsafe Unmanaged.passRetained(self)
    let code = unsafe pthread_create(&thread, nil, collectorThread, context.toOpaque())
    precondition(code == 0, "pthread_create: \(code)")
    pthread_detach(thread)
  }

  fileprivate func collect() {
    var open = [
      pollfd(fd: descriptors.output, events: Int16(POLLIN), revents: 0),
      pollfd(fd: descriptors.errors, events: Int16(POLLIN), revents: 0),
    ]
    while open.contains(where: { $0.fd >= 0 }) {
      guard unsafe poll(&open, nfds_t(open.count), -1) > 0 else { continue }
      for index in open.indices where open[index].fd >= 0 && open[index].revents != 0 {
        var chunk = [UInt8](repeating: 0, count: 65536)
        let count = unsafe read(open[index].fd, &chunk, chunk.count)
        if count > 0 {
          collected.withLock { collected in
            if index == 0 { collected.output += chunk[..<count] } else { collected.errors += chunk[..<count] }
          }
        } else if count == 0 || errno != EINTR {
          open[index].fd = -1
        }
      }
    }
    collected.withLock { $0.isAtEnd = true }
  }
}

private func collectorThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  if let context = unsafe context {
    unsafe Unmanaged<OutputCollector>.fromOpaque(context).takeRetainedValue().collect()
  }
  return nil
}
