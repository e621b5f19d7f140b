/// The transport of one DNS query and the expectations for its answer.
public struct DNSOptions: Hashable, Sendable {
  /// The response codes that have names (RFC 1035 §4.1.1, RFC 2136 §2.2), indexed by their numbers.
  public static let responseCodes = [
    "NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED", "YXDOMAIN", "YXRRSET", "NXRRSET", "NOTAUTH",
    "NOTZONE",
  ]

  /// Whether the query uses TCP instead of UDP.
  public var usesTCP = false
  /// Whether recursion is desired (RFC 1035 §4.1.1, RD).
  public var recursion = true
  /// The response codes that count as success, in upper case: `NOERROR`, `NXDOMAIN`.
  public var expectCodes: [String] = ["NOERROR"]
  /// A regular expression that the data of at least one answer must match; nil accepts any answer and none.
  public var expectAnswer: String?

  /// The question for targets that name only the server, as blackbox_exporter's do (`/probe`); nil for none.
  public var question: DNSQuestion?

  /// Creates options for a question over UDP that expects NOERROR.
  public init() {}
}

extension CheckModule.Options {
  /// One DNS query.
  public static func dns(_ options: DNSOptions) -> Self { Self(options) }
}

extension DNSOptions: CheckOptions {
  package static let prober = "dns"
  package static let schemes = [CheckTarget.Scheme.dns]
  package static let keys = [
    "tcp", "recursion", "expectCodes", "expectAnswer", "queryName", "queryType", "hosts", "addresses",
  ]

  package mutating func read(_ fields: inout some CheckOptionFields) {
    let codes = FieldFormat("one of \(Self.responseCodes.joined(separator: ", "))") { text in
      Self.responseCodes.first { $0 == text.uppercased() }
    }
    usesTCP = fields.value("tcp", .boolean) ?? usesTCP
    recursion = fields.value("recursion", .boolean) ?? recursion
    expectCodes = fields.list("expectCodes", "[NOERROR, NXDOMAIN]", of: codes) ?? expectCodes
    expectAnswer = fields.pattern("expectAnswer")
    let names = FieldFormat("a name such as www.example.org") { $0.isEmpty ? nil : try? DNSQuestion.name($0[...]) }
    let known = DNSQuestion.RecordType.allCases.map(\.name).joined(separator: ", ")
    let types = FieldFormat("one of \(known)") { DNSQuestion.RecordType($0) }
    let (name, type) = (fields.value("queryName", names), fields.value("queryType", types))
    fields.require("queryName", for: "queryType")
    question = name.map { DNSQuestion(name: $0, type: type ?? .a) }
  }

  package var sendsConfiguredData: Bool { question != nil }

  package func series(_ result: CheckResult) -> [ProbeSeries] {
    let dns = result.evidence.dns
    let counts = dns?.counts ?? []
    func count(_ section: Int) -> Double { counts.indices.contains(section) ? Double(counts[section]) : 0 }
    return [
      ProbeSeries(
        "probe_dns_duration_seconds", "Duration of DNS request by phase",
        phases: [
          "resolve": result.duration(of: .resolve), "connect": result.duration(of: .connect),
          "request": result.duration(of: .processing),
        ]),
      ProbeSeries(
        "probe_dns_query_succeeded", "Displays whether or not the query was executed successfully", dns == nil ? 0 : 1),
      ProbeSeries(
        "probe_dns_answer_rrs", "Returns number of entries in the answer resource record list", count(0)),
      ProbeSeries(
        "probe_dns_authority_rrs", "Returns number of entries in the authority resource record list", count(1)),
      ProbeSeries(
        "probe_dns_additional_rrs", "Returns number of entries in the additional resource record list", count(2)),
    ]
  }
}

extension CheckResult {
  /// A DNS response.
  public struct DNS: Hashable, Sendable {
    /// The response code in upper case: `NOERROR`, `NXDOMAIN`.
    public var code: String
    /// The number of records per section: answer, authority, additional.
    public var counts: [Int]
    /// The data of the answers in zone file format.
    public var answers: [String]

    /// Creates a DNS response.
    public init(code: String, counts: [Int] = [0, 0, 0], answers: [String] = []) {
      self.code = code
      self.counts = counts
      self.answers = answers
    }
  }
}

extension CheckResult.DNS: CheckEvidence {
  package static let name = "dns"
  package var members: KeyValuePairs<String, EvidenceValue> { ["code": .text(code), "answers": .texts(answers)] }
  package var summary: String { "\(code) with \(answers.count) answers" }
}
