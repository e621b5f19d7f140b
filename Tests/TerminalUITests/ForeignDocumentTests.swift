import JSONFormat
import TerminalUI
import Testing

/// What another program at the address may send: valid JSON with any numbers.
@Suite("Documents that no service sends")
struct ForeignDocumentTests {
  private static let numbers = [
    "0", "-1", "1e308", "-1e308", "1e-320", "9223372036854775807", "-9223372036854775808", "1e18", "0.5",
  ]

  private func draw(_ model: TopModel) {
    for size in [
      TerminalSize(columns: 120, lines: 40), TerminalSize(columns: 40, lines: 10), TerminalSize(columns: 1, lines: 1),
    ] {
      for now in [Documents.time, 0] {
        var model = model
        let screen = TopScreen(size, Glyphs(isUnicode: true), now: now, clockOffset: model.clockOffset)
        screen.scroll(&model)
        #expect(screen.lines(model, host: "h").count <= size.lines)
      }
    }
    #expect(!PlainTopScreen.lines(model.service).isEmpty)
  }

  @Test("Durations of checks", arguments: numbers)
  func durations(_ number: String) {
    var model = Documents.model([("a", 0, 1)])
    let event = Documents.json(
      """
      {"type":"target","time":"2026-01-01T00:00:00Z","from":"up","to":"up","durationSeconds":\(number),"target":{"id":"a",
       "target":"tcp://a","state":"up","since":"0000-01-01T00:00:00Z"}}
      """)
    _ = model.apply(type: "target", event)
    #expect(model.service["a"]?.latency != nil)
    draw(model)
    _ = model.handle(.enter, rows: 10)
    let document = Documents.json(
      """
      {"module":"tcp","intervalSeconds":\(number),"lastCheck":{"checkedAt":"9999-12-31T23:59:59Z","durationSeconds":\(number),
       "phases":{"connect":\(number),"tls":-5,"dns":1e-320}}}
      """)
    model.show(.target(id: "a", document))
    draw(model)
  }

  @Test("Columns of an overview", arguments: numbers)
  func overviews(_ number: String) {
    for column in ["state", "reason", "label", "since", "flags", "latency"] {
      var model = Documents.model([("a", 0, 1)])
      guard var members = Documents.overview([("b", 1, 1)]).members,
        let place = members.firstIndex(where: { $0.name == column })
      else { Issue.record("no column \(column)"); continue }
      members[place] = JSON.Member(name: column, value: Documents.json("[\(number)]"))
      _ = model.service.replaceTargets(.object(members))
      draw(model)
    }
  }

  @Test("The time of the service", arguments: [Int64.min, .max, 0, -1, 1 << 60])
  func clocks(_ time: Int64) {
    var model = Documents.model([("a", 0, 1), ("b", 1, 1)])
    model.followClock(time, at: Documents.time)
    draw(model)
  }
}
