/// The connection to a service, as a screen shows it; times are milliseconds since 1970.
package enum TopServiceConnection: Sendable, Equatable {
  /// No response yet.
  case connecting(since: Int64)
  /// The stream delivers events; the time of its last byte.
  case live(lastByte: Int64)
  /// There is no stream: since when, why, and when the next attempt begins.
  case disconnected(since: Int64, reason: String, retry: Int64)

  /// The time without a byte after which the data count as outdated, in ms; the stream has a comment every 15 s.
  package static let silenceLimit: Int64 = 20_000

  /// Whether the screen shows the present.
  package func isLive(at now: Int64) -> Bool {
    if case .live(let last) = self { now - last <= Self.silenceLimit } else { false }
  }

  /// A sentence for the screen; nil while everything is shown as it is.
  package func notice(at now: Int64) -> String? {
    switch self {
    case .connecting(let since):
      "connecting for \(TerminalAge.text(milliseconds: now - since))"
    case .live(let last):
      isLive(at: now)
        ? nil : "no data for \(TerminalAge.text(milliseconds: now - last)); this is the state of that time"
    case .disconnected(let since, let reason, let retry):
      "disconnected for \(TerminalAge.text(milliseconds: now - since)), next attempt in "
        + "\(TerminalAge.text(milliseconds: retry - now + 999)): \(reason)"
    }
  }
}
