import Locks
import NetworkReachabilityTesting
import ReachabilityChecks
import ReachabilityModel
import Testing

@testable import Webhooks

extension WebhookDispatcherTests {
  @Test("Commands pause, resume, test and redeliver")
  func commands() throws {
    let setup = try Setup()
    setup.start([try Self.webhook()])
    setup.append(2)
    setup.answer(200)
    setup.answer(200)
    let results = Locked<[String]>([])
    func perform(_ command: WebhookCommand, on id: String = "ops") {
      setup.dispatcher.perform(command, on: id) { result in
        results.withLock { $0.append(Self.name(of: result)) }
      }
      setup.clock.advance()
    }
    perform(.pause)
    setup.append()
    #expect(setup.open == [])
    perform(.test)
    #expect(setup.open.first?.hasPrefix("test-") == true)
    setup.answer(500)
    perform(.redeliver(event: "e-1"))
    #expect(setup.open == ["e-1"])
    setup.answer(200)
    for event in ["e-9", "x-1", "e-0", "e-", "e-+1", "e-1-gap"] { perform(.redeliver(event: event)) }
    perform(.resume)
    #expect(setup.open == ["e-3"])
    perform(.resume, on: "none")
    #expect(
      results.withLock(\.self) == ["done", "failed", "delivered"] + Array(repeating: "missingEvent", count: 6)
        + ["done", "missing"])
  }

  private static func name(of result: WebhookCommandResult) -> String {
    switch result {
    case .done: "done"
    case .attempted(let record): record.result.rawValue
    case .noRoute: "noRoute"
    case .busy: "busy"
    case .missingEvent: "missingEvent"
    case .missing: "missing"
    }
  }
}
