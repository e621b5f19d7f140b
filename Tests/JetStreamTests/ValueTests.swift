import Testing

@testable import JetStream
@testable import NATSClient

@Suite("Values of streams")
struct ValueTests {
  @Test("Positions are read from both forms of the subject for acknowledgements")
  func positions() throws {
    let short = try #require(JetStreamDeliveryPosition(acknowledgement: "$JS.ACK.RX.c1.1.70.7.1700000000000000001.3"))
    #expect(short.streamSequence == 70 && short.consumerSequence == 7 && short.pending == 3)
    #expect(short.time == 1_700_000_000_000_000_001)
    let long = try #require(
      JetStreamDeliveryPosition(acknowledgement: "$JS.ACK.hub.AbC.RX.c1.1.70.7.1700000000000000001.3.x"))
    #expect(long == short)
  }

  @Test(
    "Other subjects have no position",
    arguments: [
      "", "$JS.ACK", "_INBOX.a.b", "$JS.ACK.RX.c1.1.a.7.1.3", "$JS.ACK.RX.c1.1.70.7.1",
      "$JS.ACK.RX.c1.1.18446744073709551615.7.1.3",
      "$JS.ACK.RX.c1.1.70.18446744073709551615.1.3", "$JS.FC.RX.c1.1.70.7.1.3",
    ])
  func otherSubjects(_ text: String) { #expect(JetStreamDeliveryPosition(acknowledgement: text) == nil) }

  @Test(
    "Times have up to nine digits after the point",
    arguments: [
      ("1970-01-01T00:00:00Z", 0), ("1970-01-01T00:00:01.5Z", 1_500_000_000),
      ("2026-11-23T11:03:58.787457833Z", 1_795_431_838_787_457_833),
      ("2024-02-29T23:59:59.000000001Z", 1_709_251_199_000_000_001),
    ] as [(String, Int64)])
  func times(_ text: String, _ expected: Int64) { #expect(NATSTime.nanoseconds(text) == expected) }

  @Test(
    "Other forms of a time are rejected",
    arguments: [
      "", "2026-11-23", "2026-13-23T11:03:58Z", "2026-11-23T11:03:58+01:00", "2026-11-23T11:03:58.1234567890Z",
      "9999-12-31T23:59:59Z", "2262-04-11T23:47:16.854775808Z",
    ])
  func otherTimes(_ text: String) { #expect(NATSTime.nanoseconds(text) == nil) }

  @Test("A time limit that was sufficient for a slow server is kept for some time")
  func attempts() {
    let attempts = JetStreamConsumerAttempts()
    let start = ContinuousClock.now
    let first = attempts.timeLimit(Limits.creationTimeout)
    for second in 0..<3 { attempts.add(at: start + .seconds(second)) }
    let third = attempts.timeLimit(Limits.creationTimeout)
    #expect(first == Limits.creationTimeout && third == first + Limits.attemptStep * 3)
    attempts.reset(at: start + .seconds(10))
    #expect(attempts.timeLimit(Limits.creationTimeout) == third)
    for second in 10..<100 { attempts.add(at: start + .seconds(second)) }
    #expect(attempts.timeLimit(Limits.creationTimeout) == Limits.requestTimeout)
    attempts.reset(at: start + .seconds(200))
    #expect(attempts.timeLimit(Limits.creationTimeout) == first)
  }

  @Test("Versions are compared by their numbers")
  func versions() {
    let texts = ["2.9.10", "2.10.25", "2.10.27", "2.11.0", "2.12.5", "2.15.1", "3.0.0"]
    let versions = texts.compactMap { NATSServerVersion($0) }
    #expect(versions.map { "\($0)" } == texts && versions.sorted() == versions)
    #expect(NATSServerVersion("2.12.0-preview.1") == NATSServerVersion(2, 12, 0))
    for text in ["", "-", "2", "2.10", "2.10.x", "2.10.", ".2.10.1", "2.10.1.1", "v2.10.1"] {
      #expect(NATSServerVersion(text) == nil)
    }
  }

  @Test("Credentials are recognized by their content")
  func credentials() {
    let key = "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4"
    let seed = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY"
    #expect(NATSCredentials(content: "\(seed)\n\(key)\n", path: "f") == .key(publicKey: key, file: "f"))
    #expect(NATSCredentials(content: "-----BEGIN NATS USER JWT-----\nx", path: "f") == .token(file: "f"))
    for text in ["", seed, key, "\(seed)\n\(key)\n\(key)", seed.lowercased() + "\n" + key] {
      #expect(NATSCredentials(content: text, path: "f") == nil)
    }
  }
}
