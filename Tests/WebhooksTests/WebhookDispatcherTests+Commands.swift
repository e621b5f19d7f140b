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

  @Test("Requests for a webhook that is removed end")
  func commandsOfARemovedWebhook() throws {
    let setup = try Setup()
    setup.start([try Self.webhook()])
    let results = Locked<[String]>([])
    for _ in 0..<3 {
      setup.dispatcher.perform(.test, on: "ops") { result in
        results.withLock { $0.append(Self.name(of: result)) }
      }
    }
    setup.clock.advance()
    #expect(setup.open.count == 1)
    setup.dispatcher.configure([])
    setup.clock.advance()
    #expect(results.withLock(\.self) == ["missing", "missing", "missing"])
    #expect(setup.open == [], "it is cancelled")
  }

  @Test("A webhook that a reload adds or renames has the route of another one to the same host")
  func addedWebhookOfAKnownHost() throws {
    let setup = try Setup()
    setup.start([try Self.webhook()])
    setup.append()
    setup.answer(200)
    setup.dispatcher.configure([try Self.webhook(), try Self.webhook("more", "https://10.9.0.1/more")])
    setup.clock.advance()
    setup.append()
    #expect(setup.open == ["e-2", "e-2"])
    setup.answer(200)
    setup.dispatcher.configure([try Self.webhook("renamed")])
    setup.clock.advance()
    setup.append()
    #expect(setup.open == ["e-3"])
    #expect(setup.dispatcher.report("renamed")?.state == .sending)
  }

  @Test("The answer to a removed webhook does not count for the one that is added again")
  func answerToARemovedWebhook() throws {
    let setup = try Setup()
    setup.start([try Self.webhook()])
    setup.append()
    setup.dispatcher.configure([])
    setup.dispatcher.configure([try Self.webhook()])
    setup.clock.advance()
    setup.clock.advance()
    #expect(setup.open == ["e-1"])
    #expect(setup.events.results == [])
    setup.answer(200)
    #expect(setup.sent == ["e-1", "e-1"])
    #expect(setup.events.results == [.delivered])
    #expect(setup.events.positions["ops"]?.settled == 1)
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
