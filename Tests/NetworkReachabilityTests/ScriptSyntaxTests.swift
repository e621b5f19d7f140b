import NetworkReachability
import NetworkReachabilityTesting
import Testing

@Suite("A script refuses malformed texts")
struct ScriptSyntaxTests {
  /// A mistake in a script, and what the message must contain.
  struct Mistake: Codable, CustomTestStringConvertible {
    enum Place: String, Codable { case address, newInterface, gateway, interface, name, nameAddress, firstNames }
    let place: Place
    let text: String
    var testDescription: String { "\(place.rawValue) \(text.debugDescription)" }

    func make() {
      var script = KernelScript()
      script.addLoopback()
      switch place {
      case .address: script.addAddress(text, to: 1)
      case .newInterface: script.addInterface(2, "eth0", addresses: ["10.0.0.5/24", text])
      case .gateway: script.addDefault(via: text, on: 2)
      case .interface: script.addInterface(2, text)
      case .name: ScriptedNames().change(text, to: .notFound)
      case .nameAddress: ScriptedNames().change("db.internal", to: ["10.0.0.9", text])
      case .firstNames: _ = ScriptedNames([text: ["10.0.0.9"]])
      }
    }
  }

  static let mistakes: [Mistake] =
    [
      "10.0.0.5", "10.0.0.5/33", "10.0.0.5/-1", "10.0.0/24", "fe80::5/129", "fe80::5%eth0/64", "", "10.0.0.5/24/24",
      "10.0.0.5/x", "/24",
      " 10.0.0.5/24",
    ]
    .map { Mistake(place: .address, text: $0) }
    + [Mistake(place: .newInterface, text: "10.0.0.5/")]
    + ["10.0.0.1/24", "gateway", "", "fe80::1%eth0"].map { Mistake(place: .gateway, text: $0) }
    + ["", "eth 0", "a/b", "abcdefghijklmnop", ".."].map { Mistake(place: .interface, text: $0) }
    + ["", "db internal", "db.internal:80", "https://db.internal", "10.0.0.9", "a..b"].map {
      Mistake(place: .name, text: $0)
    }
    + ["db.internal:80", "::1"].map { Mistake(place: .firstNames, text: $0) }
    + ["10.0.0.256", "", "db.internal", "10.0.0.9/24"].map { Mistake(place: .nameAddress, text: $0) }

  @Test("The test ends with the text, and with the line that contains it", arguments: mistakes)
  func refused(mistake: Mistake) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [mistake] in
      mistake.make()
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains(mistake.text.debugDescription), "\(message)")
    #expect(message.contains("ScriptSyntaxTests.swift"), "\(message)")
  }

  @Test("Unusual texts that are correct are accepted")
  func accepted() {
    var script = KernelScript()
    script.addInterface(
      2, "eth0.100@if3", addresses: ["0.0.0.0/0", "10.0.0.5/32", "fe80::5/64", "::ffff:10.0.0.5/128"])
    script.addInterface(3, "abcdefghijklmno")
    script.addDefault(via: "fe80::1", on: 2)
    #expect(script.addresses.count == 4)
    let names = ScriptedNames([
      "db.internal.": ["10.0.0.9", "2001:db8::9"], "_ldap._tcp.internal": [], "localhost": ["127.0.0.1"],
    ])
    names.change("DB.internal", to: .pending)
    #expect(names.resolution(of: "db.internal") == .pending)
  }
}
