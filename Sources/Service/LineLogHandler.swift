package import Logging
internal import NetworkReachability

/// Writes log lines to standard error: as text for operators, or as JSON Lines for log collectors.
package struct LineLogHandler: LogHandler {
  package enum Format: String, CaseIterable, Sendable {
    case text, json
  }

  let label: String
  let style: LogSettings
  let writer: LogWriter
  /// The level of this logger alone; nil for the level of the settings.
  private var ownLevel: Logger.Level?
  package var metadata: Logger.Metadata = [:]
  package var metadataProvider: Logger.MetadataProvider?

  init(label: String, style: LogSettings, writer: LogWriter) {
    self.label = label
    self.style = style
    self.writer = writer
  }

  package var logLevel: Logger.Level {
    get { ownLevel ?? style.level }
    set { ownLevel = newValue }
  }

  package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  package func log(event: LogEvent) {
    var facts = metadata.merging(metadataProvider?.get() ?? [:]) { $1 }
    facts.merge(event.metadata ?? [:]) { $1 }
    let sorted = facts.sorted { $0.key < $1.key }.map { Fact($0.key, $0.value) }
    let line = line(event.level, "\(event.message)", sorted)
    writer.enqueue(line) { self.line(.warning, "log lines dropped", [Fact("count", .stringConvertible($0))]) }
  }

  private struct Fact {
    let name: String
    let text: String
    /// Whether the text is a number, `true` or `false` in JSON.
    let isLiteral: Bool

    init(_ name: String, _ value: Logger.Metadata.Value) {
      self.name = name
      text = "\(value)"
      isLiteral =
        if case .stringConvertible(let value) = value { value is any BinaryInteger || value is Bool } else { false }
    }
  }

  private func line(_ level: Logger.Level, _ message: String, _ facts: [Fact]) -> String {
    let time = "\(Timestamp.now)"
    let priority = style.hasPriorities ? "<\(Self.priority(level))>" : ""
    switch style.format {
    case .text:
      let words = facts.map { "\($0.name)=\(Self.quoted($0.text))" }
      return priority + ([time, level.rawValue, Self.singleLine(message)] + words).joined(separator: " ")
    case .json:
      let pairs = [("time", time), ("level", level.rawValue), ("message", message)].map { ($0.0, Self.json($0.1)) }
      let more = facts.map { ($0.name, $0.isLiteral ? $0.text : Self.json($0.text)) }
      return priority + "{" + (pairs + more).map { "\(Self.json($0.0)):\($0.1)" }.joined(separator: ",") + "}"
    }
  }

  /// The priority of a level (syslog(3)).
  private static func priority(_ level: Logger.Level) -> Int {
    switch level {
    case .critical: 2
    case .error: 3
    case .warning: 4
    case .notice: 5
    case .info: 6
    case .debug, .trace: 7
    }
  }

  /// Returns a value unchanged when it is one word, else in quotes, so that no client can forge a line or a field.
  private static func quoted(_ value: String) -> String {
    let isWord = !value.isEmpty && value.utf8.allSatisfy { (0x21...0x7e).contains($0) && $0 != 0x22 && $0 != 0x3d }
    return isWord ? value : json(value)
  }

  private static func singleLine(_ text: String) -> String {
    text.unicodeScalars.contains(where: isControl) ? json(text) : text
  }

  /// The characters that a terminal may interpret or a collector may take for a line break: control characters
  /// (including 8-bit ones), line and paragraph separators, and marks that change the direction of text.
  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7f..<0xa0, 0x61c, 0x200e...0x200f, 0x2028...0x202e, 0x2066...0x2069: true
    default: false
    }
  }

  private static func json(_ text: String) -> String {
    var out = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": out += "\\\""
      case "\\": out += "\\\\"
      case "\n": out += "\\n"
      case "\r": out += "\\r"
      case "\t": out += "\\t"
      case _ where isControl(scalar):
        let digits = String(scalar.value, radix: 16)
        out += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: out.unicodeScalars.append(scalar)
      }
    }
    return out + "\""
  }

  /// Returns a logger with a fixed format that writes to `writer`.
  package static func logger(
    _ level: Logger.Level, _ format: Format, _ writer: LogWriter
  ) -> Logger {
    logger(LogSettings(level, format), writer)
  }

  /// Returns a logger with changeable settings that writes to `writer`.
  package static func logger(_ style: LogSettings, _ writer: LogWriter) -> Logger {
    Logger(label: "reachd") { LineLogHandler(label: $0, style: style, writer: writer) }
  }
}
