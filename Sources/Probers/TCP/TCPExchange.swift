internal import CAres
internal import CSockets
internal import Glibc
internal import EventLoop
internal import ReachabilityModel

/// A TCP connection, optionally with a short dialogue: data is sent, and the answer must match.
final class TCPExchange: ProberExchange, AddressConnectorOwner, ProberDescriptorHandler {
  private enum Step {
    case connecting
    case dialogue(since: MonotonicInstant)
  }

  private unowned let check: ProberCheck
  private unowned let loop: ProberLoop
  private let options: TCPOptions
  private lazy var connector = AddressConnector(check, check.candidates, loop, for: self)
  private var socket: ProberTCPSocket?
  private var step = Step.connecting
  private var unsent: ArraySlice<UInt8> = []
  private var answer: TCPResponseMatcher?

  /// Whether the connection alone decides the result.
  private var isConnectOnly: Bool { options.send == nil && options.expect == nil }

  init(_ check: ProberCheck, _ options: TCPOptions, _ loop: ProberLoop) {
    self.check = check
    self.options = options
    self.loop = loop
  }

  func begin() { connector.begin() }

  func resume() { connector.resume() }

  func attempt(_ peer: SocketPeer, of connector: AddressConnector) -> any AddressAttempt {
    TCPConnectAttempt(check, peer, loop, connector, for: isConnectOnly ? .connectOnly : .dialogue)
  }

  func contacted(_ attempt: any AddressAttempt) {
    guard let socket = (attempt as? TCPConnectAttempt)?.handOver(to: self) else { return }
    self.socket = socket
    if isConnectOnly {
      socket.setResetOnClose()
      return loop.conclude(check, .up)
    }
    do throws(ProberPatternError) {
      answer = try options.expect.map { (text) throws(ProberPatternError) in
        TCPResponseMatcher(try loop.shared.patterns.pattern(text), limit: Limits.dialogueBytes)
      }
    } catch {
      return loop.conclude(check, error.finding)
    }
    unsent = options.send.map { Array($0.utf8)[...] } ?? []
    let now = MonotonicInstant.now
    step = .dialogue(since: now)
    runDialogue(now)
  }

  func ready(_ event: Poller.Event) {
    if case .dialogue(let since) = step { runDialogue(since) }
  }

  private func runDialogue(_ since: MonotonicInstant) {
    guard let socket else { return }
    // The answer may have arrived before the peer closed its side: what was received counts.
    let failure = send(socket)
    guard answer != nil else {
      if let failure { return broken(failure) }
      if unsent.isEmpty { succeed(since) }
      return
    }
    read(socket, since, after: failure)
  }

  /// Sends as much as the socket accepts; the failure if the connection is broken.
  private func send(_ socket: ProberTCPSocket) -> SocketFailure? {
    while !unsent.isEmpty {
      let sent = unsafe unsent.withUnsafeBytes {
        unsafe Glibc.send(socket.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if sent < 0 {
        if errno == EAGAIN { return nil }
        if errno == EINTR { continue }
        return .later(errno)
      }
      unsent = unsent.dropFirst(sent)
    }
    return nil
  }

  private func read(_ socket: ProberTCPSocket, _ since: MonotonicInstant, after failure: SocketFailure?) {
    while true {
      switch ProberReadBuffer.read(socket.descriptor) {
      case .nothing:
        if let failure { return end(since, failure) }
        // Defers matching, so that an answer in many small parts is not matched again for each part.
        if answer?.hasUnmatchedBytes == true, check.wakeTime == nil {
          loop.wake(check, at: .now.advanced(by: Limits.matchPause))
        }
        return
      case .failed(let code): return end(since, failure ?? .later(code))
      case .end: return end(since, failure)
      case .bytes(let bytes): if isDecided(by: bytes, since) { return }
      }
    }
  }

  /// Handles the end of the answer, after a failure of the connection or without one.
  private func end(_ since: MonotonicInstant, _ failure: SocketFailure?) {
    if matches(since) { return }
    if let failure { return broken(failure) }
    check.note(.processing, since: since)
    let isSilent = answer?.isEmpty == true
    let message = isSilent ? "without sending data" : "after an answer that does not match"
    loop.conclude(
      check, ProberResult(.down, isSilent ? .reset : .noReply, detail: "the peer closed the connection \(message)"))
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
    switch step {
    case .connecting: connector.awake()
    case .dialogue(let since): _ = matches(since)
    }
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
    case .connecting: return connector.overdue()
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
    connector.end()
    if let socket { loop.descriptors.close(socket.descriptor) }
    socket = nil
  }
}
