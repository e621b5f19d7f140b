import Database
import Testing

@testable import History

@Suite("Rows of a database that was set aside")
struct SalvageFrameTests {
  private let frames = [
    SalvageFrame(.webhook, ["ops", "6f1c2a90", 7, .integer(.min), nil, "{}"]),
    SalvageFrame(.target, ["target:a", "{}", "runtime", .bits(.max), .blob([0, 255]), "ci"]),
    SalvageFrame(.subject, ["machine", .blob([])]), SalvageFrame(.subject, [.real(.infinity), "\u{0}ä"]),
    SalvageFrame(.end),
  ]

  @Test("They return as they were written, up to the one that is cut off")
  func roundTrip() {
    let bytes = frames.flatMap(\.bytes)
    #expect(SalvageFrame.frames(in: bytes) == frames)
    for count in bytes.indices {
      let found = SalvageFrame.frames(in: Array(bytes.prefix(count)))
      #expect(found == Array(frames.prefix(found.count)) && found.count < frames.count)
    }
  }

  @Test("Bytes of any content are read without a trap")
  func anyBytes() {
    var generator = SystemRandomNumberGenerator()
    let valid = frames.flatMap(\.bytes)
    for _ in 0..<20_000 {
      var bytes = valid
      for _ in 0...3 {
        bytes[Int.random(in: bytes.indices, using: &generator)] = .random(in: 0...255, using: &generator)
      }
      var rows = SalvagedRows()
      for frame in SalvageFrame.frames(in: bytes) { rows.take(frame) }
    }
    #expect(SalvageFrame.frames(in: [255, 255, 255, 255, 1]) == [])
    #expect(SalvageFrame.frames(in: [6, 0, 0, 0, 2, 3, 255, 255, 255, 255]) == [])
  }

  @Test("Rows with values of other types are not taken")
  func otherTypes() {
    var rows = SalvagedRows()
    for position in 0..<6 {
      for kind in [SalvageFrame.Kind.webhook, .target] {
        var frame = frames[kind == .webhook ? 0 : 1]
        frame.values[position] = .real(1)
        rows.take(frame)
      }
      rows.take(SalvageFrame(.target, Array(frames[1].values.prefix(position))))
    }
    // A state or token of another type is none.
    #expect(rows.targets.map(\.state) == [[], [0, 255]] && rows.targets.map(\.token) == ["ci", nil])
    #expect(rows.webhooks.isEmpty && !rows.isComplete)
    for name in ["machine", "target:", ""] {
      var frame = frames[1]
      frame.values[0] = .text(name)
      rows.take(frame)
    }
    #expect(rows.targets.count == 2)
    for frame in frames { rows.take(frame) }
    #expect(rows.targets.count == 3 && rows.webhooks.count == 1 && rows.subjects == ["machine": []] && rows.isComplete)
  }
}
