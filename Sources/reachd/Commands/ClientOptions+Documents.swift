internal import ArgumentParser
internal import JSONFormat
internal import Probers

extension ClientOptions {
  /// Requests a JSON document that has an array under a name.
  ///
  /// - Parameters:
  ///   - path: the path with its query.
  ///   - member: the name of the array.
  ///   - source: the source of the configuration.
  /// - Returns: the document.
  /// - Throws: the exit code 2, after a report; or the problem in the configuration.
  func document(_ path: String, member: String, _ source: SourceOptions) throws -> JSON {
    let answer = try sendOrExit("GET", path, source)
    let document = try? JSON.parse(answer.body)
    guard answer.status == 200, let document, document[member]?.elements != nil else {
      throw Self.unexpected(answer)
    }
    return document
  }
}
