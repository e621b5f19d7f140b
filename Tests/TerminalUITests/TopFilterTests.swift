import TerminalUI
import Testing

@Suite struct TopFilterTests {
  private let many = (0..<100).map { (id: "t\($0)", state: 0, age: Int64(1_000 - $0)) }

  /// Handles each character of a text.
  private func type(_ text: String, _ model: inout TopModel) {
    for character in text { _ = model.handle(.character(character), rows: 10) }
  }

  @Test func filterSelectsTargetsWhileItIsTyped() {
    var model = Documents.model(many)
    type("/T9", &model)
    #expect(model.isTyping && model.service.targets.map(\.id).sorted() == ["t9"] + (90..<100).map { "t\($0)" })
    type("q", &model)
    #expect(model.service.targetCount == 0 && model.service.hasTargets, "q ends the program only outside of the filter")
    _ = model.handle(.backspace, rows: 10)
    let opened = model.handle(.enter, rows: 10)
    #expect(opened == nil && !model.isTyping && model.filter == "T9")
    _ = model.handle(.down, rows: 10)
    #expect(model.selection == "t9")
    _ = model.handle(.escape, rows: 10)
    #expect(model.filter.isEmpty && model.service.targetCount == 100 && model.selection == "t9")
    type("/x", &model)
    _ = model.handle(.escape, rows: 10)
    #expect(!model.isTyping && model.service.targetCount == 100)
    type("/" + String(repeating: "y", count: 100), &model)
    #expect(model.filter.count == 64)
  }

  @Test func filteredTargetsFollowEvents() {
    var model = Documents.model(many)
    type("/down", &model)
    #expect(model.service.targetCount == 0)
    for id in ["t50", "t7"] { _ = model.apply(type: "target", Documents.event(id, from: "up", to: "down")) }
    #expect(Set(model.service.targets.map(\.id)) == ["t50", "t7"])
    #expect(model.service.position(of: "t1") == nil)
    _ = model.apply(type: "target", Documents.event("t7", from: "down", to: "up"))
    #expect(model.service.targets.map(\.id) == ["t50"] && model.service.position(of: "t50") == 0)
    _ = model.handle(.escape, rows: 10)
    #expect(model.service.targetCount == 100)
  }
}
