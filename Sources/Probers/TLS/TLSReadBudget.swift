internal import CGnuTLS
internal import Glibc

/// How much one call of libcurl may read from TLS connections.
///
/// libcurl reads in one call as long as the server sends: records of a handshake, and frames of HTTP/2 that are not part of the
/// answer. It does not regard its time limit meanwhile.
enum TLSReadBudget {
  private struct Left {
    var handshakeReads = Limits.handshakeReads
    /// What is to be done before the first read of a handshake that has begun.
    var beforeReading: (() -> Void)?
    var bytes = Limits.recordBytes
    var refusals = Limits.refusedReads
  }

  /// The budget of the call that this thread makes; null outside of such a call.
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    unsafe pthread_key_create(&key, nil)
    return key
  }()

  /// Calls libcurl with a new budget.
  static func granted(_ body: () -> Void) {
    var left = Left()
    unsafe withUnsafeMutablePointer(to: &left) { left in
      unsafe pthread_setspecific(key, left)
      body()
      pthread_setspecific(key, nil)
    }
  }

  private static var current: UnsafeMutablePointer<Left>? {
    unsafe pthread_getspecific(key)?.assumingMemoryBound(to: Left.self)
  }

  /// Applies to a session that has not begun its handshake.
  ///
  /// - Parameters:
  ///   - session: the session.
  ///   - beforeReading: called before the handshake reads, if it begins in this call of libcurl.
  static func limitHandshake(_ session: gnutls_session_t, beforeReading: @escaping () -> Void) {
    if let left = unsafe current { unsafe left.pointee.beforeReading = beforeReading }
    // libcurl sets the function that reads after this; the one that GnuTLS calls before each read is not used without a
    // timeout.
    unsafe gnutls_handshake_set_timeout(session, UInt32(Limits.longestTimeout / .milliseconds(1)))
    unsafe gnutls_transport_set_pull_timeout_function(session, tlsHandshakeRead)
  }

  /// Applies to a session after its handshake: it reads from its socket itself, and not through libcurl.
  static func limitRecords(_ session: gnutls_session_t, of descriptor: Int32) {
    var receiving: gnutls_transport_ptr_t?
    var sending: gnutls_transport_ptr_t?
    unsafe gnutls_transport_get_ptr2(session, &receiving, &sending)
    // One more, because 0 would be null.
    unsafe gnutls_transport_set_ptr2(session, UnsafeMutableRawPointer(bitPattern: Int(descriptor) + 1), sending)
    unsafe gnutls_transport_set_pull_function(session, tlsRecordRead)
  }

  /// Whether a handshake may read; libcurl cannot interrupt one while the server sends.
  fileprivate static var permitsHandshakeRead: Bool {
    guard let left = unsafe current else { return true }
    if let prepare = unsafe left.pointee.beforeReading {
      unsafe left.pointee.beforeReading = nil
      prepare()
    }
    unsafe left.pointee.handshakeReads -= 1
    return unsafe left.pointee.handshakeReads >= 0
  }

  /// Reads a part of a record; without a budget fails as if there were no data, so that libcurl continues in its next call.
  fileprivate static func read(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ size: Int) -> Int {
    guard let left = unsafe current else { return unsafe recv(descriptor, buffer, size, 0) }
    guard unsafe left.pointee.bytes > 0 else {
      unsafe left.pointee.refusals -= 1
      errno = unsafe left.pointee.refusals >= 0 ? EAGAIN : ECONNABORTED
      return -1
    }
    let count = unsafe recv(descriptor, buffer, size, 0)
    unsafe left.pointee.bytes -= max(0, count)
    return count
  }
}

/// Called by GnuTLS before each read during a handshake: 0, as at the end of the timeout, ends the handshake.
private func tlsHandshakeRead(_ transport: gnutls_transport_ptr_t?, _ milliseconds: UInt32) -> Int32 {
  TLSReadBudget.permitsHandshakeRead ? 1 : 0
}

/// Called by GnuTLS to read after a handshake.
private func tlsRecordRead(
  _ transport: gnutls_transport_ptr_t?, _ buffer: UnsafeMutableRawPointer?, _ size: Int
) -> Int {
  unsafe TLSReadBudget.read(Int32(Int(bitPattern: transport) - 1), buffer, size)
}
