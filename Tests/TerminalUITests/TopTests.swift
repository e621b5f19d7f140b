import JSONFormat
import ReachabilityModel
import TerminalUI
import Testing

@Suite struct TerminalKeyTests {
  @Test(
    arguments: [
      ("q", [.character("q")]), ("\u{1b}", [.escape]), ("\r", [.enter]), ("\u{7f}\u{08}", [.backspace, .backspace]),
      ("\u{0c}", [.redraw]),
      ("\u{1b}[A\u{1b}OB", [.up, .down]), ("\u{1b}[5~\u{1b}[6~", [.pageUp, .pageDown]),
      ("\u{1b}[H\u{1b}[4~", [.home, .end]), ("\u{1b}[1;5Zj", [.character("j")]),
      ("\u{1b}q", [.escape, .character("q")]),
      ("\u{1b}[", []), ("é", []),
    ] as [(String, [TerminalKey])])
  func sequences(text: String, expected: [TerminalKey]) {
    #expect(TerminalKey.keys(in: Array(text.utf8)) == expected)
  }
}

@Suite struct TopModelTests {
  private let many = (0..<100).map { (id: "t\($0)", state: 0, age: Int64(1_000 - $0)) }

  @Test func keysMoveTheSelectionAndTheWindow() {
    var model = Documents.model(many)
    model.scroll(rows: 10)
    #expect(model.selection == nil && model.top == 0)
    _ = model.handle(.character("j"), rows: 10)
    #expect(model.selection == "t0")
    for _ in 0..<10 { _ = model.handle(.down, rows: 10) }
    model.scroll(rows: 10)
    #expect(model.selection == "t10" && model.top == 1)
    _ = model.handle(.end, rows: 10)
    model.scroll(rows: 10)
    #expect(model.selection == "t99" && model.top == 90)
    _ = model.handle(.pageUp, rows: 10)
    #expect(model.selection == "t90")
    _ = model.handle(.home, rows: 10)
    _ = model.handle(.character("k"), rows: 10)
    model.scroll(rows: 10)
    #expect(model.selection == "t0" && model.top == 0)
    model.scroll(rows: 500)
    #expect(model.top == 0)
  }

  @Test func selectionStaysWithItsTarget() {
    var model = Documents.model(many)
    _ = model.handle(.character("j"), rows: 10)
    _ = model.apply(type: "target", Documents.event("t50", from: "up", to: "down"))
    #expect(model.selection == "t0" && model.service.position(of: "t0") == 1)
  }

  @Test func detailRequestsItsDocument() {
    var model = Documents.model(many)
    let opened = model.handle(.enter, rows: 10)
    #expect(opened == .load(id: "t0") && model.mode == .detail(id: "t0"))
    let changed = model.apply(type: "target", Documents.event("t0", from: "up", to: "down"))
    let other = model.apply(type: "target", Documents.event("t1", from: "up", to: "down"))
    #expect(changed == .load(id: "t0") && other == nil)
    model.show(.failed(id: "t7", "late"))
    #expect(model.document == nil, "the response for another target")
    model.show(.failed(id: "t0", "no such target"))
    #expect(model.document != nil)
    let next = model.handle(.character("j"), rows: 10)
    #expect(next == .load(id: "t1"), "another target in the same view")
    let back = model.handle(.escape, rows: 10)
    #expect(back == nil && model.mode == .list)
    let quit = model.handle(.character("q"), rows: 10)
    #expect(quit == .quit)
  }

  @Test func emptyListHandlesEveryKey() {
    var model = Documents.model([])
    for key in [
      TerminalKey.up, .down, .pageUp, .pageDown, .home, .end, .enter, .escape, .character("?"), .character("x"),
    ] {
      let action = model.handle(key, rows: 0)
      #expect(action == nil)
      model.scroll(rows: 5)
    }
    #expect(model.selection == nil)
  }
}

@Suite struct TopScreenTests {
  private func lines(
    _ model: TopModel, _ columns: Int = 80, _ count: Int = 24, unicode: Bool = true, at now: Int64 = Documents.time
  ) -> [String] {
    var model = model
    let screen = TopScreen(TerminalSize(columns: columns, lines: count), Glyphs(isUnicode: unicode), now: now)
    screen.scroll(&model)
    let lines = screen.lines(model, host: "10.0.0.5:8080")
    #expect(lines.count == count)
    #expect(lines.allSatisfy { TextWidth.columns($0.text) <= columns })
    return lines.map(\.text)
  }

  private var model: TopModel {
    Documents.model([("db", 1, 252_000), ("web", 0, 1_000), ("site", 2, 60_000)])
  }

  @Test func tallScreenHasVerdictPathsTargetsAndEvents() {
    var model = model
    _ = model.apply(type: "target", Documents.event("db", from: "up", to: "down", reason: "refused"))
    let lines = lines(model, at: Documents.time + 4_000)
    #expect(lines[0].hasPrefix("reachd 10.0.0.5:8080") && lines[0].hasSuffix("● live"))
    #expect(lines[1] == "✔ reachable ethernetOrWiFi for 4s")
    #expect(lines[2] == "  IPv4 ✔ eth0 via 192.0.2.1")
    #expect(lines[3] == "  IPv6 ⊘ noRoute")
    #expect(lines[4] == "✖ 1 down  ⊘ 1 unreachable  ? 0 unknown  ✔ 1 up  ‖ 0 paused")
    #expect(lines[5].contains("STATE") && lines[5].hasSuffix("FOR"))
    #expect(lines[6].hasPrefix("  ✖ down        db") && lines[6].contains("refused") && lines[6].hasSuffix(" 4s"))
    #expect(lines[7].contains("⊘ unreachable site"))
    #expect(lines[8].contains("✔ up          web") && lines[8].contains("0.41 ms"))
    #expect(lines.contains("     4s ago  db up → down  refused"))
    #expect(lines[23].hasPrefix("j k move"))
  }

  @Test func smallScreenHasVerdictCountsAndTargets() {
    let lines = lines(model, 40, 10)
    #expect(lines[0].hasPrefix("✔ reachable eth0 via 192.0.2.1") && lines[0].hasSuffix("live"))
    #expect(lines[1] == "✖ 1 ⊘ 1 ? 0 ✔ 1 ‖ 0")
    #expect(lines[2].hasPrefix("  ✖ db") && lines[2].contains("refused") && lines[2].hasSuffix("4m 12s"))
    #expect(lines[9].hasPrefix("j k move"))
  }

  @Test func asciiTerminalGetsASCII() {
    let mixed = Documents.model([("db", 1, 5), ("主", 0, 5)])
    for (columns, count) in [(80, 24), (40, 10)] {
      #expect(lines(mixed, columns, count, unicode: false).allSatisfy { $0.utf8.allSatisfy { $0 < 0x80 } })
    }
  }

  @Test("Every size from 1×1 on is filled exactly", arguments: [1, 2, 3, 7, 15, 16, 24, 60])
  func sizes(count: Int) {
    var open = model
    _ = open.handle(.enter, rows: 1)
    var help = model
    _ = help.handle(.character("?"), rows: 1)
    for columns in [1, 2, 9, 20, 40, 59, 60, 80, 200] {
      for model in [model, open, help, TopModel(connectingAt: 0)] { _ = lines(model, columns, count) }
    }
  }

  @Test func outdatedDataAreMarkedAndHaveNoColor() {
    var model = model
    let screen = TopScreen(TerminalSize(columns: 100, lines: 24), Glyphs(isUnicode: true), now: Documents.time + 21_000)
    func text(_ model: TopModel) -> String {
      screen.lines(model, host: "h").map { $0.encoded(isColored: true) }.joined(separator: "\n")
    }
    #expect(text(model).contains("no data for 21s") && !text(model).contains("\u{1b}[31m"))
    model.connection = .live(lastByte: Documents.time + 20_000)
    #expect(text(model).contains("\u{1b}[31m"))
    model.connection = .disconnected(
      since: Documents.time + 9_000, reason: "connection refused", retry: Documents.time + 22_500)
    #expect(text(model).contains("disconnected for 12s, next attempt in 2s: connection refused"))
    #expect(text(model).contains("○ not live") && !text(model).contains("\u{1b}[31m"))
  }

  @Test func detailExplainsTheStateAndTheLastCheck() {
    var model = model
    _ = model.handle(.enter, rows: 10)
    model.show(
      .target(
        id: "db",
        Documents.json(
          """
          {"module":"tcp","intervalSeconds":0.5,"lastCheck":{"checkedAt":"2026-01-01T00:00:00.000000Z","state":"down",
           "durationSeconds":0.003,"address":"10.0.0.9","detail":"Connection refused",
           "phases":{"resolve":0.001,"connect":0.002}}}
          """)))
    let text = lines(model, at: Documents.time + 2_000).joined(separator: "\n")
    #expect(text.contains("✖ down for 4m 14s: refused"))
    #expect(text.contains("does not answer as expected"))
    #expect(text.contains("tcp://db:5432") && text.contains("env=prod") && text.contains("tcp, every 500ms"))
    #expect(text.contains("Last check 2s ago: 10.0.0.9, 3.00 ms") && text.contains("Connection refused"))
    #expect(text.contains("connect      2.00 ms ████████████████████"))
  }

  @Test func agesUseTheClockOfTheService() {
    var model = model
    model.followClock(Documents.time + 3_600_000, at: Documents.time)
    func first(_ model: TopModel, at now: Int64) -> String {
      TopScreen(TerminalSize(columns: 80, lines: 24), Glyphs(isUnicode: true), now: now, clockOffset: model.clockOffset)
        .lines(model, host: "h")[6].text
    }
    // The target is down since 252 s before the time of the documents.
    #expect(first(model, at: Documents.time - 3_600_000).hasSuffix(" 4m 12s"))
    model.followClock(Documents.time - 1_999, at: Documents.time)
    #expect(model.clockOffset == 0, "a header field has a resolution of a second")
  }

  @Test func longDetailsAndHelpScroll() {
    var model = model
    _ = model.handle(.enter, rows: 10)
    for number in 0..<30 {
      _ = model.apply(type: "target", Documents.event("db", from: "up", to: "down", reason: "reason\(number)"))
    }
    let screen = TopScreen(TerminalSize(columns: 80, lines: 12), Glyphs(isUnicode: true), now: Documents.time)
    func shown(_ key: TerminalKey) -> [String] {
      _ = model.handle(key, rows: screen.rows(model))
      screen.scroll(&model)
      return screen.lines(model, host: "h").map(\.text)
    }
    var lines = shown(.down)
    #expect(lines[2].hasPrefix("✖ down for") && lines[11].hasSuffix("2-10 of 35"))
    lines = shown(.pageDown)
    #expect(lines[11].hasSuffix("10-18 of 35"))
    lines = shown(.end)
    #expect(lines[10].hasSuffix("reason0") && lines[11].hasSuffix("27-35 of 35"))
    lines = shown(.up)
    #expect(lines[11].hasSuffix("26-34 of 35"))
    lines = shown(.character("j"))
    #expect(lines[2] == "site", "another target begins at its first line")
    lines = shown(.character("?"))
    lines = shown(.end)
    #expect(lines[10].hasPrefix("◔ unconfirmed"))
  }

  @Test func narrowDetailWrapsItsSentences() {
    var model = model
    _ = model.handle(.enter, rows: 10)
    let lines = lines(model, 40, 10)
    #expect(lines[2].hasPrefix("db"))
    #expect(lines[4] == "A path leads to the target, but it does")
    #expect(lines[5] == "not answer as expected.")
  }

  @Test func shortListLeavesItsLinesToEvents() {
    var model = model
    for number in 0..<30 {
      _ = model.apply(
        type: "target",
        Documents.event("db", from: number % 2 == 0 ? "up" : "down", to: number % 2 == 0 ? "down" : "up"))
    }
    let lines = lines(model, 80, 24)
    #expect(lines[10] == "Events")
    #expect(lines[11...22].allSatisfy { $0.contains("ago  db") })
  }

  @Test func namesCannotMoveTheCursor() {
    var model = model
    _ = model.apply(
      type: "interface",
      Documents.json(
        #"{"time":"2026-01-01T00:00:00.000000Z","cause":[],"removed":false,"interface":{"name":"e\u001b[2J","isUp":true}}"#
      ))
    #expect(!lines(model).joined().contains("\u{1b}"))
  }
}

@Suite struct ScreenWriterTests {
  private func frame(_ texts: [String]) -> [StyledLine] {
    texts.map { text in
      var line = StyledLine(width: 10, Glyphs(isUnicode: true))
      line.append(text)
      return line
    }
  }

  @Test func onlyChangedLinesAreWritten() {
    var writer = ScreenWriter()
    func write(_ texts: [String]) -> String { writer.text(for: frame(texts), isColored: false) }
    #expect(write(["a", "b"]) == "\u{1b}[2J\u{1b}[1;1H\u{1b}[2Ka\u{1b}[2;1H\u{1b}[2Kb")
    #expect(write(["a", "c"]) == "\u{1b}[2;1H\u{1b}[2Kc")
    #expect(write(["a", "c"]) == "")
    #expect(write(["a"]).hasPrefix("\u{1b}[2J"), "another size")
    writer.invalidate()
    #expect(write(["a"]).hasPrefix("\u{1b}[2J"))
  }

  @Test func leavingRevertsEntering() {
    for mode in ["1049", "25", "7"] {
      let pair = [("h", "l"), ("l", "h")].contains { enter, leave in
        ScreenWriter.enter.contains("\u{1b}[?\(mode)\(enter)") && ScreenWriter.leave.contains("\u{1b}[?\(mode)\(leave)")
      }
      #expect(pair, "mode \(mode)")
    }
  }
}

@Suite struct PlainTopScreenTests {
  @Test func verdictPathCountsAndTargets() {
    let model = Documents.model([("db", 1, 0), ("web", 0, 0)])
    #expect(
      PlainTopScreen.lines(model.service) == [
        "reachable ethernetOrWiFi", "IPv4 reachable eth0 via 192.0.2.1", "IPv6 notReachable noRoute",
        "targets: 1 down, 1 up", "down db tcp://db:5432 refused since 2026-01-01T00:00:00.000000Z",
        "up web tcp://web:5432 since 2026-01-01T00:00:00.000000Z",
      ])
    #expect(PlainTopScreen.lines(Documents.model([]).service).last == "targets: none")
  }
}
