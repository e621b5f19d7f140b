internal import EventLoop
internal import Glibc

/// Sockets whose connection is closed while the kernel still has a part of its last response.
///
/// The kernel keeps such bytes for minutes when the client does not read, and counts them as memory of this process. A copy of
/// the socket shows whether the client reads; otherwise the connection is reset, which discards them.
///
/// Confined to the server's thread.
final class UnsentHTTPSockets {
  private struct Entry {
    let descriptor: Int32
    var unsent: Int
    /// When the client last received some of the bytes, or the connection was closed.
    var progress: MonotonicInstant
  }

  private let context: HTTPServerContext
  private var entries: [UInt64: Entry] = [:]
  /// What the kernel uses for all of them.
  private(set) var bytes = 0

  init(_ context: HTTPServerContext) { self.context = context }

  deinit { for entry in entries.values { close(entry.descriptor) } }

  var isEmpty: Bool { entries.isEmpty }

  /// Keeps a copy of the socket of a connection that closes with bytes that were not sent.
  func add(_ connection: HTTPConnection, unsent: Int) {
    guard !context.stop.isStopping else { return }
    if entries.count >= Limits.unsentSockets { removeOldest() }
    let descriptor = fcntl(connection.client.descriptor, F_DUPFD_CLOEXEC, 0)
    guard descriptor >= 0 else { return }
    // The library's close does not end the connection while there is a copy.
    connection.client.shutSending()
    entries[connection.token] = Entry(descriptor: descriptor, unsent: unsent, progress: context.now)
    bytes += unsent * Limits.socketOverhead
  }

  /// Closes the sockets whose bytes were received, and resets those whose client has received none for some time.
  func examine() {
    for (token, entry) in entries {
      let unsent = MHDConnection.unsentBytes(of: entry.descriptor)
      if unsent < Limits.freeSocketBytes {
        remove(token, reset: false)
      } else if unsent < entry.unsent {
        bytes -= (entry.unsent - unsent) * Limits.socketOverhead
        entries[token] = Entry(descriptor: entry.descriptor, unsent: unsent, progress: context.now)
      } else if context.now > entry.progress.advanced(by: context.configuration.inactivity) {
        remove(token, reset: true)
      }
    }
  }

  /// Resets sockets, those first whose clients have received nothing for the longest time, until they use `excess` less.
  func discard(_ excess: Int) {
    let goal = bytes - excess
    for (token, _) in entries.sorted(by: { $0.value.progress < $1.value.progress }) where bytes > goal {
      remove(token, reset: true)
    }
  }

  private func removeOldest() {
    examine()
    guard entries.count >= Limits.unsentSockets,
      let oldest = entries.min(by: { $0.value.progress < $1.value.progress })?.key
    else { return }
    remove(oldest, reset: true)
  }

  private func remove(_ token: UInt64, reset: Bool) {
    guard let entry = entries.removeValue(forKey: token) else { return }
    bytes -= entry.unsent * Limits.socketOverhead
    if reset { MHDConnection.discardUnsent(entry.descriptor) }
    close(entry.descriptor)
  }
}
