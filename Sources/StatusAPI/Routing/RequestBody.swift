internal import JSONTree
internal import EmbeddedHTTPServer

/// One part of a body and what is wrong with it (RFC 9457 §3).
struct FieldError: Equatable, Sendable {
  /// Where (RFC 6901): `/3/timeout`.
  var pointer: String
  var detail: String

  /// As problem documents and the results of batches list it.
  var document: JSON { .members(["pointer": .string(pointer), "detail": .string(detail)]) }

  /// A pointer's next part, escaped.
  static func pointerSegment(_ name: String) -> String {
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

/// What a request's body says.
enum RequestBody {
  /// The body as JSON.
  ///
  /// - Throws: `unsupportedMedia` for another type or none, `badRequest` with the place for what is no JSON.
  static func json(_ request: HTTPRequest) throws(Problem) -> JSONNode {
    let type = request.headers["Content-Type"] ?? ""
    guard isJSON(type) else {
      let found = type.isEmpty ? "of no type" : type.prefix(80).debugDescription
      throw Problem(
        .unsupportedMedia, "The body is \(found); send Content-Type: application/json.",
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
