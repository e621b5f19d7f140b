import EmbeddedHTTPServer
import NetworkReachabilityTesting
import Testing

@testable import StatusAPI

/// Requests that the contract allows are accepted, and others are not.
@Suite struct RequestTests {
  let contract: OpenAPIDocument
  let machine: ScriptedMachine

  init() throws {
    contract = try OpenAPIDocument()
    machine = try ScriptedMachine()
  }

  private func operation(_ method: String, _ path: String) throws -> OpenAPIDocument.Operation {
    try #require(contract.operations.first { $0.method == method && $0.path == path })
  }

  /// Whether the schema of a query parameter permits a value.
  private func permits(_ path: String, _ name: String, _ value: String) throws -> Bool {
    let parameter = try #require(try operation("GET", path).parameters.first { $0["name"]?.text == name })
    let schema = Schema(contract: contract, value: try #require(parameter["schema"]))
    return schema.violations(.string(value)).isEmpty
  }

  @Test(arguments: [
    ("0s", 200), ("1h", 200), ("60m", 200), ("3600s", 200), ("3600000ms", 200), ("999999999us", 200), ("2h", 400),
    ("80h", 400), ("61m", 400), ("3601s", 400), ("3600001ms", 400), ("9999999999us", 400), ("1", 400), ("-1s", 400),
    ("1d", 400), ("", 400),
  ])
  func maximumAge(text: String, status: Int) throws {
    #expect(try machine.ask("/check?target=tcp://10.0.0.9:1&maxAge=\(text)").status == status)
    #expect(try permits("/check", "maxAge", text) == (status == 200))
  }

  @Test(
    arguments: [
      ("1us", 200), ("60000000us", 200), ("60000ms", 200), ("60s", 200), ("1m", 200), ("0s", 400), ("000ms", 400),
      ("60000001us", 400), ("60001ms", 400), ("61s", 400), ("2m", 400), ("1h", 400), ("s", 400),
    ], ["/check?target=tcp://10.0.0.9:1", "/explain?target=tcp://10.0.0.9:1", "/hosts/10.0.0.9?"])
  func timeout(value: (text: String, status: Int), target: String) throws {
    #expect(try machine.ask("\(target)&timeout=\(value.text)").status == value.status)
    let path = target.hasPrefix("/hosts") ? "/hosts/{host}" : String(target.prefix { $0 != "?" })
    #expect(try permits(path, "timeout", value.text) == (value.status == 200))
  }

  @Test(
    arguments: [
      ("tcp://10.0.0.9:1", 200), ("route://default", 200), ("https://10.0.0.9/", 200), ("10.0.0.9", 400),
      ("10.0.0.9:80", 400), ("localhost", 400), ("//10.0.0.9:1", 400), ("tcp:10.0.0.9:1", 400), ("", 400),
      ("ftp://10.0.0.9/", 400),
    ], ["/check", "/explain"])
  func scheme(value: (target: String, status: Int), path: String) throws {
    let response = try machine.ask("\(path)?target=\(value.target)")
    #expect(response.status == value.status)
    #expect(try permits(path, "target", value.target) == (value.status == 200))
    guard value.status == 400, !value.target.isEmpty else { return }
    for scheme in ["route", "tcp", "icmp", "http", "https", "tls", "dns"] {
      #expect(response.text.contains("\(scheme)://"), "\(response.text)")
    }
  }

  @Test(arguments: [
    (#"{"id": "a", "target": "tcp://10.0.0.9:1"}"#, 201),
    (#"{"id": "a", "target": "tcp://10.0.0.9:1", "labels": {"a/b": "x"}, "intervalSeconds": 5, "state": null}"#, 201),
    (#"{"id": "a", "target": "10.0.0.9"}"#, 422), (#"{"id": "a", "target": "tcp://10.0.0.9:1", "x": 1}"#, 422),
    (#"{"id": "a", "target": "tcp://10.0.0.9:1", "\u0000": 1}"#, 400),
    (#"{"id": "a", "target": "tcp://10.0.0.9:1", "labels": {"\u0000": "x"}}"#, 400),
    (#"{"id": "a", "target": "tcp://10.0.0.9:1", "labels": {"a b": "x"}}"#, 422),
    (#"{"id": "a", "target": "tcp://10.0.0.9:1", "labels": {"a": "\u0001"}}"#, 422),
    (#"{"targets": {}}"#, 422), (#"{"targets": null}"#, 422), (#"{"targets": []}"#, 200),
    (#"{"targets": [], "next": null}"#, 200), (#"{"targets": [], "x": 1}"#, 422),
    (#"{"targets": [], "\u0000": 1}"#, 400),
    ("[[null, null]]", 200), ("[]", 200), ("{}", 422), ("null", 422), ("7", 422),
  ])
  func registration(body: String, status: Int) throws {
    let content = try operation("POST", "/targets").value["requestBody"]?["content"]?["application/json"]?["schema"]
    let violations = Schema(contract: contract, value: try #require(content)).violations(try Value(json: body))
    #expect(violations.isEmpty == (status < 300), "\(violations)")
    #expect(try machine.ask("/targets", method: "POST", body: body).status == status)
  }

  @Test(arguments: [
    (#"["tcp://10.0.0.9:1"]"#, 200), (#"[{"target": "tcp://10.0.0.9:1", "maxAge": "1h", "timeout": "1m"}]"#, 200),
    (#"[{"target": "tcp://10.0.0.9:1", "maxAge": "80h"}]"#, 422), (#"["10.0.0.9"]"#, 422), ("[[null, null]]", 422),
    (#"[{"target": "tcp://10.0.0.9:1", "timeout": "0s"}]"#, 422), (#"[{"target": "10.0.0.9:1"}]"#, 422),
    (#"[{"target": "tcp://10.0.0.9:1", "\u0000": "x"}]"#, 400), ("[]", 400), ("{}", 400),
  ])
  func batch(body: String, status: Int) throws {
    #expect(contract.schema("CheckList").violations(try Value(json: body)).isEmpty == (status == 200))
    #expect(try machine.ask("/checks", method: "POST", body: body).status == status)
  }
}
