internal import JSONTree
internal import MicroHTTP

/// What is wrong with one field of a body, with its place as a JSON pointer (RFC 6901).
struct FieldError: Equatable, Sendable {
  var pointer: String
  var detail: String

  /// As problem documents and the results of batches list it.
  var document: JSON { .members(["pointer": .string(pointer), "detail": .string(detail)]) }

  /// A pointer's next part, escaped.
  static func part(_ name: String) -> String {
    var escaped = "/"
    for character in name {
      switch character {
      case "~": escaped += "~0"
      case "/": escaped += "~1"
      default: escaped.append(character)
      }
    }
    return escaped
  }
}

/// Request bodies: JSON, strictly.
enum RequestBody {
  /// The body as JSON.
  ///
  /// - Throws: `unsupportedMedia` for another type, `badRequest` with line and column for what is no JSON.
  static func json(_ request: HTTPRequest) throws(Problem) -> JSONNode {
    // Without a type it is taken for what alone it can be.
    if let type = request.headers["Content-Type"], !isJSON(type) {
      throw Problem(
        .unsupportedMedia, "The body is \(type.prefix(80).debugDescription); send application/json.",
        headers: ["Accept-Post": "application/json"])
    }
    do throws(JSONError) {
      return try JSONNode.parse(request.body)
    } catch {
      throw Problem(.badRequest, "The body is no JSON: line \(error.line), column \(error.column): \(error.message).")
    }
  }

  private static func isJSON(_ type: String) -> Bool {
    let name = type.prefix { $0 != ";" }.lowercased().filter { $0 != " " && $0 != "\t" }
    return name == "application/json" || name.hasPrefix("application/") && name.hasSuffix("+json")
  }
}
