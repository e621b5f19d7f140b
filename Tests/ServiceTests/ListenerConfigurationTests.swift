import EmbeddedHTTPServer
import TestSupport
import Testing

@testable import Service

/// The addresses of a configuration and their rules.
@Suite struct ListenerConfigurationTests {
  @Test(arguments: [
    ("listen: [{address: 'unix:/a', certificate: x, key: y}]", "unix:/a does not support TLS"),
    ("listen: [{address: '127.0.0.1:1', mode: '0600'}]", "127.0.0.1:1 has no file"),
    ("listen: [{address: '127.0.0.1:1', tls: on}]", "listen[0].tls: \"on\" is invalid; expected off"),
    ("listen: [{address: '127.0.0.1:1', reads: none}]", "listen[0].reads: \"none\" is invalid; expected open or"),
    ("listen: [{address: '127.0.0.1'}]", "listen[0].address: \"127.0.0.1\" is invalid; expected an address with port"),
    ("listen: ['127.0.0.1:1', {reads: open}]", ": listen[1]: address is missing"),
    ("listen: [{address: 'unix:/a', mode: '0888'}]", "listen[0].mode: \"0888\" is invalid; expected permissions"),
    ("listen: [{address: 'unix:/a', mode: '1777'}]", "listen[0].mode: \"1777\" is invalid; expected permissions"),
    ("listen: {address: 'unix:/a'}", "FILE:1:9: listen: a list is expected here"),
    ("listen: [{address: '127.0.0.1:1', reads: token}]", "no client could read"),
    ("tls: {certificate: /nonexistent/a}", "tls: the key is missing"),
    ("tls: {certificate: /nonexistent/a, key: /nonexistent/b}", "/nonexistent/a: tls.certificate: No such file"),
    ("tls: {certificate: /etc/hostname, key: /etc/hostname}", "/etc/hostname: tls.certificate: "),
  ])
  func invalidListenEntriesAreReported(text: String, diagnostic: String) throws {
    let diagnostics = try ConfigurationTests.diagnostics(text)
    #expect(diagnostics.count == 1)
    #expect(diagnostics.first?.contains(diagnostic) == true, "\(diagnostics)")
  }

  @Test func plainAndMappedEntriesAreEquivalent() throws {
    let plain = try ConfigurationTests.load("listen: ['127.0.0.1:1', 'unix:/a']")
    let mixed = try ConfigurationTests.load("listen: ['127.0.0.1:1', {address: 'unix:/a'}]")
    #expect(plain.listeners == mixed.listeners)
    #expect(plain.listen.map(\.description) == ["127.0.0.1:1", "unix:/a"])
    #expect(
      try ConfigurationTests.load("listen: [{address: 'unix:/a'}]", ["REACHD_LISTEN": "unix:/b"]).listen.count == 1)
  }

  @Test func defaultCertificateAppliesToTCPWithoutTLSOff() throws {
    let authority = try TestAuthority()
    let (all, own) = (try authority.issue("all"), try authority.issue("own"))
    let configuration = try ConfigurationTests.load(
      """
      tls: {certificate: \(all.certificate), key: \(all.key)}
      listen:
        - "0.0.0.0:1"
        - { address: "127.0.0.1:3", tls: off }
        - unix:/a
        - { address: "[::]:2", certificate: \(own.certificate), key: \(own.key) }
      """)
    let files = configuration.listeners.map { configuration.tlsFiles(of: $0)?.certificate }
    #expect(files == [all.certificate, nil, nil, own.certificate])
    #expect(configuration.listeners.map { configuration.identity(of: $0) != nil } == [true, false, false, true])
  }
}
