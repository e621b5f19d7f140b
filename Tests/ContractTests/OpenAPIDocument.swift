import Foundation
import Testing
import YAMLTree

/// `openapi.yaml`, as the repository has it.
struct OpenAPIDocument {
  let bytes: [UInt8]
  let root: YAMLNode
  let value: Value

  /// The top of the repository.
  static let top = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  init() throws {
    bytes = Array(try Data(contentsOf: Self.top.appending(path: "openapi.yaml")))
    root = try #require(try YAMLNode.parse(bytes))
    value = Value(root)
  }

  /// What a reference such as `#/components/schemas/Status` points to; null when it points nowhere.
  func resolve(_ reference: String) -> Value {
    reference.split(separator: "/").dropFirst().reduce(value) { $0[String($1)] ?? .null }
  }

  /// A value, or what it refers to.
  func resolved(_ value: Value) -> Value { value["$ref"]?.text.map(resolve) ?? value }

  /// A schema of `components`.
  func schema(_ name: String) -> Schema { Schema(contract: self, value: resolve("#/components/schemas/\(name)")) }

  /// The enumeration of a schema, null left out.
  func words(_ name: String) -> [String] {
    let schema = resolve("#/components/schemas/\(name)")
    return (schema["enum"] ?? schema["items"]?["enum"])?.texts ?? []
  }

  /// One path and method.
  struct Operation {
    var path: String
    var method: String
    var value: Value
    var parameters: [Value]
    /// The answers by their status code.
    var responses: [String: Value]
    /// The media types of the 200, in the order of the text.
    var mediaTypes: [String]
  }

  /// Every operation, in the order of the text.
  var operations: [Operation] {
    (root["paths"]?.entries ?? []).flatMap { path in
      (path.value.entries ?? []).filter { $0.name != "parameters" }.map { method in
        let value = Value(method.value)
        let parameters =
          (Value(path.value)["parameters"]?.elements ?? []) + (value["parameters"]?.elements ?? [])
        let success = method.value["responses"]?["200"] ?? method.value["responses"]?["201"]
        let target = success?["$ref"]?.scalar?.split(separator: "/").last.map(String.init)
        let content = (target.flatMap { root["components"]?["responses"]?[$0] } ?? success)?["content"]
        return Operation(
          path: path.name, method: method.name.uppercased(), value: value, parameters: parameters.map(resolved),
          responses: (value["responses"]?.members ?? [:]).mapValues(resolved),
          mediaTypes: content?.entries?.map(\.name) ?? [])
      }
    }
  }

  /// Everything that has a schema and examples of it: the contents of all answers, and all parameters.
  var withExamples: [(location: String, value: Value)] {
    operations.flatMap { operation in
      let contents = operation.responses.flatMap { status, response in
        (response["content"]?.members ?? [:]).map { ("\(operation.path) \(status) \($0.key)", $0.value) }
      }
      return contents + operation.parameters.map { ("\(operation.path) \($0["name"]?.text ?? "")", $0) }
    }
  }

  /// The examples of a content or a parameter.
  func examples(of value: Value) -> [Value] {
    let named = (value["examples"]?.members ?? [:]).values.compactMap { resolved($0)["value"] }
    return [value["example"]].compactMap(\.self) + named
  }
}
