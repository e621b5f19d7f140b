import Glibc
import TestSupport
import Testing

/// Runs the commands that the documents show, in the network that they show, and compares the output: the same words in
/// a line, the same members and values in a document, except for values that differ between runs.
@Suite(.needsNamespaces, .serialized)
struct ReadmeTests {
  /// A command after a `$`, with the output that is shown below it.
  struct Example: CustomTestStringConvertible, Sendable {
    var command: String
    var output: [String]

    var testDescription: String { command }
  }

  @Test("Documented commands print the documented output")
  func commands() throws {
    let examples = try Self.examples()
    #expect(examples.count >= 8)
    let network = try VethPair()
    try network.client.ip("addr del 10.9.0.2/24 dev c0")
    try network.client.ip("-6 addr flush dev c0")
    try network.client.ip("link set c0 down")
    try network.client.ip("link set c0 name eth0")
    try network.client.ip("link set eth0 up")
    try network.client.ip("addr add 192.0.2.2/24 dev eth0")
    try network.client.ip("route add default via 192.0.2.1")
    let daemon = try DaemonUnderTest(in: network.client)
    for example in examples {
      let lines = try run(example.command, daemon)
      #expect(lines.count == example.output.count, "\(example.command) answered \(lines)")
      for (line, shown) in zip(lines, example.output) {
        #expect(Self.comparable(line) == Self.comparable(shown), "\(example.command)")
      }
    }
  }

  private func run(_ command: String, _ daemon: DaemonUnderTest) throws -> [String] {
    let here = command.replacing("127.0.0.1:8080", with: "127.0.0.1:\(daemon.port)")
      .replacing("reachd ", with: "\(DaemonUnderTest.program) ")
    let script = "cd '\(Self.root)' && \(here)"
    let child = try daemon.namespace.spawn(
      "/bin/sh", ["-c", script],
      environment: ["PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "REACHD_URL": "http://127.0.0.1:\(daemon.port)"])
    #expect(try child.wait() == .exited(0), "\(command): \(child.errors)")
    return child.output.split(separator: "\n").map(String.init)
  }

  /// The members of a document whose values differ from run to run.
  private static let fleeting: Set<String> = ["id", "since", "evaluatedAt", "index"]

  /// A document without its fleeting values and without the interfaces that other machines have; any other line as it is.
  private static func comparable(_ line: String) -> JSONValue {
    guard let document = try? JSONValue(line) else { return .string(line) }
    return strip(document)
  }

  private static func strip(_ value: JSONValue) -> JSONValue {
    switch value {
    case .object(let members):
      var kept: [String: JSONValue] = [:]
      for (name, value) in members { kept[name] = fleeting.contains(name) ? .null : strip(value) }
      return .object(kept)
    case .array(let elements):
      // The padding link of the test's network, and addresses that the kernel makes of a random hardware address.
      let shown = elements.filter { element in
        element["name"].map { $0 == .string("lo") || $0 == .string("eth0") } ?? true
          && !(element.text?.hasPrefix("fe80:") ?? false)
      }
      return .array(shown.map(strip))
    case .null, .bool, .number, .string: return value
    }
  }

  private static let root = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()

  /// The documents whose `console` blocks are run.
  private static let documents = ["README.md", "docs/command-line.md"]

  private static func examples() throws -> [Example] {
    var examples: [Example] = []
    var isInside = false
    let text = try documents.map { try read("\(root)/\($0)") }.joined(separator: "\n")
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("```") {
        isInside = line == "```console"
      } else if isInside, line.hasPrefix("$ ") {
        examples.append(Example(command: String(line.dropFirst(2)), output: []))
      } else if isInside, !examples.isEmpty {
        examples[examples.count - 1].output.append(String(line))
      }
    }
    return examples
  }

  private static func read(_ path: String) throws -> String {
    try Child("/bin/cat", [path]).finished().output
  }
}

extension Child {
  /// The child after its end.
  fileprivate func finished() throws(TestError) -> Child {
    try wait()
    return self
  }
}
