internal import JSONTree
internal import MicroHTTP

/// What a request's body says.
enum RequestBody {
  /// The body as JSON.
  ///
  /// - Throws: `unsupportedMedia` for another type, `badRequest` with the place for what is no JSON.
  static func json(_ request: HTTPRequest) throws(Problem) -> JSONNode {
    let type = request.headers["Content-Type"] ?? ""
    let essence = type.split(separator: ";").first.map(String.init) ?? ""
    guard essence.lowercased().split(separator: " ").joined() == "application/json" else {
      throw Problem(
        .unsupportedMedia, "The body is \(type.isEmpty ? "of no type" : type); send Content-Type: application/json.")
    }
    do throws(JSONError) {
      return try JSONNode.parse(request.body)
    } catch {
      throw Problem(.badRequest, "The body is no JSON: line \(error.line), column \(error.column): \(error.message).")
    }
  }
}
