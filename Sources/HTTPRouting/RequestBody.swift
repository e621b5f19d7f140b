package import JSONFormat
/// An invalid part of a body and the reason (RFC 9457 §3).
package struct FieldError: Equatable, Sendable {
  /// The JSON pointer to the part (RFC 6901): `/3/timeout`.
  package var pointer: String
  package var detail: String

  package init(pointer: String, detail: String) {
    self.pointer = pointer
    self.detail = detail
  }

  /// The JSON object for problem documents and batch results.
  package var document: JSON { .members(["pointer": .string(pointer), "detail": .string(detail)]) }

  /// Returns a pointer's next segment, escaped.
  package static func pointerSegment(_ name: String) -> String {
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

package enum RequestBody {
  /// Returns the body as JSON.
  ///
  /// - Throws: `unsupportedMedia` for another type or none, `badRequest` with the position for invalid JSON.
  package static func json(_ request: HTTPRequest) throws(Problem) -> JSON {
    let type = request.headers["Content-Type"] ?? ""
    guard isJSON(type) else {
      let found = type.isEmpty ? "no Content-Type" : "Content-Type: \(type.prefix(80).debugDescription)"
      throw Problem(
        .unsupportedMedia, "the body must have Content-Type: application/json, got \(found)",
        headers: ["Accept-Post": "application/json"])
    }
    do throws(JSONError) {
      return try JSON.parse(request.body)
    } catch {
      throw Problem(
        .badRequest, "the body is not valid JSON: line \(error.line), column \(error.column): \(error.message)")
    }
  }

  private static func isJSON(_ type: String) -> Bool {
    let name = type.prefix { $0 != ";" }.lowercased().filter { $0 != " " && $0 != "\t" }
    return name == "application/json" || name.hasPrefix("application/") && name.hasSuffix("+json")
  }
}
