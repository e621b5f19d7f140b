import ReachabilityModel
import Testing

@testable import Webhooks

@Suite("Webhook requests")
struct WebhookRequestTests {
  @Test(
    "Addresses that may not be contacted",
    arguments: [
      ("https://169.254.169.254/", 443, false), ("https://10.0.0.1/", 443, true),
      ("https://127.0.0.1:8443/", 8443, true),
      ("https://127.0.0.1:8080/", 8080, false), ("https://192.0.2.9/", 443, true), ("https://203.0.113.7/", 443, false),
      ("https://[::ffff:169.254.169.254]/", 443, false), ("https://[fd00:ec2::254]/", 443, false),
    ])
  func policy(url: String, port: UInt16, isAllowed: Bool) throws {
    let webhook = try WebhookDispatcherTests.webhook("ops", url)
    let message = WebhookMessage(test: "t", at: Timestamp(microseconds: 0), source: "s")
    let policy = ContactPolicy(deny: [IPPrefix(try #require(IPAddress("203.0.113.0")), length: 24)], ownPorts: [8080])
    let request = try #require(
      WebhookRequest.make(message, for: webhook, at: Timestamp(microseconds: 0), policy))
    guard case .address(let address) = webhook.url.host.remote else { throw WebhookDispatcherTests.WrongModule() }
    #expect(request.policy?.allows(address, port: port) == isAllowed)
    #expect(request.moduleVerdict == .allowed)
  }

  @Test(
    "Plain HTTP is for private addresses only",
    arguments: [
      ("10.1.2.3", true), ("172.16.0.1", true), ("192.168.1.1", true), ("127.0.0.1", true), ("fd00::1", true),
      ("::1", true), ("fe80::1", true), ("8.8.8.8", false), ("2001:4860:4860::8888", false), ("100.64.0.1", false),
    ])
  func plain(address: String, isAllowed: Bool) throws {
    let message = WebhookMessage(test: "t", at: Timestamp(microseconds: 0), source: "s")
    let webhook = try WebhookDispatcherTests.webhook("ops", "http://receiver.internal:8080/")
    let request = try #require(
      WebhookRequest.make(message, for: webhook, at: Timestamp(microseconds: 0), ContactPolicy()))
    #expect(request.moduleVerdict.allows(try #require(IPAddress(address))) == isAllowed)
  }
}
