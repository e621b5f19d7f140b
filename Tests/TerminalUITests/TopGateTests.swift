import JSONFormat
import TerminalUI
import Testing

@Suite struct TopGateTests {
  private func lines(_ model: TopModel, _ columns: Int = 80, _ count: Int = 24) -> [String] {
    var model = model
    let screen = TopScreen(
      TerminalSize(columns: columns, lines: count), Glyphs(isUnicode: true), now: Documents.time)
    screen.scroll(&model)
    let lines = screen.lines(model, host: "h").map(\.text)
    #expect(lines.count == count && lines.allSatisfy { TextWidth.columns($0) <= columns })
    return lines
  }

  @Test func gatesHaveALineThatFollowsTheirEvents() {
    var model = Documents.model([("db", 1, 252_000), ("web", 0, 1_000)])
    model.service.replaceGates(
      Documents.json(
        #"{"gates":[{"id":"app","state":"open","reason":null},{"id":"shop","state":"closed","reason":"missing"}]}"#))
    #expect(lines(model)[5] == "gates:  ✖ shop missing  ✔ app" && lines(model)[6].contains("STATE"))
    #expect(lines(model, 20).contains { $0.hasPrefix("gates:  ✖ shop") && $0.hasSuffix("…") })
    #expect(!lines(model, 40, 10).contains { $0.contains("gates:") })
    func apply(_ id: String, _ state: String, removed: Bool = false) {
      let data = """
        {"id":"6f1c2a90-2","type":"gate","time":"2026-01-01T00:00:00.000000Z","cause":["check"],"from":"open",
         "to":"\(state)","reason":null,"removed":\(removed),"gate":{"id":"\(id)","state":"\(state)","reason":null}}
        """
      _ = model.apply(type: "gate", Documents.json(data))
    }
    apply("app", "closed")
    apply("shop", "open")
    #expect(PlainTopScreen.lines(model.service).contains("gates: app closed, shop open"))
    #expect(lines(model).contains("     0s ago  gate app open → closed"))
    apply("app", "closed", removed: true)
    #expect(lines(model)[5] == "gates:  ✔ shop")
    model.service.replaceGates(Documents.json(#"{"gates":[]}"#))
    #expect(lines(model)[5].contains("STATE"))
  }
}
