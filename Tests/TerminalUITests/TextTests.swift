import ReachabilityModel
import TerminalUI
import Testing

@Suite struct ColorChoiceTests {
  @Test(arguments: [
    (ColorChoice.always, ["NO_COLOR": "1", "TERM": "dumb"], false, true),
    (.never, [:], true, false),
    (.auto, [:], true, true), (.auto, [:], false, false),
    (.auto, ["NO_COLOR": "1"], true, false), (.auto, ["NO_COLOR": ""], true, true),
    (.auto, ["TERM": "dumb"], true, false), (.auto, ["TERM": "xterm"], false, false),
  ])
  func optionThenVariablesThenTerminal(
    choice: ColorChoice, environment: [String: String], isTerminal: Bool, expected: Bool
  ) {
    #expect(choice.isEnabled(environment, isTerminal: isTerminal) == expected)
  }
}

@Suite struct TerminalStyleTests {
  @Test("Colours are those of the palette, never bright and never a background")
  func palette() {
    let styles: [TerminalStyle] = [.plain, .bold, .warning] + TargetState.allCases.map { .state($0) }
    for style in styles {
      let text = style.applied(to: "x", isColored: true)
      let parameters = text.split(separator: "m").first.map { $0.drop { !$0.isNumber } } ?? ""
      if text == "x" { continue }
      let number = Int(parameters) ?? 0
      #expect(number == 1 || (30...37).contains(number), "\(style)")
      #expect(text.hasSuffix("x\u{1b}[0m"))
      #expect(style.applied(to: "x", isColored: false) == "x")
    }
  }

  @Test func onlyTheFirstStateOfALineIsColored() {
    let line = TerminalStateWords.colored("2026 db down up refused", within: 3, isColored: true)
    #expect(line == "2026 db \u{1b}[31mdown\u{1b}[0m up refused")
    #expect(TerminalStateWords.colored("a b down", within: 2, isColored: true) == "a b down")
    #expect(TerminalStateWords.colored("down", within: 1, isColored: false) == "down")
  }
}

@Suite struct TextWidthTests {
  private let glyphs = Glyphs(isUnicode: true)

  @Test(arguments: [("abc", 3), ("主机", 4), ("e\u{301}", 1), ("✖", 1), ("", 0)])
  func columns(text: String, expected: Int) {
    #expect(TextWidth.columns(text) == expected)
  }

  @Test func textIsFilledOrCutOff() {
    #expect(TextWidth.fitted("ab", 4, glyphs) == "ab  ")
    #expect(TextWidth.fitted("ab", 4, glyphs, isRightAligned: true) == "  ab")
    #expect(TextWidth.fitted("abcdef", 4, glyphs) == "abc…")
    #expect(TextWidth.fitted("主机名", 4, glyphs) == "主… ", "half of a wide character is a space")
    #expect(TextWidth.fitted("abc", 0, glyphs) == "")
  }

  @Test func controlCharactersMoveNoCursor() {
    #expect(!TextWidth.printable("a\u{1b}[2Jb\n", glyphs).unicodeScalars.contains { $0.value < 0x20 })
    #expect(TextWidth.printable("主机", Glyphs(isUnicode: false)) == "??")
  }

  @Test(
    arguments: [
      ([:], false), (["LANG": "C"], false), (["LANG": "en_US.UTF-8"], true), (["LANG": "zh_CN.utf8"], true),
      (["LANG": "en_US.UTF-8", "LC_ALL": "C"], false), (["LC_ALL": "", "LC_CTYPE": "C.UTF-8"], true),
    ] as [([String: String], Bool)])
  func encodingFollowsTheLocale(environment: [String: String], expected: Bool) {
    #expect(Glyphs(environment).isUnicode == expected)
  }
}

@Suite struct TerminalAgeTests {
  @Test(
    arguments: [
      (0, "0s"), (-5, "0s"), (12_000, "12s"), (252_000, "4m 12s"), (3_600_000, "1h"), (273_600_000, "3d 4h"),
    ] as [(Int64, String)])
  func twoLargestUnits(milliseconds: Int64, expected: String) {
    #expect(TerminalAge.text(milliseconds: milliseconds) == expected)
  }

  @Test(
    arguments: [
      (412, "0.41 ms"), (1_005, "1.00 ms"), (12_345, "12.3 ms"), (123_456, "123 ms"), (1_523_000, "1.52 s"),
    ] as [(Int64, String)])
  func latencyHasThreeDigits(microseconds: Int64, expected: String) {
    #expect(TerminalAge.latency(microseconds: microseconds) == expected)
  }
}

@Suite struct TextTableTests {
  @Test func columnsAreAligned() {
    var table = TextTable(["A", "STATE", "LAST"], Glyphs(isUnicode: true))
    let rows = [["long value", "down", "x"], ["b", "unreachable", ""], ["主", "up", "y"]]
    table.fit(rows)
    #expect(table.line(["A", "STATE", "LAST"]) == "A           STATE        LAST")
    #expect(table.line(rows[0]) == "long value  down         x")
    #expect(table.line(rows[1]) == "b           unreachable", "no spaces at the end")
    #expect(table.line(rows[2]) == "主          up           y")
    #expect(table.line(rows[0], coloring: 1) == "long value  \u{1b}[31mdown       \u{1b}[0m  x")
  }

  @Test func longValueDoesNotPushOthersAway() {
    var table = TextTable(["A", "B"], Glyphs(isUnicode: false))
    let row = [String(repeating: "a", count: 100), "b"]
    table.fit([row])
    #expect(table.line(row) == String(repeating: "a", count: 39) + "~  b")
  }
}

@Suite struct ProgressLineTests {
  @Test func textFitsInOneLine() {
    #expect(ProgressLine.text("checking", done: 2, of: 5, after: 3, columns: 80) == "checking: 2 of 5 targets, 3s")
    let waiting = ProgressLine.text("waiting for", done: nil, of: 1, after: 61, limit: "2m", columns: 80)
    #expect(waiting == "waiting for: 1 target, 1m 1s of 2m")
    #expect(ProgressLine.text("checking", done: 2, of: 5, after: 3, columns: 10) == "checking:")
  }
}
