import CGnuTLS
import TestSupport
import Testing

@testable import EmbeddedHTTPServer

extension ServerTests.TLS {
  private static let request = "GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

  /// Makes a connection with one request, and checks the response.
  private func exchange(
    _ fixture: Fixture, _ version: String, resuming earlier: SecureClient? = nil
  ) throws -> SecureClient {
    let client = try SecureClient(fixture.address, version: version, resuming: earlier)
    try client.shakeHands()
    try client.send(Self.request)
    #expect(try client.receiveAll().hasSuffix("\r\n\r\nGET /a [] a "))
    return client
  }

  @Test("A session is resumed by its ticket, until the identity is replaced", arguments: ["TLS1.3", "TLS1.2"])
  func resumption(version: String) throws {
    let (old, new) = (try identity("old"), try identity("new"))
    let fixture = try Fixture(configure: { $0.identity = old })
    let first = try exchange(fixture, version)
    #expect(!first.isResumed)
    let second = try exchange(fixture, version, resuming: first)
    #expect(second.isResumed)
    fixture.server.replaceIdentity(new)
    let third = try exchange(fixture, version, resuming: second)
    #expect(!third.isResumed)
    #expect(try exchange(fixture, version, resuming: third).isResumed)
    #expect(fixture.server.counters.requests == 4)
  }

  @Test(
    "A client without a usable version gets an alert",
    arguments: [("TLS1.1", nil), ("TLS1.0", nil), ("TLS1.1", "http/1.1")] as [(String, String?)])
  func oldVersions(version: String, protocols: String?) throws {
    let identity = try identity("localhost")
    let fixture = try Fixture(configure: { $0.identity = identity })
    let client = try SecureClient(fixture.address, version: version, protocols: protocols)
    #expect(throws: RawClient.Failure.self) { try client.shakeHands() }
    #expect(client.alert == GNUTLS_A_PROTOCOL_VERSION)
    #expect(fixture.eventually { $0.connections == 0 })
  }

  @Test("HTTP/1.1 is selected, and a client that does not offer it gets an alert", arguments: ["TLS1.3", "TLS1.2"])
  func applicationProtocols(version: String) throws {
    let identity = try identity("localhost")
    let fixture = try Fixture(configure: { $0.identity = identity })
    for (offered, selected) in [(nil, nil), ("http/1.1", "http/1.1"), ("h2,http/1.1", "http/1.1")]
      as [(String?, String?)]
    {
      let client = try SecureClient(fixture.address, version: version, protocols: offered)
      try client.shakeHands()
      #expect(client.selectedProtocol == selected)
    }
    let client = try SecureClient(fixture.address, version: version, protocols: "h2,spdy/1")
    #expect(throws: RawClient.Failure.self) { try client.shakeHands() }
    #expect(client.alert == GNUTLS_A_NO_APPLICATION_PROTOCOL)
    #expect(fixture.eventually { $0.connections == 0 })
  }
}
