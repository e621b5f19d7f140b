internal import EventLoop
internal import ReachabilityModel

/// An attempt to connect to one address: the first connection that is established counts.
final class TCPConnectAttempt: AddressAttempt, ProberDescriptorHandler {
  let peer: SocketPeer
  var wakeTime: MonotonicInstant?
  private unowned let check: ProberCheck
  private unowned let loop: ProberLoop
  private unowned let connector: AddressConnector
  private let purpose: ProberTCPSocket.Purpose
  private var socket: ProberTCPSocket?
  private var isWatched = false
  /// The local address of the connection.
  private(set) var source: IPAddress?

  init(
    _ check: ProberCheck, _ peer: SocketPeer, _ loop: ProberLoop, _ connector: AddressConnector,
    for purpose: ProberTCPSocket.Purpose = .dialogue
  ) {
    self.check = check
    self.peer = peer
    self.loop = loop
    self.connector = connector
    self.purpose = purpose
  }

  func begin() {
    do throws(SocketFailure) {
      let socket = try ProberTCPSocket(to: peer, check.request, for: purpose)
      self.socket = socket
      // With a loopback address, the handshake is complete when connect(2) returns.
      if purpose == .connectOnly, peer.address.isLoopback {
        checkConnection(socket)
        guard self.socket != nil, source == nil else { return }
      }
      try loop.descriptors.watch(socket.descriptor, self)
      isWatched = true
    } catch {
      connector.failed(self, error.finding)
    }
  }

  func awake() {}

  func ready(_ event: Poller.Event) {
    if let socket, source == nil { checkConnection(socket) }
  }

  private func checkConnection(_ socket: ProberTCPSocket) {
    switch socket.progress() {
    case .pending: return
    case .failed(let failure): connector.failed(self, failure.finding)
    case .peerMismatch: loop.conclude(check, .denied)
    case .connected(let source):
      self.source = source
      check.source = source
      check.add(.connect, connector.begun.duration(to: .now))
      connector.succeeded(self)
    }
  }

  /// Passes the connected socket, with its descriptor, to another owner; nil if it is closed.
  func handOver(to handler: any ProberDescriptorHandler) -> ProberTCPSocket? {
    guard let socket else { return nil }
    self.socket = nil
    if isWatched { loop.descriptors.register(socket.descriptor, handler) }
    return socket
  }

  func overdue() -> ProberResult {
    ProberResult(.down, .connectTimeout, detail: "no response to the connection attempt")
  }

  func end() {
    if let socket { loop.descriptors.close(socket.descriptor) }
    socket = nil
  }
}
