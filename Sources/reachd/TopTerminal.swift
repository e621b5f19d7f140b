internal import EventLoop
internal import HostProcess
internal import TerminalUI

/// The terminal of `reachd top`: its settings, its alternate screen, and one frame at a time.
final class TopTerminal {
  /// The descriptor of the keys.
  static let input: Int32 = 0
  private static let standardOutput: Int32 = 1
  /// How long the end waits for a terminal that is not read.
  private static let leaveLimit: Duration = .seconds(1)

  private let poller: Poller
  private let isColored: Bool
  private let settings: ProcessTerminal.Settings
  private var output: ProcessTerminalOutput
  private var writer = ScreenWriter()
  /// Whether the next frame begins with the change to the alternate screen.
  private var mustEnter = true

  /// Opens the terminal; nil if that is not possible.
  ///
  /// - Parameters:
  ///   - poller: reports ``outputToken`` when a write can continue.
  ///   - isColored: whether to write colours.
  init?(_ poller: Poller, isColored: Bool) {
    guard let settings = ProcessTerminal.Settings(of: Self.input),
      let output = ProcessTerminalOutput(of: Self.standardOutput)
    else { return nil }
    (self.poller, self.isColored, self.settings) = (poller, isColored, settings)
    self.output = output
  }

  var outputToken: UInt64 { UInt64(output.descriptor) }

  var size: TerminalSize {
    let (columns, lines) = ProcessTerminal.size(of: Self.standardOutput)
    return TerminalSize(columns: columns, lines: lines)
  }

  /// Prepares the terminal for keys and frames; the next frame is drawn completely.
  func enter() {
    settings.forKeys.apply(to: Self.input)
    writer.invalidate()
    mustEnter = true
  }

  /// Restores the terminal, as far as it is read.
  func leave() {
    output.finish(ScreenWriter.leave, within: Self.leaveLimit)
    poller.remove(output.descriptor)
    settings.apply(to: Self.input)
  }

  /// Draws the next frame completely.
  func invalidate() { writer.invalidate() }

  /// Whether the frame before is written: at most one waits for the reader of the terminal.
  var isIdle: Bool { output.isIdle }

  /// Continues to write the frame before.
  func flush() {
    guard !output.isIdle else { return }
    output.flush()
    if output.isIdle { poller.remove(output.descriptor) }
  }

  /// Shows a frame; the frame before is written.
  func show(_ frame: [StyledLine]) {
    let text = writer.text(for: frame, isColored: isColored)
    output.write(mustEnter ? ScreenWriter.enter + text : text)
    mustEnter = false
    // This fails only without memory; the next `flush()` continues to write.
    if !output.isIdle { try? poller.set(output.descriptor, .writable) }
  }
}
