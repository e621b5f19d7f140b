internal import CAres
internal import CSockets
internal import Glibc
internal import EventLoop
internal import HostResolver
internal import ReachabilityModel

/// A TCP connection, optionally with a short dialogue: data is sent, and the answer must match.
final class TCPExchange: ProberExchange, ProberDescriptorHandler {
  private enum Step {
    case connecting
    case dialogue(since: MonotonicInstant)
  }

  private unowned let check: ProberCheck
  private unowned let loop: ProberLoop
  private let peer: SocketPeer
  private let options: TCPOptions
  private var socket: ProberTCPSocket?
  private var step = Step.connecting
  private var begun = MonotonicInstant.now
  private var unsent: ArraySlice<UInt8> = []
  private var answer: TCPResponseMatcher?

  /// Whether the connection alone decides the result.
  private var isConnectOnly: Bool { options.send == nil && options.expect == nil }

  init(_ check: ProberCheck, _ peer: SocketPeer, _ options: TCPOptions, _ loop: ProberLoop) {
    self.check = check
    self.peer = peer
    self.options = options
    self.loop = loop
  }

  func begin() {
    do throws(SocketFailure) {
      let socket = try ProberTCPSocket(to: peer, check.request, for: isConnectOnly ? .connectOnly : .dialogue)
      self.socket = socket
      // With a loopback address, the handshake is complete when connect(2) returns.
      if peer.address.isLoopback {
        checkConnection()
        guard self.socket != nil else { return }
      }
      try loop.watch(socket.descriptor, self)
    } catch {
      loop.found(check, error.finding)
    }
  }

  func ready(_ event: Poller.Event) {
    if case .connecting = step { checkConnection() }
    if case .dialogue(let since) = step { runDialogue(since) }
  }

  /// Tests whether the connection is established.
  private func checkConnection() {
    guard let socket else { return }
    switch socket.progress() {
    case .pending: return
    case .failed(let failure): loop.found(check, failure.finding)
    case .peerMismatch: loop.conclude(check, .denied)
    case .connected(let source):
      check.source = source
      let now = MonotonicInstant.now
      check.note(.connect, since: begun, now)
      if isConnectOnly {
        socket.setResetOnClose()
        return loop.conclude(check, .up)
      }
      do throws(ProberPatternError) {
        answer = try options.expect.map { (text) throws(ProberPatternError) in
          TCPResponseMatcher(try loop.patterns.pattern(text), limit: Limits.dialogueBytes)
        }
      } catch {
        return loop.conclude(check, error.finding)
      }
      unsent = options.send.map { Array($0.utf8)[...] } ?? []
      step = .dialogue(since: now)
    }
  }

  private func runDialogue(_ since: MonotonicInstant) {
    guard let socket else { return }
    while !unsent.isEmpty {
      let sent = unsafe unsent.withUnsafeBytes {
        unsafe Glibc.send(socket.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if sent < 0 {
        if errno == EAGAIN { break }
        if errno == EINTR { continue }
        return broken(.later(errno))
      }
      unsent = unsent.dropFirst(sent)
    }
    guard answer != nil else {
      if unsent.isEmpty { succeed(since) }
      return
    }
    read(socket, since)
  }

  private func read(_ socket: ProberTCPSocket, _ since: MonotonicInstant) {
    while true {
      let bytes = ProberReadBuffer.read(socket.descriptor)
      switch bytes {
      case .nothing: break
      case .failed(let code): return broken(.later(code))
      case .end:
        if matches(since) { return }
        check.note(.processing, since: since)
        let message = answer?.isEmpty == true ? "without sending data" : "after an answer that does not match"
        return loop.conclude(
          check,
          ProberResult(
            .down, answer?.isEmpty == true ? .reset : .noReply, detail: "the peer closed the connection \(message)")
        )
      case .bytes(let bytes):
        if isDecided(by: bytes, since) { return }
        continue
      }
      break
    }
    // Defers matching, so that an answer in many small parts is not matched again for each part.
    if answer?.hasUnmatchedBytes == true, check.wakeTime == nil {
      loop.wake(check, at: .now.advanced(by: Limits.matchPause))
    }
  }

  /// Processes a part of the answer; true if the check has ended and needs no further part.
  private func isDecided(by bytes: [UInt8], _ since: MonotonicInstant) -> Bool {
    do throws(ProberPatternError) {
      switch try answer?.take(bytes) {
      case .matched: succeed(since)
      case .full:
        check.note(.processing, since: since)
        let message = "the first \(Limits.dialogueBytes) bytes of the answer do not match"
        loop.conclude(check, ProberResult(.down, .noReply, detail: message))
      default: return false
      }
    } catch {
      loop.conclude(check, error.finding)
    }
    return true
  }

  /// Matches the received bytes; true if the check has ended, by a match or by an error of the pattern.
  private func matches(_ since: MonotonicInstant) -> Bool {
    do throws(ProberPatternError) {
      guard try answer?.match() == true else { return false }
      succeed(since)
    } catch {
      loop.conclude(check, error.finding)
    }
    return true
  }

  func awake() {
    if case .dialogue(let since) = step { _ = matches(since) }
  }

  private func succeed(_ since: MonotonicInstant) {
    check.note(.processing, since: since)
    loop.conclude(check, .up)
  }

  private func broken(_ failure: SocketFailure) {
    loop.conclude(
      check, ProberResult(.down, failure.reason, detail: "the connection failed: \(failure.detail)"))
  }

  func overdue() -> ProberResult {
    switch step {
    case .connecting:
      return ProberResult(.down, .connectTimeout, detail: "no response to the connection attempt")
    case .dialogue(let since):
      do throws(ProberPatternError) {
        if try answer?.match() == true {
          check.note(.processing, since: since)
          return .up
        }
      } catch {
        return error.finding
      }
      let isSilent = answer?.isEmpty != false
      return ProberResult(
        .down, isSilent ? .noReply : .timeout,
        detail: isSilent ? "connected, but no data received" : "the answer received before the timeout does not match")
    }
  }

  func end() {
    if let socket { loop.close(socket.descriptor) }
    socket = nil
  }
}
