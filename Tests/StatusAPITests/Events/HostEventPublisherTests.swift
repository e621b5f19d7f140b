import EventStreams
import Foundation
import Locks
import EmbeddedHTTPServer
import NetworkReachability
import NetworkReachabilityTesting
import TestSupport
import Testing

@testable import StatusAPI

@Suite struct HostEventPublisherTests {
  private func hosts(_ response: HTTPResponse) -> [Frame] {
    Frame.parse(response.text).filter { $0.event == "host" }
  }

  /// Waits for so many host events.
  private func hosts(_ response: HTTPResponse, count: Int) throws -> [Frame] {
    try #require(eventually { hosts(response).count >= count }, "\(response.text)")
    return hosts(response)
  }

  @Test func streamStartsWithEachHostThenChanges() throws {
    let service = try ScriptedService()
    let response = try service.ask("/events?host=10.0.0.9&host=192.0.2.1&types=path")
    let first = try hosts(response, count: 2)
    #expect(first.count == 2)
    #expect(first.allSatisfy { $0.id == nil })
    for host in ["10.0.0.9", "192.0.2.1"] {
      #expect(first.contains { $0.data?.contains("\"initial\":true,\"host\":{\"host\":\"\(host)\"") == true })
    }
    service.kernel.change { $0.dropCarrier("eth0") }
    service.kernel.advance(by: .seconds(1))
    let all = try hosts(response, count: 4)
    #expect(all.count == 4)
    #expect(all.suffix(2).allSatisfy { $0.data?.contains("\"initial\":false") == true })
    #expect(all.suffix(2).allSatisfy { $0.data?.contains("\"cause\":[\"carrierLost\"]") == true })
    #expect(all.suffix(2).allSatisfy { $0.data?.contains("\"status\":\"notReachable\"") == true })
  }

  @Test func laterStreamGetsTheCurrentVerdictOnly() throws {
    let service = try ScriptedService()
    let early = try service.ask("/events?host=10.0.0.9")
    _ = try hosts(early, count: 1)
    service.kernel.change { $0.dropCarrier("eth0") }
    service.kernel.advance(by: .seconds(1))
    _ = try hosts(early, count: 2)
    let late = hosts(try service.ask("/events?host=10.0.0.9&host=10.0.0.9"))
    #expect(late.count == 1)
    #expect(late[0].data?.contains("\"cause\":[],\"initial\":true") == true)
    #expect(late[0].data?.contains("\"status\":\"notReachable\"") == true)
    #expect(hosts(early).count == 2)
  }

  @Test func hostEventsReachOnlyTheirStreams() throws {
    let service = try ScriptedService()
    let plain = try service.ask("/events")
    let other = try service.ask("/events?host=10.0.0.7")
    let watching = try service.ask("/events?host=10.0.0.9")
    _ = try hosts(watching, count: 1)
    _ = try hosts(other, count: 1)
    #expect(hosts(plain).isEmpty)
    #expect(hosts(other).count == 1)
    let resumed = try service.ask("/events", ["Last-Event-ID": Frame.parse(plain.text)[0].id ?? ""])
    #expect(Frame.parse(resumed.text).isEmpty)
  }

  @Test func hostsPerStreamAndInTotalAreLimited() throws {
    let service = try ScriptedService()
    let list = (1...65).map { "host=10.0.0.\($0)" }
    #expect(try service.problem("/events?" + list.joined(separator: "&")) == "badRequest")
    let full = "/events?" + list.dropLast().joined(separator: "&")
    var streams = try (0..<(HostEventPublisher.watches / 64)).map { _ in try service.ask(full) }
    let rest = list.prefix(HostEventPublisher.watches % 64).joined(separator: "&")
    streams.append(try service.ask("/events?" + rest))
    let refused = try service.ask("/events?host=10.0.0.1")
    #expect(refused.status == 429)
    #expect(refused.headers["Retry-After"] == "10")
    #expect(try service.ask("/events").status == 200)
    // One stream ends, and there is room again.
    streams.removeLast()
    #expect(try service.ask("/events?host=10.0.0.1").status == 200)
  }

  @Test func unwatchedHostIsRemoved() throws {
    let kernel = ScriptedKernel(.wired)
    let monitor = ReachabilityMonitor(kernel: kernel)
    let feed = HostEventPublisher(monitor: monitor)
    try monitor.start()
    let target = try ReachabilityTarget(host: "10.0.0.9")
    var first = feed.watch([target], client: "c")
    var second = feed.watch([target], client: "c")
    #expect(first != nil && second != nil)
    #expect(feed.watches == 2)
    #expect(eventually { monitor.verdict(of: target) != nil })
    first = nil
    #expect(monitor.verdict(of: target) != nil)
    second = nil
    #expect(feed.watches == 0)
    #expect(monitor.verdict(of: target) == nil)
    let before = feed.log.occupancy.appended
    kernel.change { $0.dropCarrier("eth0") }
    kernel.advance(by: .seconds(1))
    #expect(feed.log.occupancy.appended == before)
  }

  @Test func lateEventOfAnEndedWatchIsDropped() throws {
    let kernel = ScriptedKernel(.wired)
    let monitor = ReachabilityMonitor(kernel: kernel)
    let feed = HostEventPublisher(monitor: monitor)
    try monitor.start()
    let target = try ReachabilityTarget(host: "10.0.0.9")
    var ticket = feed.watch([target], client: "c")
    var verdict = try #require(monitor.verdict(of: target))
    ticket = nil
    ticket = feed.watch([target], client: "c")
    let before = feed.log.occupancy.appended
    verdict.path.reason = .noRoute
    verdict.path.flags = []
    let late = Transition(
      sequence: 1, time: Timestamp(microseconds: 0), causes: [], change: .host(from: nil, to: verdict))
    feed.publish(verdict, late, of: target, topic: 1)
    #expect(feed.log.occupancy.appended == before)
    feed.publish(verdict, late, of: target, topic: 2)
    #expect(feed.log.occupancy.appended == before + 1)
    feed.publish(verdict, late, of: target, topic: 2)
    #expect(feed.log.occupancy.appended == before + 1, "nothing new")
    withExtendedLifetime(ticket) {}
  }

  @Test func unchangedVerdictIsNotPublished() throws {
    let service = try ScriptedService()
    service.kernel.change { $0.addInterface(3, "eth1", addresses: ["10.1.0.5/24"]) }
    let response = try service.ask("/events?host=local-link&types=status")
    _ = try hosts(response, count: 1)
    // The local link is another's now, which its document does not tell.
    service.kernel.change { $0.change("eth0") { $0.flags.remove(.up) } }
    service.kernel.advance(by: .seconds(1))
    let target = ReachabilityTarget.localLink
    #expect(service.monitor.verdict(of: target)?.path.interface?.name == "eth1")
    service.kernel.change { $0.change("eth1") { $0.flags.remove(.up) } }
    service.kernel.advance(by: .seconds(1))
    let all = try hosts(response, count: 2)
    #expect(all.count == 2)
    #expect(all.last?.data?.contains("\"status\":\"notReachable\"") == true)
  }

  @Test func refusedWatchDoesNotAffectOthers() throws {
    let kernel = ScriptedKernel(.wired)
    let monitor = ReachabilityMonitor(kernel: kernel)
    let feed = HostEventPublisher(monitor: monitor)
    try monitor.start()
    // Room for one more target.
    let others = (1..<100_000).map { ReachabilityTarget(.address(IPAddress(ipv4: 0xc612_0000 + UInt32($0)))) }
    let many = try #require(monitor.listen(to: [], watching: others, on: DeliveryContext { $0() }) { _ in })
    let (first, second) = (try ReachabilityTarget(host: "10.0.0.8"), try ReachabilityTarget(host: "10.0.0.9"))
    let end = Locked(false)
    let refused = Thread {
      while !end.withLock(\.self) { _ = feed.watch([first, second], client: "c") }
    }
    refused.start()
    var deaf = 0
    for _ in 0..<40 {
      guard let ticket = feed.watch([second], client: "c") else { continue }
      if !eventually(within: .seconds(1), { monitor.verdict(of: second) != nil }) { deaf += 1 }
      withExtendedLifetime(ticket) {}
      guard deaf < 3 else { break }
    }
    end.withLock { $0 = true }
    #expect(deaf == 0)
    #expect(eventually { feed.watches == 0 })
    many.cancel()
  }

  @Test(arguments: ["http://a", "a:80", "", "a b", "10.0.0"])
  func invalidHostIsRejected(host: String) throws {
    let service = try ScriptedService()
    #expect(try service.problem("/events?host=10.0.0.9&host=\(host.replacing(" ", with: "%20"))") == "badHost")
  }

  @Test func arrayExcludesHosts() throws {
    let service = try ScriptedService()
    #expect(try service.problem("/events?host=10.0.0.9", ["Accept": "application/json"]) == "badRequest")
    #expect(try service.problem("/events?types=path&types=status") == "badRequest")
  }
}
