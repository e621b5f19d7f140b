internal import ArgumentParser
internal import DequeModule
internal import Dispatch
internal import EventLoop
internal import HostProcess
internal import TerminalUI

/// The thin part of `reachd top` that has a terminal: it passes keys, signals and messages to the model and writes frames.
final class TopDriver {
  /// The shortest time between two frames: more would not be read, and would cost processor time.
  private static let frameInterval: Duration = .milliseconds(200)
  /// The longest time between two frames, which show the time since a change.
  private static let clockInterval: Duration = .seconds(1)
  /// How often the open target is read again: its checks cause no event while its state is the same.
  private static let documentInterval: Duration = .seconds(5)
  private static let input: Int32 = 0
  private static let output: Int32 = 1
  private static let mailboxToken = UInt64.max

  private let glyphs: Glyphs
  private let isColored: Bool
  private let host: String
  private let feed: ServiceFeed
  private let mailbox: Mailbox<ServiceFeed.Message>
  private let poller: Poller
  private let signals: Int32
  private let settings: ProcessTerminal.Settings
  private var model = TopModel(connectingAt: ServiceFeed.now)
  private var writer = ScreenWriter()
  private var lastFrame: MonotonicInstant?
  private var lastLoad = MonotonicInstant.now
  private var mustDraw = true

  /// Why the program ends.
  private enum End {
    case quit
    case signal(Int32)
    case failed(ExitCode, String?)
  }

  private init(_ client: ClientOptions, _ source: SourceOptions, _ glyphs: Glyphs, isColored: Bool) throws {
    (self.glyphs, self.isColored) = (glyphs, isColored)
    host = try client.serviceName(source)
    do {
      (mailbox, poller) = (try Mailbox(), try Poller(capacity: 4))
      feed = ServiceFeed(client: client, source: source, mailbox: mailbox)
      guard let signals = ProcessTerminalSignals.descriptor(), let settings = ProcessTerminal.Settings(of: Self.input)
      else { throw ClientOptions.undetermined("the terminal cannot be read") }
      (self.signals, self.settings) = (signals, settings)
      try mailbox.attach(to: poller, token: Self.mailboxToken)
      try poller.add(Self.input, .readable)
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
      // A thread of its own, because a write to a terminal may block.
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
      let count = poller.wait(atMost: mustDraw ? Self.frameInterval : Self.clockInterval)
      if count == 0 {
        mustDraw = true
        if lastLoad.duration(to: .now) >= Self.documentInterval { _ = perform(model.reload(at: ServiceFeed.now)) }
      }
      for index in 0..<count where end == nil { end = handle(poller[index]) }
    }
    leave()
    switch end {
    case .signal(let number): ProcessTerminalSignals.end(by: number)
    case .failed(let code, let message):
      if let message { Terminal.writeError("reachd: \(message)") }
      return code
    case .quit, nil: return ExitStatus.affirmative
    }
  }

  private func handle(_ event: Poller.Event) -> End? {
    switch event.token {
    case Self.mailboxToken: takeMessages()
    case UInt64(signals): takeSignals()
    default: takeKeys()
    }
  }

  private func takeKeys() -> End? {
    // The end of the input: the terminal is gone.
    guard let bytes = ProcessTerminal.read(Self.input) else { return .quit }
    for key in TerminalKey.keys(in: bytes) {
      let action = model.handle(key, rows: screen.targetRows)
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
      feed.load(id: id)
    case .redraw: writer.invalidate()
    case nil: break
    }
    return false
  }

  private func takeSignals() -> End? {
    while let request = ProcessTerminalSignals.next(from: signals) {
      switch request {
      case .end(let number): return .signal(number)
      case .stop:
        leave()
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
      case .overview(let document):
        if !model.service.replaceTargets(document) {
          return .failed(ExitStatus.undetermined, "the response is not an overview of targets")
        }
      case .past(let document): model.service.addPast(document)
      case .event(let type, let data): _ = perform(model.apply(type: type, data))
      case .document(let document): model.show(document)
      case .failed(let code, let message): return .failed(code, message)
      }
    }
    mustDraw = true
    return nil
  }

  // MARK: - Screen

  private var screen: TopScreen {
    let (columns, lines) = ProcessTerminal.size(of: Self.output)
    return TopScreen(TerminalSize(columns: columns, lines: lines), glyphs, now: ServiceFeed.now)
  }

  private func draw() {
    guard mustDraw, lastFrame.map({ $0.duration(to: .now) >= Self.frameInterval }) ?? true else { return }
    (mustDraw, lastFrame) = (false, .now)
    let screen = screen
    model.scroll(rows: screen.targetRows)
    write(writer.text(for: screen.lines(model, host: host), isColored: isColored))
  }

  private func enter() {
    settings.forKeys.apply(to: Self.input)
    write(ScreenWriter.enter)
    writer.invalidate()
    (mustDraw, lastFrame) = (true, nil)
  }

  private func leave() {
    write(ScreenWriter.leave)
    settings.apply(to: Self.input)
  }

  /// Writes to the terminal; a failure is followed by the end of the input.
  private func write(_ text: String) {
    if !text.isEmpty { _ = StandardStreams.write(Array(text.utf8), to: Self.output) }
  }
}
