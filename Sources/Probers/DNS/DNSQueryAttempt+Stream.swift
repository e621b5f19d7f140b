internal import CAres
internal import CSockets
internal import EventLoop
internal import Glibc
internal import HostResolver
internal import ReachabilityModel

// DNS over TCP.
extension DNSQueryAttempt {
  func retryOverTCP() {
    loop.close(descriptor)
    descriptor = -1
    connector.wake(self, at: nil)
    do throws(SocketFailure) {
      try connectStream()
    } catch {
      fail(error)
    }
  }

  func connectStream() throws(SocketFailure) {
    step = .connecting
    // The connect phase does not include the time of an earlier truncated answer over UDP.
    begun = .now
    let socket = try ProberTCPSocket(to: peer, check.request)
    self.socket = socket
    try loop.watch(socket.descriptor, self)
  }

  func checkConnection(_ socket: ProberTCPSocket) {
    switch socket.progress() {
    case .pending: return
    case .failed(let failure): fail(failure)
    case .peerMismatch: loop.conclude(check, .denied)
    case .connected(let source):
      check.source = source
      check.note(.connect, since: begun)
      begun = .now
      step = .stream
      // A length precedes each message (RFC 1035 §4.2.2).
      unsent = ([UInt8(question.count >> 8), UInt8(question.count & 0xFF)] + question)[...]
      connector.succeeded(self)
    }
  }

  func runDialogue(_ socket: ProberTCPSocket) {
    while !unsent.isEmpty {
      let sent = unsafe unsent.withUnsafeBytes {
        unsafe send(socket.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if sent < 0, errno == EAGAIN { break }
      if sent < 0 { return broken() }
      unsent = unsent.dropFirst(sent)
    }
    while true {
      switch ProberReadBuffer.read(socket.descriptor) {
      case .nothing: return
      case .end, .failed: return broken()
      case .bytes(let bytes):
        received += bytes
        guard let length = DNSPacket.number(received, 0), received.count >= Int(length) + 2 else { continue }
        guard let reply = DNSResponse(Array(received.dropFirst(2).prefix(Int(length))), to: question) else {
          return connector.failed(
            self, ProberResult(.down, .noReply, detail: "the response does not answer the query"))
        }
        return answered(reply)
      }
    }
  }

  private func broken() {
    connector.failed(
      self, ProberResult(.down, .reset, detail: "the server closed the connection before it answered"))
  }
}
