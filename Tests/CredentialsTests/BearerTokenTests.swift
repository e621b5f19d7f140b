import Testing

@testable import Credentials

@Suite("Bearer tokens")
struct BearerTokenTests {
  @Test("A new token is its own, keeps its name, and has 256 bits")
  func made() throws {
    let one = try #require(BearerToken.make(id: "grafana"))
    let two = try #require(BearerToken.make(id: "grafana"))
    #expect(one.id == "grafana")
    #expect(one.text.hasPrefix("rx_grafana_"))
    #expect(one.text.count == "rx_grafana_".count + 64)
    #expect(one.text != two.text)
    #expect(BearerToken(one.text)?.id == "grafana")
    #expect(BearerToken(one.text)?.digest == one.digest)
    #expect(one.digest != two.digest)
    let nameless = try (0..<100).map { _ in try #require(BearerToken.make()).id }
    #expect(Set(nameless).count == 100)
  }

  @Test("The secret is in no description")
  func description() throws {
    let token = try #require(BearerToken.make(id: "a"))
    #expect("\(token)" == "rx_a_…")
  }

  static let secret = String(repeating: "0123456789abcdef", count: 4)

  @Test(
    "What is no token is none",
    arguments: [
      "", "rx_", "rx__" + secret, "rx_a", "rx_a_", "rx_a_" + secret.dropLast(), "rx_a_" + secret + "0",
      "rx_a_" + secret.uppercased(), "rx_A_" + secret, "rx_a b_" + secret, "ry_a_" + secret, "rx_a_" + secret + "\n",
      "rx_a_b_" + secret, "rx_" + String(repeating: "a", count: 33) + "_" + secret, "rx_ä_" + secret,
      " rx_a_" + secret,
    ])
  func broken(text: String) {
    #expect(BearerToken(text) == nil)
  }

  @Test("What is no id makes no token", arguments: ["", "A", "a_b", "a b", "ä", String(repeating: "a", count: 33)])
  func brokenID(id: String) {
    #expect(BearerToken.make(id: id) == nil)
  }

  @Test(
    "Digests are those of FIPS 180-4's examples",
    arguments: [
      ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
      ),
    ])
  func digests(message: String, digits: String) throws {
    let digest = try #require(SHA256Digest(of: message.utf8))
    #expect(digest.hexadecimal == digits)
    #expect(SHA256Digest(hexadecimal: digits) == digest)
    #expect(SHA256Digest(hexadecimal: digits.uppercased()) == digest)
    #expect(SHA256Digest(hexadecimal: digits.dropLast() + "0") != digest)
  }

  @Test("What is no digest is none", arguments: ["", "e3b0", String(repeating: "g", count: 64)])
  func brokenDigest(text: String) {
    #expect(SHA256Digest(hexadecimal: text) == nil)
    #expect(SHA256Digest(hexadecimal: String(repeating: "a", count: 65)) == nil)
  }
}
