import Credentials
import TestSupport
import Testing
import Webhooks
import YAMLTree

@testable import Service

@Suite("Webhook settings")
struct WebhookConfigurationTests {
  static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

  private func load(_ yaml: String) throws -> (webhooks: [WebhookDefinition], errors: [String]) {
    let file = ConfigurationFile(
      try YAMLNode.parse(Array(yaml.utf8)), name: "f", environment: ["URL": "https://e.org/"])
    let loaded = file.webhooks.load(blocking: false)
    return (loaded.webhooks, (file.errors + loaded.errors).map(\.description))
  }

  /// A file of secrets.
  private func secrets(_ text: String) throws -> TemporaryFile { try TemporaryFile(text) }

  @Test("A webhook has every member")
  func full() throws {
    let file = try secrets("# old and new\n\(Self.secret)\n\nwhsec_\(String(repeating: "B", count: 32))\n")
    let loaded = try load(
      """
      webhooks:
        - { id: ops, url: "https://ops.example/a?b=c", secretFile: "\(file.path)", types: [status, target],
            states: [down, notReachable], targets: [db], labels: { env: prod }, timeout: 5s, maxAge: 1h,
            deniedRetry: 0s }
        - { id: dev, url: "http://10.0.0.9:8080/", secretFile: "\(file.path)", insecure: true }
        - { id: env, url: "${URL}", secretFile: "\(file.path)" }
      """)
    #expect(loaded.errors == [])
    let ops = try #require(loaded.webhooks.first)
    #expect(ops.id == "ops")
    #expect("\(ops.url)" == "https://ops.example/a?b=c")
    #expect(ops.secrets.count == 2)
    #expect(
      ops.filter
        == WebhookFilter(
          types: ["status", "target"], states: ["down", "notReachable"], targets: ["db"], labels: ["env": "prod"]))
    #expect(ops.timeout == .seconds(5))
    #expect(ops.maximumAge == .seconds(3_600))
    #expect(ops.deniedRetry == .zero)
    let dev = loaded.webhooks[1]
    #expect(dev.deniedRetry == .seconds(3_600))
    #expect(dev.timeout == .seconds(15))
    #expect(dev.maximumAge == .seconds(259_200))
    #expect(dev.filter == WebhookFilter())
    #expect(loaded.webhooks[2].origin == "https://e.org")
  }

  @Test(
    "What is wrong is reported with its place and a hint",
    arguments: [
      ("{ url: \"https://e.org/\", secretFile: /s }", "f:2:5: webhooks[0]: id is missing"),
      ("{ id: a, secretFile: /s }", "webhooks[0]: url is missing"),
      ("{ id: a, url: \"https://e.org/\" }", "webhooks[0]: secretFile is missing"),
      ("{ id: A, url: \"https://e.org/\", secretFile: /s }", "webhooks[0].id: \"A\" is invalid"),
      ("{ id: a, url: \"http://e.org/\", secretFile: /s }", "webhooks[0].url: http sends the events in plain text"),
      ("{ id: a, url: \"tcp://e.org:1\", secretFile: /s }", "webhooks[0].url: the value is not a URL of a receiver"),
      ("{ id: a, url: \"https://u:p4ss@e.org/\", secretFile: /s }", "expected https://host/path without user name"),
      ("{ id: a, url: \"https://default/\", secretFile: /s }", "webhooks[0].url:"),
      ("{ id: a, url: \"https://e.org/\", secretFile: s }", "webhooks[0].secretFile: \"s\" is invalid"),
      ("{ id: a, url: \"https://e.org/\", secretFile: /s, types: [gap] }", "webhooks[0].types: \"gap\" is invalid"),
      ("{ id: a, url: \"https://e.org/\", secretFile: /s, states: [ok] }", "webhooks[0].states: \"ok\" is invalid"),
      ("{ id: a, url: \"https://e.org/\", secretFile: /s, timeout: 2m }", "webhooks[0].timeout: \"2m\" is invalid"),
      ("{ id: a, url: \"https://e.org/\", secretFile: /s, maxAge: 1s }", "webhooks[0].maxAge: \"1s\" is invalid"),
      (
        "{ id: a, url: \"https://e.org/\", secretFile: /s, deniedRetry: 721h }",
        "webhooks[0].deniedRetry: \"721h\" is invalid"
      ),
      ("{ id: a, url: \"https://e.org/\", secretFile: /s, retries: 1 }", "webhooks[0].retries: unknown key"),
      ("ops", "webhooks[0]: a mapping is expected here"),
    ])
  func errors(webhook: String, message: String) throws {
    let errors = try load("webhooks:\n  - \(webhook)\n").errors
    #expect(errors.contains { $0.contains(message) }, "\(errors)")
    #expect(!errors.joined().contains("p4ss"))
  }

  @Test("An id is given once")
  func twice() throws {
    let file = try secrets(Self.secret)
    let one = "{ id: a, url: \"https://e.org/\", secretFile: \"\(file.path)\" }"
    let errors = try load("webhooks:\n  - \(one)\n  - \(one)\n").errors
    #expect(errors == ["f:3:11: webhooks[1].id: a is given twice; the first is on line 2"])
  }

  @Test("At most 32 webhooks are possible")
  func many() throws {
    let lines = (0..<33).map { "  - { id: a\($0), url: \"https://e.org/\", secretFile: /s }\n" }
    #expect(try load("webhooks:\n" + lines.joined()).errors.contains { $0.contains("there are 33 webhooks") })
  }

  @Test(
    "A file without a valid secret is an error that does not show it",
    arguments: [
      "", "# none\n", "s3cret\n", "whsec_c2hvcnQ=\n", "\(secret)\n\(secret)\n\(secret)\n",
      "whsec_ \(secret.dropFirst(6))",
    ])
  func secretFiles(text: String) throws {
    let file = try secrets(text)
    let loaded = try load("webhooks: [{ id: a, url: \"https://e.org/\", secretFile: \"\(file.path)\" }]\n")
    #expect(loaded.webhooks == [])
    let error = try #require(loaded.errors.first)
    #expect(error.contains("webhooks[0].secretFile"))
    #expect(error.contains("expected a line of whsec_"))
    #expect(!error.contains("s3cret") && !error.contains("MfKQ"))
  }

  @Test("A missing file is an error")
  func missingFile() throws {
    let loaded = try load("webhooks: [{ id: a, url: \"https://e.org/\", secretFile: /nonexistent/s }]\n")
    #expect(loaded.errors.first?.contains("/nonexistent/s: No such file or directory") == true)
  }
}
