import ReachabilityModel
import Testing

@Suite("A target's definition is checked, field by field")
struct TargetSpecTests {
  func draft(_ change: (inout TargetSpec) -> Void = { _ in }) -> TargetSpec {
    var draft = TargetSpec()
    draft.id = "db"
    draft.target = "tcp://10.9.0.1:8000"
    change(&draft)
    return draft
  }

  @Test("What is not given has its default")
  func defaults() throws {
    let definition = try draft().definition()
    #expect(definition.module.name == "tcp_connect")
    #expect(definition.interval == .seconds(30) && definition.timeout == .seconds(5))
    #expect(definition.fall == 3 && definition.rise == 2 && definition.fastInterval == .seconds(1))
    #expect(!definition.isPaused && definition.labels.isEmpty)
    // A short interval has a shorter timeout.
    let quick = try draft { $0.interval = .milliseconds(500) }.definition()
    #expect(quick.timeout == .milliseconds(400) && quick.fastInterval == .milliseconds(500))
  }

  @Test("The configuration's modules go before the built-in ones")
  func modules() throws {
    var options = HTTPOptions()
    options.method = "HEAD"
    let own = CheckModule(name: "http_2xx", options: .http(options))
    #expect(try draft { $0.target = "http://a/" }.definition(modules: [own]).module == own)
    #expect(try draft { $0.target = "http://a/" }.definition().module == .standard(for: .http))
    // A module that cannot check the target replaces no other.
    let other = CheckModule(name: "http_2xx", options: .route)
    #expect(try draft { $0.target = "http://a/" }.definition(modules: [other]).module == .standard(for: .http))
  }

  struct Case: CustomTestStringConvertible {
    let field: TargetSpec.Field
    let part: String
    let change: @Sendable (inout TargetSpec) -> Void
    init(_ field: TargetSpec.Field, _ part: String, _ change: @escaping @Sendable (inout TargetSpec) -> Void) {
      self.field = field
      self.part = part
      self.change = change
    }
    var testDescription: String { "\(field): \(part)" }
  }

  @Test(
    "What is wrong is told with its field and a hint",
    arguments: [
      Case(.id, "missing") { $0.id = nil },
      Case(.id, "is not an id") { $0.id = "" },
      Case(.id, "is not an id") { $0.id = "DB" },
      Case(.id, "is not an id") { $0.id = "a/b" },
      Case(.id, "is not an id") { $0.id = "é" },
      Case(.id, "is not an id") { $0.id = String(repeating: "a", count: 69) },
      Case(.target, "missing") { $0.target = nil },
      Case(.target, "scheme") { $0.target = "gopher://db" },
      Case(.target, "port is missing") { $0.target = "tcp://db" },
      Case(.module, "unknown module") { $0.module = "tcp_conect" },
      Case(.module, "does not fit tcp://") { $0.module = "http_2xx" },
      Case(.interval, "cannot be") { $0.interval = .milliseconds(99) },
      Case(.interval, "cannot be") { $0.interval = .seconds(86_401) },
      Case(.timeout, "cannot be") { $0.timeout = .zero },
      Case(.timeout, "cannot be") { $0.timeout = .seconds(61) },
      Case(.timeout, "before the interval") {
        $0.interval = .seconds(1)
        $0.timeout = .seconds(1)
      },
      Case(.fastInterval, "is not possible") { $0.fastInterval = .seconds(31) },
      Case(.fastInterval, "is not possible") { $0.fastInterval = .zero },
      Case(.fall, "cannot be 0") { $0.fall = 0 },
      Case(.rise, "cannot be 101") { $0.rise = 101 },
      Case(.labels, "is not a label name") { $0.labels = ["": "x"] },
      Case(.labels, "is not a label name") { $0.labels = ["a b": "x"] },
      Case(.labels, "is not a label value") { $0.labels = ["a": "x\n"] },
      Case(.labels, "is not a label value") { $0.labels = ["a": String(repeating: "x", count: 129)] },
      Case(.labels, "33 labels") { draft in
        for number in 0..<33 { draft.labels["l\(number)"] = "" }
      },
    ])
  func wrong(_ wrong: Case) {
    do throws(TargetSpec.Faults) {
      _ = try draft(wrong.change).definition()
      Issue.record("was accepted")
    } catch {
      #expect(error.faults.map(\.field) == [wrong.field])
      #expect(error.faults.first?.problem.contains(wrong.part) == true, "\(error)")
      #expect(error.faults.first?.hint.isEmpty == false)
    }
  }

  @Test("Everything that is wrong is told at once, and long texts are cut")
  func all() {
    let wrong = draft {
      $0.id = String(repeating: "X", count: 10_000)
      $0.target = "tcp://"
      $0.fall = -1
    }
    let faults = #expect(throws: TargetSpec.Faults.self) { try wrong.definition() }
    #expect(faults?.faults.map(\.field) == [.id, .target, .fall])
    #expect((faults?.faults.first?.description.utf8.count ?? .max) < 300)
  }
}
