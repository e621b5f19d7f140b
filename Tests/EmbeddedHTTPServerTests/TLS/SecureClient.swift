import CGnuTLS
import Glibc

@testable import EmbeddedHTTPServer

/// A TLS client whose handshake can be left half-way, and that sends exactly the bytes it is told to.
@safe final class SecureClient {
  private let wire: RawClient
  private let session: gnutls_session_t
  private let credentials: gnutls_certificate_credentials_t
  /// Whether the server said that it has ended, as TLS wants it, and did not only stop.
  private(set) var endedProperly = false

  /// A client that is connected and has its handshake before it; whom it speaks to it does not check.
  ///
  /// - Parameters:
  ///   - address: the server.
  ///   - version: the only version that the client offers.
  ///   - protocols: the application protocols that it offers, comma-separated; nil for none.
  ///   - earlier: a client whose session is to be resumed.
  /// - Throws: a failure to connect or to prepare the session.
  init(
    _ address: ListenAddress, version: String = "TLS1.3", protocols: String? = nil,
    resuming earlier: SecureClient? = nil
  ) throws {
    wire = try RawClient(address)
    var session: gnutls_session_t?
    var credentials: gnutls_certificate_credentials_t?
    guard unsafe gnutls_init(&session, CGnuTLS_client_flags()) == 0, let session = unsafe session,
      unsafe gnutls_certificate_allocate_credentials(&credentials) == 0, let credentials = unsafe credentials
    else { throw RawClient.Failure(description: "no session") }
    unsafe self.session = session
    unsafe self.credentials = credentials
    unsafe gnutls_priority_set_direct(session, "NORMAL:-VERS-ALL:+VERS-\(version)", nil)
    unsafe gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, UnsafeMutableRawPointer(credentials))
    for name in protocols?.split(separator: ",") ?? [] { try offer(String(name)) }
    if let earlier { try resume(earlier) }
    unsafe gnutls_transport_set_int2(session, wire.descriptor, wire.descriptor)
    _ = fcntl(wire.descriptor, F_SETFL, O_NONBLOCK)
  }

  deinit {
    unsafe gnutls_deinit(session)
    unsafe gnutls_certificate_free_credentials(credentials)
  }

  private func offer(_ name: String) throws {
    var bytes = Array(name.utf8)
    let code = unsafe bytes.withUnsafeMutableBufferPointer { buffer in
      var datum = unsafe gnutls_datum_t(data: buffer.baseAddress, size: UInt32(buffer.count))
      return unsafe gnutls_alpn_set_protocols(session, &datum, 1, 0)
    }
    guard code == 0 else { throw RawClient.Failure(description: "ALPN: \(code)") }
  }

  private func resume(_ earlier: SecureClient) throws {
    var data = unsafe gnutls_datum_t()
    guard unsafe gnutls_session_get_data2(earlier.session, &data) == 0 else {
      throw RawClient.Failure(description: "no session data")
    }
    defer { unsafe CGnuTLS_free(data.data) }
    guard unsafe gnutls_session_set_data(session, data.data, Int(data.size)) == 0 else {
      throw RawClient.Failure(description: "unusable session data")
    }
  }

  /// Whether the handshake resumed an earlier session.
  var isResumed: Bool { unsafe gnutls_session_is_resumed(session) != 0 }

  /// The alert that the server has sent last.
  var alert: gnutls_alert_description_t { unsafe gnutls_alert_get(session) }

  /// The application protocol that the server has selected; nil for none.
  var selectedProtocol: String? {
    var name = unsafe gnutls_datum_t()
    guard unsafe gnutls_alpn_get_selected_protocol(session, &name) == 0 else { return nil }
    return unsafe String(decoding: UnsafeBufferPointer(start: name.data, count: Int(name.size)), as: UTF8.self)
  }

  /// Goes on with the handshake as far as it comes without waiting, and tells whether it is over.
  @discardableResult
  func step() throws -> Bool {
    let code = unsafe gnutls_handshake(session)
    if code < 0, !Self.isPause(Int(code)) { throw RawClient.Failure(description: "handshake: \(code)") }
    return code >= 0
  }

  /// Goes through the handshake to its end.
  func shakeHands() throws {
    while try !step() { try wait(POLLIN) }
  }

  /// Waits until the server has sent something that was not read yet.
  func waitForBytes() throws { try wait(POLLIN) }

  func send(_ text: String) throws {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe gnutls_record_send(session, $0.baseAddress, $0.count) }
      // A closed peer takes nothing, which the answer will show.
      guard count > 0 || Self.isPause(count) else { return }
      if count > 0 { rest = rest.dropFirst(count) } else { try wait(POLLOUT) }
    }
  }

  /// Waits until the server ends and returns all that it sent.
  func receiveAll() throws -> String {
    var received: [UInt8] = []
    while true {
      let part = unsafe withUnsafeTemporaryAllocation(byteCount: 65536, alignment: 1) { buffer -> (Int, [UInt8]) in
        let count = unsafe gnutls_record_recv(session, buffer.baseAddress, buffer.count)
        return (count, count > 0 ? unsafe Array(buffer[..<count]) : [])
      }
      received += part.1
      if Self.isPause(part.0) {
        try wait(POLLIN)
      } else if part.0 <= 0 {
        endedProperly = part.0 == 0
        return String(decoding: received, as: UTF8.self)
      }
    }
  }

  private static func isPause(_ code: Int) -> Bool {
    code == Int(GNUTLS_E_AGAIN) || code == Int(GNUTLS_E_INTERRUPTED)
  }

  private func wait(_ events: Int32) throws {
    var ready = pollfd(fd: wire.descriptor, events: Int16(events), revents: 0)
    guard unsafe poll(&ready, 1, RawClient.deadline) == 1 else { throw RawClient.Failure(description: "nothing came") }
  }
}
