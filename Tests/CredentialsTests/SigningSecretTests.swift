import Testing

@testable import Credentials

@Suite("Webhook secrets")
struct SigningSecretTests {
  /// The secret of the reference implementations of the specification.
  static let text = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

  @Test("A signature equals that of the reference implementations")
  func reference() throws {
    let secret = try #require(SigningSecret(Self.text))
    let signature = secret.signature(
      id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330, body: Array(#"{"test": 2432232314}"#.utf8))
    #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
  }

  @Test("A signature covers the id, the time and the body")
  func covered() throws {
    let secret = try #require(SigningSecret(Self.text))
    let other = try #require(SigningSecret("whsec_" + String(repeating: "A", count: 32)))
    let signatures = [
      secret.signature(id: "a", timestamp: 1, body: [1]), secret.signature(id: "b", timestamp: 1, body: [1]),
      secret.signature(id: "a", timestamp: 2, body: [1]), secret.signature(id: "a", timestamp: 1, body: [2]),
      other.signature(id: "a", timestamp: 1, body: [1]),
    ]
    #expect(Set(signatures).count == signatures.count)
    #expect(!signatures.contains(nil))
  }

  @Test("The key is in no description, and equality compares keys")
  func description() throws {
    let secret = try #require(SigningSecret(Self.text))
    #expect("\(secret)" == "whsec_…")
    #expect(secret == SigningSecret(Self.text))
    #expect(secret != SigningSecret("whsec_" + String(repeating: "A", count: 32)))
    #expect(secret != SigningSecret("whsec_" + String(repeating: "A", count: 64)))
  }

  @Test("Secrets have 24 to 64 bytes", arguments: [(32, true), (28, false), (84, true), (88, false)])
  func sizes(digits: Int, isValid: Bool) {
    #expect((SigningSecret("whsec_" + String(repeating: "A", count: digits)) != nil) == isValid)
  }

  @Test(
    "Other texts are no secrets",
    arguments: [
      "", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
      "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZI 2LaLaSw",
      "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS-", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n",
      "WHSEC_" + text.dropFirst(6),
    ])
  func broken(text: String) {
    #expect(SigningSecret(text) == nil)
  }
}
