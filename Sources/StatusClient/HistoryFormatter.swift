public import JSONFormat
internal import ReachabilityModel
internal import StatusAPI

/// The history and the uptime as text.
public enum HistoryFormatter {
  /// Returns the line of an entry of `GET /history`; nil for an invalid document:
  /// `2026-01-01T00:00:00.000000Z target:db up -> down refused (check)`.
  public static func line(_ entry: JSON) -> String? {
    guard let time = entry["time"]?.string, let subject = entry["subject"]?.string, let new = entry["to"]?.string else {
      return nil
    }
    var words = [time, subject]
    if let old = entry["from"]?.string { words += [old, "->"] }
    words.append(new)
    if let reason = entry["reason"]?.string { words.append(reason) }
    if entry["flapping"] == .bool(true) { words.append("flapping") }
    if entry["clean"] == .bool(false) { words.append("unclean") }
    let causes = entry["cause"]?.elements?.compactMap(\.string) ?? []
    if !causes.isEmpty { words.append("(\(causes.joined(separator: ", ")))") }
    return words.joined(separator: " ").withoutControls
  }

  /// The titles of the columns of ``cells(_:)``.
  public static let titles = ["TIME", "SUBJECT", "FROM", "TO", "REASON", "CAUSE"]

  /// Returns an entry of `GET /history` as the cells of a table, with its time in whole seconds; nil for an invalid
  /// document.
  public static func cells(_ entry: JSON) -> [String]? {
    guard let time = entry["time"]?.string, let subject = entry["subject"]?.string, let new = entry["to"]?.string else {
      return nil
    }
    let remarks = [
      entry["reason"]?.string, entry["flapping"] == .bool(true) ? "flapping" : nil,
      entry["clean"] == .bool(false) ? "unclean" : nil,
    ]
    let causes = entry["cause"]?.elements?.compactMap(\.string) ?? []
    // `2026-01-01T00:00:00.000000Z`: the fraction is of use to programs, which read JSON.
    let seconds = time.firstIndex(of: ".").map { "\(time[..<$0])Z" } ?? time
    return [
      seconds, subject, entry["from"]?.string ?? "", new, remarks.compactMap(\.self).joined(separator: " "),
      causes.joined(separator: ", "),
    ]
  }

  /// Returns the uptime of a target in a page of `GET /uptime`: `99.95 % 2 outages`; nil for an invalid document.
  ///
  /// Outages that began before the window count, too: a target that was down all the time had one.
  public static func uptime(_ target: JSON) -> String? {
    guard case .integer(let begun)? = target["outages"] else { return nil }
    var outages = begun
    if case .integer(let ended)? = target["endedOutages"] { outages = max(outages, ended) }
    if outages == 0, let down = target["seconds"]?["down"], down != .integer(0), down != .number(0) { outages = 1 }
    let share: String
    switch target["availability"] {
    case .number(let value): share = BadgeRoutes.percent(value)
    case .integer(let value): share = BadgeRoutes.percent(Double(value))
    default: share = "unknown"
    }
    return "\(share) \(outages) \(outages == 1 ? "outage" : "outages")"
  }
}
