internal import History
internal import JSONFormat

/// The recent history of one target as short texts, one character per slot, for the charts of a list.
struct TargetSeries: Sendable {
  /// The slowest check of each of the last 60 minutes: 64 levels from 0.1 ms to 60 s in the alphabet of Base64 (RFC 4648),
  /// `!` for a minute with a failed check, `.` without checks.
  var spark: String
  /// The most severe state of each of the last 48 half-hours: `d` down, `n` unreachable, `k` unknown, `p` paused, `u` up,
  /// `.` not monitored.
  var bars24: String
  /// The same of each of the last 90 days of UTC.
  var bars90: String
  /// The availability in these windows in hundredths of a percent, rounded down; nil if the target was neither up nor down.
  var uptime24: Int64?
  var uptime90: Int64?

  private static let minute: Int64 = 60_000_000
  private static let letters: [(state: UptimeState, letter: Character)] = [
    (.down, "d"), (.unreachable, "n"), (.unknown, "k"), (.paused, "p"), (.up, "u"),
  ]
  private static let levels = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")

  /// A target without history.
  private init() {
    spark = String(repeating: ".", count: 60)
    bars24 = String(repeating: ".", count: 48)
    bars90 = String(repeating: ".", count: 90)
  }

  /// Reads the series of one target at a time in microseconds since 1970.
  init(of id: String, _ reader: HistoryReader, _ recorder: SampleRecorder, at now: Int64) throws(StoreQueryError) {
    self.init()
    let subject = HistorySubject.target(id)
    guard let reference = try reader.reference(to: subject) else { return }
    let day = try Self.bars(reference, reader, slots: 48, step: 30 * Self.minute, now)
    let quarter = try Self.bars(reference, reader, slots: 90, step: 1_440 * Self.minute, now)
    (bars24, uptime24, bars90, uptime90) = (day.bars, day.uptime, quarter.bars, quarter.uptime)
    let first = now / Self.minute - 59
    let latencies = try reader.latencies(
      of: (subject, reference), in: first * 60_000..<(now / 1_000 + 1), step: .minute, recorder)
    let rollups = Dictionary(latencies.map { ($0.start / 60_000, $0.rollup) }) { $1 }
    spark = String((first..<first + 60).map { minute in rollups[minute].map(Self.level) ?? "." })
  }

  private static func bars(_ reference: Int64, _ reader: HistoryReader, slots: Int64, step: Int64, _ now: Int64)
    throws(StoreQueryError) -> (bars: String, uptime: Int64?)
  {
    let start = now / step * step - (slots - 1) * step
    let steps = try reader.uptime(of: reference, in: start..<now + 1, step: step)
    let whole = steps.reduce(into: UptimeSummary()) { $0 += $1.summary }
    let bars = steps.map { step in letters.first { step.summary[$0.state] > 0 }?.letter ?? "." }
    return (String(bars), whole.availability.map { Int64(($0 * 10_000).rounded(.down)) })
  }

  private static func level(_ rollup: LatencyRollup) -> Character {
    if rollup.failed > 0 { return "!" }
    guard let slowest = rollup.maximum else { return "." }
    // Logarithmic, because latencies differ by orders of magnitude; linear within an octave. 60 s are 19.1 octaves.
    let ratio = max(1, Double(slowest) / 100)
    let octaves = Double(ratio.exponent) + ratio.significand - 1
    return levels[min(63, Int((octaves / 19.1 * 63).rounded()))]
  }

  /// The columns of `GET /targets/overview` for the series of its rows.
  static func columns(_ series: [TargetSeries]) -> [JSON.Member] {
    func share(_ value: Int64?) -> JSON { value.map { .integer($0) } ?? .null }
    return [
      .init(name: "spark", value: .list(series.map(\.spark))),
      .init(name: "bars24", value: .list(series.map(\.bars24))),
      .init(name: "bars90", value: .list(series.map(\.bars90))),
      .init(name: "uptime24", value: .array(series.map { share($0.uptime24) })),
      .init(name: "uptime90", value: .array(series.map { share($0.uptime90) })),
    ]
  }
}
