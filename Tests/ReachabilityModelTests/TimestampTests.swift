import Glibc
import ReachabilityModel
import TestSupport
import Testing

@Suite("Timestamps")
struct TimestampTests {
  @Test(
    "A moment is written as RFC 3339 in UTC with microseconds",
    arguments: [
      (0, "1970-01-01T00:00:00.000000Z"), (1, "1970-01-01T00:00:00.000001Z"), (-1, "1969-12-31T23:59:59.999999Z"),
      (951_782_400_000_000, "2000-02-29T00:00:00.000000Z"), (951_868_800_000_000, "2000-03-01T00:00:00.000000Z"),
      (1_709_164_800_000_000, "2024-02-29T00:00:00.000000Z"), (1_709_251_199_999_999, "2024-02-29T23:59:59.999999Z"),
      (4_107_456_000_000_000, "2100-02-28T00:00:00.000000Z"), (4_107_542_400_000_000, "2100-03-01T00:00:00.000000Z"),
      (1_234_567_890_123_456, "2009-02-13T23:31:30.123456Z"), (2_147_483_647_000_000, "2038-01-19T03:14:07.000000Z"),
      (-2_208_988_800_000_000, "1900-01-01T00:00:00.000000Z"), (-62_135_596_800_000_000, "0001-01-01T00:00:00.000000Z"),
      (253_402_300_799_999_999, "9999-12-31T23:59:59.999999Z"),
    ] as [(Int64, String)])
  func known(_ microseconds: Int64, _ text: String) {
    #expect(Timestamp(microseconds: microseconds).description == text)
  }

  @Test("Sums and differences saturate, and no duration is too long for its text")
  func saturation() {
    let (first, last) = (Timestamp(microseconds: .min), Timestamp(microseconds: .max))
    #expect(
      first.duration(to: last) == .microseconds(Int64.max) && last.duration(to: first) == .microseconds(Int64.min))
    #expect(last.advanced(by: .seconds(1)) == last && first.advanced(by: .seconds(-1)) == first)
    #expect(Timestamp(microseconds: 5).advanced(by: .microseconds(-7)) == Timestamp(microseconds: -2))
    for duration in [
      Duration.microseconds(Int64.max), .microseconds(Int64.min), .seconds(Int64.max), .seconds(Int64.min),
    ] {
      #expect(!DurationFormat.shortest(duration).isEmpty && !duration.inMilliseconds.isEmpty)
    }
    #expect(!first.description.isEmpty && !last.description.isEmpty)
  }

  @Test("Random moments of the years 1 to 9999 are written as gmtime_r sees them")
  func asGlibc() {
    var generator = SeededGenerator(seed: 5)
    for _ in 0..<20_000 {
      let seconds = Int.random(in: -62_135_596_800...253_402_300_799, using: &generator)
      let fraction = Int64.random(in: 0..<1_000_000, using: &generator)
      var time = seconds
      var parts = unsafe tm()
      unsafe gmtime_r(&time, &parts)
      let (day, clock) = unsafe (
        (parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday), (parts.tm_hour, parts.tm_min, parts.tm_sec)
      )
      func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
      let year = String(String(10_000 + day.0).suffix(4))
      let micro = String(String(1_000_000 + fraction).suffix(6))
      let expected =
        "\(year)-\(two(day.1))-\(two(day.2))T\(two(clock.0)):\(two(clock.1)):\(two(clock.2)).\(micro)Z"
      let ours = Timestamp(microseconds: Int64(seconds) * 1_000_000 + fraction).description
      guard ours != expected else { continue }
      Issue.record("\(seconds) is \(ours), for gmtime_r \(expected)")
    }
  }

  @Test("What was written is read back, whatever the moment")
  func readBack() {
    var generator = SeededGenerator(seed: 6)
    for _ in 0..<20_000 {
      let moment = Timestamp(
        microseconds: Int64.random(in: -62_135_596_800_000_000...253_402_300_799_999_999, using: &generator))
      guard Timestamp(moment.description) != moment else { continue }
      Issue.record("\(moment) is read as \(Timestamp(moment.description)?.description ?? "nothing")")
    }
  }

  @Test(
    "RFC 3339 is read in all its forms",
    arguments: [
      ("2027-01-01", "2027-01-01T00:00:00.000000Z"), ("2000-02-29T12:00:00Z", "2000-02-29T12:00:00.000000Z"),
      ("2027-01-01t01:02:03.5z", "2027-01-01T01:02:03.500000Z"),
      ("2027-01-01T00:30:00+01:00", "2026-12-31T23:30:00.000000Z"),
      ("1996-12-19T16:39:57-08:00", "1996-12-20T00:39:57.000000Z"),
      ("2027-01-01T00:00:00.123456789Z", "2027-01-01T00:00:00.123456Z"),
    ])
  func forms(text: String, moment: String) {
    #expect(Timestamp(text)?.description == moment)
  }

  @Test(
    "What is no moment is none",
    arguments: [
      "", "2027", "2027-1-1", "2027-13-01", "2027-00-01", "2027-02-29", "2100-02-29", "2027-04-31", "2027-01-00",
      "2027-01-01T", "2027-01-01T00:00Z", "2027-01-01T24:00:00Z", "2027-01-01T00:60:00Z", "2027-01-01T00:00:60Z",
      "2027-01-01T00:00:00", "2027-01-01T00:00:00.Z", "2027-01-01T00:00:00Zx", "2027-01-01 00:00:00Z",
      "2027-01-01T00:00:00+1:00", "2027-01-01T00:00:00+24:00", "+027-01-01", "2027-01-01\n",
    ])
  func broken(text: String) {
    #expect(Timestamp(text) == nil)
  }

  @Test("The furthest moments that can be held can be written")
  func extremes() {
    #expect(Timestamp(microseconds: .max).description == "294247-01-10T04:00:54.775807Z")
    #expect(Timestamp(microseconds: .min).description.hasSuffix("-12-21T19:59:05.224192Z"))
  }

  @Test("Earlier sorts before later")
  func order() {
    #expect(Timestamp(microseconds: -1) < Timestamp(microseconds: 0))
    #expect(!(Timestamp(microseconds: 5) < Timestamp(microseconds: 5)))
  }
}
