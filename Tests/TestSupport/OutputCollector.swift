internal import Glibc
internal import Locks

/// Reads two pipes on a thread until both end.
///
/// What a process has written before a test asks for it is returned, also if the thread has not read it yet.
final class OutputCollector: Sendable {
  private struct Pipe {
    let descriptor: Int32
    var bytes: [UInt8] = []
    var isAtEnd = false

    /// Reads what the pipe holds: at most its capacity.
    mutating func read() {
      var chunk = [UInt8](repeating: 0, count: 65536)
      let count = unsafe Glibc.read(descriptor, &chunk, chunk.count)
      if count > 0 { bytes += chunk[..<count] } else { isAtEnd = count == 0 || errno != EAGAIN && errno != EINTR }
    }
  }

  private let descriptors: (output: Int32, errors: Int32)
  private let outputPipe: Locked<Pipe>
  private let errorPipe: Locked<Pipe>

  /// Takes over the reading ends of two pipes.
  init(output: Int32, errors: Int32) {
    for descriptor in [output, errors] {
      let code = fcntl(descriptor, F_SETFL, O_NONBLOCK)
      precondition(code == 0, "fcntl: \(errno)")
    }
    descriptors = (output, errors)
    outputPipe = Locked(Pipe(descriptor: output))
    errorPipe = Locked(Pipe(descriptor: errors))
  }

  deinit {
    close(descriptors.output)
    close(descriptors.errors)
  }

  var output: String { Self.text(outputPipe) }
  var errors: String { Self.text(errorPipe) }
  var isAtEnd: Bool { outputPipe.withLock(\.isAtEnd) && errorPipe.withLock(\.isAtEnd) }

  private static func text(_ pipe: borrowing Locked<Pipe>) -> String {
    pipe.withLock { pipe in
      pipe.read()
      return String(decoding: pipe.bytes, as: UTF8.self)
    }
  }

  /// Starts the thread.
  func start() {
    var thread = pthread_t()
    let context = unsafe Unmanaged.passRetained(self)
    let code = unsafe pthread_create(&thread, nil, collectorThread, context.toOpaque())
    precondition(code == 0, "pthread_create: \(code)")
    pthread_detach(thread)
  }

  fileprivate func collect() {
    while !isAtEnd {
      var open = [
        pollfd(fd: outputPipe.withLock(\.isAtEnd) ? -1 : descriptors.output, events: Int16(POLLIN), revents: 0),
        pollfd(fd: errorPipe.withLock(\.isAtEnd) ? -1 : descriptors.errors, events: Int16(POLLIN), revents: 0),
      ]
      guard unsafe poll(&open, nfds_t(open.count), -1) > 0 else { continue }
      if open[0].revents != 0 { outputPipe.withLock { $0.read() } }
      if open[1].revents != 0 { errorPipe.withLock { $0.read() } }
    }
  }
}

private func collectorThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  if let context = unsafe context {
    unsafe Unmanaged<OutputCollector>.fromOpaque(context).takeRetainedValue().collect()
  }
  return nil
}
