import TestSupport
import Testing

@testable import History

@Suite struct SampleTests {
  private static let hour: Int64 = 500_000

  private func samples(_ count: Int, interval: Int64 = 30_000, seed: UInt64 = 1) -> [Sample] {
    var random = SeededGenerator(seed: seed)
    return (0..<count).map { index in
      let jitter = Int64.random(in: -3...3, using: &random)
      let isUp = Int.random(in: 0..<100, using: &random) < 98
      return Sample(
        time: Self.hour * 3_600_000 + Int64(index) * interval + 5 + jitter,
        latency: isUp ? UInt32.random(in: 800...60_000, using: &random) : nil, state: isUp ? .up : .down)
    }
  }

  @Test(arguments: 0..<100)
  func chunksReturnWhatWasAppended(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let samples = (0..<Int.random(in: 0...200, using: &random)).map { _ in
      Sample(
        time: Self.hour * 3_600_000 + Int64.random(in: -90_000_000...90_000_000, using: &random),
        latency: Bool.random(using: &random) ? UInt32.random(in: 0 ... .max, using: &random) : nil,
        state: Sample.State.allCases.randomElement(using: &random) ?? .up)
    }
    var chunk = SampleChunk(hour: Self.hour)
    for sample in samples { chunk.append(sample) }
    #expect(chunk.samples == samples)
    #expect(SampleChunk(bytes: chunk.bytes, hour: Self.hour) == chunk, "and can be continued")
    for length in 0..<min(chunk.bytes.count, 40) {
      let part = SampleChunk.samples(in: Array(chunk.bytes.prefix(length)), hour: Self.hour)
      #expect(part == Array(samples.prefix(part.count)), "a truncated chunk has a prefix")
    }
  }

  @Test func aSampleTakesAboutFiveBytes() {
    var chunk = SampleChunk(hour: Self.hour)
    for sample in samples(120) { chunk.append(sample) }
    #expect(chunk.bytes.count <= 600, "\(chunk.bytes.count)")
  }

  @Test(arguments: 0..<50)
  func stagingReturnsWhatWasWritten(seed: UInt64) {
    let entries = samples(50, interval: 900, seed: seed).enumerated().map { index, sample in
      SampleStaging.Entry(subject: Int64(1 + index * index * 1000), sample: sample)
    }
    let bytes = SampleStaging.encode(entries, minute: Self.hour * 60)
    #expect(SampleStaging.decode(bytes, minute: Self.hour * 60) == entries)
  }

  @Test func invalidBytesAreNoSamples() {
    #expect(SampleChunk.samples(in: Array(repeating: 0xff, count: 50), hour: 0).isEmpty)
    #expect(SampleStaging.decode([0x80], minute: 0).isEmpty)
    #expect(LatencyRollup(bytes: []) == nil)
    #expect(LatencyRollup(bytes: [1]) == nil)
    #expect(LatencyRollup(bytes: [1, 0, 5]) == nil)
    #expect(LatencyRollup(bytes: [1, 0, 5, 0, 5, 200, 200, 200, 1, 1]) == nil, "a bucket that does not exist")
  }
}

@Suite struct LatencyTests {
  @Test func everyBucketIsWithinSixAndAQuarterPercent() {
    var values: Set<UInt32> = [0, .max]
    for exponent in 0..<32 {
      let power = UInt32(1) << UInt32(exponent)
      for part in 0..<16 {
        let value = power &+ power / 16 &* UInt32(part)
        values.formUnion([value, value &- 1, value &+ 1])
      }
    }
    for value in values {
      let middle = Double(LatencySketch.middle(of: LatencySketch.index(of: value)))
      #expect(abs(middle - Double(value)) <= Double(value) * 0.063, "\(value) is shown as \(middle)")
    }
    let indexes = (0..<5_000).map { LatencySketch.index(of: UInt32($0)) }
    #expect(indexes == indexes.sorted(), "greater values have no lower bucket")
  }

  @Test(arguments: 0..<100)
  func quantilesOfMergedSketchesAreThoseOfAllValues(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let values = (0..<Int.random(in: 1...500, using: &random)).map { _ in
      UInt32.random(in: 0...(1 << UInt32.random(in: 1...31, using: &random)), using: &random)
    }
    var whole = LatencyRollup()
    var parts = [LatencyRollup(), LatencyRollup(), LatencyRollup()]
    for value in values {
      let sample = Sample(time: 0, latency: value, state: .up)
      whole.add(sample)
      parts[Int.random(in: 0..<3, using: &random)].add(sample)
    }
    var merged = LatencyRollup()
    for part in parts { merged.merge(try #require(LatencyRollup(bytes: part.bytes))) }
    #expect(merged == whole, "a merge is exact")
    let sorted = values.sorted()
    for share in [0, 0.5, 0.9, 0.95, 0.99, 1] {
      let exact = Double(sorted[max(0, Int((share * Double(sorted.count)).rounded(.up)) - 1)])
      let found = Double(try #require(whole.quantile(share)))
      #expect(abs(found - exact) <= exact * 0.063, "\(share)")
    }
    #expect(whole.minimum == sorted.first)
    #expect(whole.maximum == sorted.last)
  }

  @Test func failuresHaveNoLatency() {
    let rollup = LatencyRollup([
      Sample(time: 0, latency: nil, state: .down), Sample(time: 0, latency: nil, state: .unreachable),
    ])
    #expect(rollup.count == 2)
    #expect(rollup.failed == 1)
    #expect(rollup.quantile(0.5) == nil)
    #expect(rollup.mean == nil)
    #expect(LatencyRollup(bytes: rollup.bytes) == rollup)
  }
}
