internal import HTTPRouting
internal import History
internal import NetworkReachability

/// The parameters `window` and `timeZone` of an uptime: a time before now, or a month that is over.
enum UptimeWindowParameter {
  /// A time before now, in microseconds.
  case length(Int64)
  /// A month in a time zone.
  case month(CalendarMonth, zone: String)

  /// The maximum number of steps: three hours more than a month of hours.
  private static let stepLimit: Int64 = 1_000
  private static let zones = TimeZoneDatabase()

  /// Parses the parameters, whose default is a day.
  ///
  /// - Throws: `badRequest` with examples.
  init(_ context: RequestContext) throws(Problem) {
    let zone = context.query["timeZone"]
    guard let month = context.query["window"].flatMap({ CalendarMonth($0) }) else {
      guard zone == nil else {
        throw Problem(.badRequest, "timeZone needs a month as window, such as window=2026-10&timeZone=Europe/Berlin")
      }
      let text = context.query["window"]
      guard let length = text.map({ HistoryTimeParameter.window($0) }) ?? HistoryTimeParameter.day,
        (HistoryTimeParameter.minute...HistoryTimeParameter.longest).contains(length)
      else {
        throw Problem(
          .badRequest,
          "window must be a duration between 1m and 400d, such as 24h, or a month that is over, such as 2026-10, got "
            + (text ?? "").prefix(80).debugDescription)
      }
      self = .length(length)
      return
    }
    self = .month(month, zone: zone ?? "UTC")
  }

  /// The window for the label of an image.
  var text: String {
    switch self {
    case .length(let length): HistoryTimeParameter.text(length)
    case .month(let month, _): month.description
    }
  }

  /// The window, which begins at a whole step if it is a time before now.
  ///
  /// It may read a file.
  ///
  /// - Parameters:
  ///   - now: the present time in microseconds since 1970.
  ///   - step: the length of the steps in microseconds; nil for one step.
  /// - Returns: the window with its steps.
  /// - Throws: `badRequest` with what would be right.
  func window(until now: Int64, step: Int64? = nil) throws(Problem) -> UptimeWindow {
    switch self {
    case .length(let length):
      guard let step else { return UptimeWindow(now - length..<now) }
      guard length <= step * Self.stepLimit else { throw Self.tooManySteps }
      return UptimeWindow((now - length) / step * step..<now, step: step)
    case .month(let month, let zone):
      guard let rules = Self.zones.rules(zone) else {
        throw Problem(
          .badRequest,
          "timeZone must be a name in \(TimeZoneDatabase.directory) (package tzdata), such as Europe/Berlin, or UTC, got "
            + zone.prefix(80).debugDescription)
      }
      let range = month.range(in: rules)
      guard range.upperBound <= now else {
        throw Problem(
          .badRequest,
          "\(month) is not over in \(zone) before \(Timestamp(microseconds: range.upperBound)); "
            + "use a month that is over, or a duration such as 30d")
      }
      guard range.lowerBound >= now - HistoryTimeParameter.longest else {
        throw Problem(.badRequest, "\(month) began more than 400 days ago, for which transitions are kept at most")
      }
      let window = UptimeWindow(month, in: rules, step: step ?? .max)
      guard window.steps <= Self.stepLimit else { throw Self.tooManySteps }
      return window
    }
  }

  private static let tooManySteps = Problem(
    .badRequest, "the window has more than \(stepLimit) steps; use a longer step or a shorter window")
}
