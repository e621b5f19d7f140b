internal import ArgumentParser
internal import DequeModule
internal import Dispatch
internal import EventLoop
internal import HostProcess
internal import StatusClient
internal import TerminalUI

/// The thin part of `reachd top` that has a terminal: it passes keys, signals and messages to the model and writes frames.
final class TopDriver {
  /// The shortest time between two frames: more would not be read, and would cost processor time.
  private static let frameInterval: Duration = .milliseconds(200)
  /// The longest time between two frames, which show the time since a change.
  private static let clockInterval: Duration = .seconds(1)
  /// How often the open target is read again: its checks cause no event while its state is the same.
  private static let documentInterval: Duration = .seconds(5)
  private static let mailboxToken = UInt64.max

  private let glyphs: Glyphs
  private let host: String
  private let feed: ServiceFeed
  private let mailbox: Mailbox<ServiceFeed.Message>
  private let poller: Poller
  private let signals: Int32
  private let terminal: TopTerminal
  private var model = TopModel(connectingAt: ServiceFeed.now)
  private var lastFrame: MonotonicInstant?
  private var lastLoad = MonotonicInstant.now
  private var mustDraw = true

  private enum End {
    case quit
    case signal(Int32)
    case failed(ExitCode, String?)
  }

  private init(_ client: ClientOptions, _ source: SourceOptions, _ glyphs: Glyphs, isColored: Bool) throws {
    self.glyphs = glyphs
    host = try client.serviceName(source)
    do {
      (mailbox, poller) = (try Mailbox(), try Poller(capacity: 4))
      feed = ServiceFeed(ClientConnection(client: client, source: source), mailbox)
      guard let signals = ProcessTerminalSignals.descriptor(),
        let terminal = TopTerminal(poller, isColored: isColored)
      else { throw ClientOptions.undetermined("the terminal cannot be opened") }
      (self.signals, self.terminal) = (signals, terminal)
      try mailbox.attach(to: poller, token: Self.mailboxToken)
      try poller.add(TopTerminal.input, .readable)
      try poller.add(signals, .readable)
    } catch let error as EventLoopError {
      throw ClientOptions.undetermined("\(error)")
    }
  }

  /// Runs until the user or a signal ends it.
  ///
  /// - Parameters:
  ///   - client: the service.
  ///   - source: the source of the configuration.
  ///   - glyphs: the signs of the terminal.
  ///   - isColored: whether to write colours.
  /// - Returns: the exit code.
  /// - Throws: the exit code when the terminal or the options cannot be used, after a report.
  static func run(
    _ client: ClientOptions, _ source: SourceOptions, _ glyphs: Glyphs, isColored: Bool
  ) async throws -> ExitCode {
    try await withCheckedThrowingContinuation { continuation in
      // A thread of its own, because it waits for keys, signals and messages.
      DispatchQueue(label: "top").async {
        continuation.resume(
          with: Result { try TopDriver(client, source, glyphs, isColored: isColored).loop() })
      }
    }
  }

  private func loop() -> ExitCode {
    enter()
    feed.start()
    var end: End?
    while end == nil {
      draw()
      let count = poller.wait(atMost: mustDraw && terminal.isIdle ? Self.frameInterval : Self.clockInterval)
      if count == 0 {
        mustDraw = true
        if lastLoad.duration(to: .now) >= Self.documentInterval { _ = perform(model.reload(at: ServiceFeed.now)) }
      }
      for index in 0..<count where end == nil { end = handle(poller[index]) }
    }
    terminal.leave()
    if case .signal(let number) = end { ProcessTerminalSignals.end(by: number) }
    // The terminal is restored, and may be one that is not read: a signal ends the write of the message.
    ProcessTerminalSignals.unblock()
    switch end {
    case .failed(let code, let message):
      if let message { Terminal.writeError("reachd: \(message)") }
      return code
    case .quit, .signal, nil: return ExitStatus.affirmative
    }
  }

  private func handle(_ event: Poller.Event) -> End? {
    switch event.token {
    case Self.mailboxToken: takeMessages()
    case UInt64(signals): takeSignals()
    // `draw()` continues to write.
    case terminal.outputToken: nil
    default: takeKeys()
    }
  }

  private func takeKeys() -> End? {
    // The end of the input: the terminal is gone.
    guard let bytes = ProcessTerminal.read(TopTerminal.input) else { return .quit }
    for key in TerminalKey.keys(in: bytes) {
      let action = model.handle(key, rows: screen.rows(model))
      if perform(action) { return .quit }
    }
    // A key must be answered immediately, also between two frames.
    (mustDraw, lastFrame) = (true, nil)
    return nil
  }

  /// Performs what the model asks for; returns whether that is the end.
  private func perform(_ action: TopModel.Action?) -> Bool {
    switch action {
    case .quit: return true
    case .load(let id):
      lastLoad = .now
      feed.load(id: id, isOfFleet: model.service[id]?.isOfFleet == true)
    case .redraw: terminal.invalidate()
    case nil: break
    }
    return false
  }

  private func takeSignals() -> End? {
    while let request = ProcessTerminalSignals.next(from: signals) {
      switch request {
      case .end(let number): return .signal(number)
      case .stop:
        terminal.leave()
        ProcessTerminalSignals.stop()
        enter()
      // A shell may have changed the settings while the process was stopped.
      case .redraw: enter()
      }
    }
    return nil
  }

  private func takeMessages() -> End? {
    for message in mailbox.take().messages {
      switch message {
      case .connection(let connection): model.connection = connection
      case .clock(let time, let local): model.followClock(time, at: local)
      case .overview(let document):
        if !model.service.replaceTargets(document) {
          return .failed(ExitStatus.undetermined, "the response is not an overview of targets")
        }
      case .gates(let document): model.service.replaceGates(document)
      case .fleet(let targets):
        model.service.replaceFleet(targets.compactMap(TopTargetEntry.init(fleet:)))
      case .past(let document): model.service.addPast(document)
      case .event(let type, let data): _ = perform(model.apply(type: type, data))
      case .document(let document): model.show(document)
      case .unavailable(let reason): return .failed(ExitStatus.undetermined, reason)
      case .unusable(let error): return .failed(error as? ExitCode ?? ExitStatus.undetermined, nil)
      }
    }
    mustDraw = true
    return nil
  }

  // MARK: - Screen

  private var screen: TopScreen {
    TopScreen(terminal.size, glyphs, now: ServiceFeed.now, clockOffset: model.clockOffset)
  }

  private func draw() {
    terminal.flush()
    let isDue = lastFrame.map { $0.duration(to: .now) >= Self.frameInterval } ?? true
    guard mustDraw, terminal.isIdle, isDue else { return }
    (mustDraw, lastFrame) = (false, .now)
    let screen = screen
    screen.scroll(&model)
    terminal.show(screen.lines(model, host: host))
  }

  private func enter() {
    terminal.enter()
    (mustDraw, lastFrame) = (true, nil)
  }
}
