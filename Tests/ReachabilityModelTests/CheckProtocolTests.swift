import ReachabilityModel
import Testing

@Suite("The lists of protocols agree")
struct CheckProtocolTests {
  @Test("Each scheme has a module of its own, with one type of options", arguments: CheckTarget.Scheme.allCases)
  func scheme(_ scheme: CheckTarget.Scheme) {
    #expect(CheckModule.Options.types.count { $0.schemes.contains(scheme) } == 1)
    let module = CheckModule.standard(for: scheme)
    #expect(CheckModule.builtIn.filter { $0.name == scheme.descriptor.module } == [module])
    #expect(module.fits(scheme) && scheme.hasPort == (scheme.descriptor.defaultPort != nil || isPortRequired(scheme)))
  }

  private func isPortRequired(_ scheme: CheckTarget.Scheme) -> Bool {
    (try? CheckTarget("\(scheme.rawValue)://10.0.0.9:1")) != nil
      && (try? CheckTarget("\(scheme.rawValue)://10.0.0.9")) == nil
  }

  @Test("Each prober has a name and a scheme of its own")
  func probers() {
    let types = CheckModule.Options.types
    #expect(Set(types.map { $0.prober }).count == types.count)
    #expect(types.flatMap { $0.schemes }.count == CheckTarget.Scheme.allCases.count)
    for type in types { #expect(Set(type.keys).count == type.keys.count, "\(type.prober)") }
  }

  @Test("Options are equal to those of the same type, and read as this type only")
  func options() {
    let hello = CheckModule.Options.tcp(TCPOptions(send: "hello"))
    #expect(hello[TCPOptions.self]?.send == "hello" && hello[ICMPOptions.self] == nil)
    #expect(hello == .tcp(TCPOptions(send: "hello")) && hello != .tcp(TCPOptions()) && hello != .route)
    let all: [CheckModule.Options] = [
      .route, hello, .icmp(ICMPOptions()), .http(HTTPOptions()), .tls(TLSOptions()), .dns(DNSOptions()),
    ]
    #expect(Set(all + all).count == all.count)
  }

  @Test("Evidence has the order of documents, whichever protocol came first")
  func evidence() {
    var evidence = CheckResult.Evidence()
    evidence.tls = CheckResult.TLS(version: "TLSv1.3")
    evidence.http = CheckResult.HTTP(status: 200, version: "2")
    #expect(evidence.all.map { type(of: $0).name } == ["http", "tls"])
    #expect(evidence.all.map(\.summary) == ["status 200", "TLSv1.3"])
  }
}
