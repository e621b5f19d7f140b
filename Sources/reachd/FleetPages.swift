internal import ArgumentParser
internal import JSONFormat
internal import Probers
internal import TextSyntax

extension ClientOptions {
  /// The targets of a page, the largest number that a replica allows, and the pages of the largest fleet.
  private static let fleetTargetsPerPage = 1000
  private static let fleetPageLimit = 100

  /// Requests all pages of `GET /fleet/targets`.
  ///
  /// - Parameters:
  ///   - verdict: the verdict of the targets; nil for all.
  ///   - source: the source of the configuration.
  ///   - body: receives each page and its text.
  /// - Returns: whether the service is a replica of a fleet.
  /// - Throws: the exit code 2, after printing the problem, if a page cannot be read; the error of `body`.
  @discardableResult
  func forEachFleetPage(
    verdict: String? = nil, _ source: SourceOptions, _ body: (JSON, String) throws -> Void
  ) throws -> Bool {
    // Other services have no such route.
    try forEachPage(atMost: Self.fleetPageLimit, isOptional: true, source, body) {
      Self.fleetPage(after: $0, verdict: verdict)
    }
  }

  /// The path of a page.
  static func fleetPage(after cursor: String?, verdict: String? = nil) -> String {
    let query = [("limit", String(fleetTargetsPerPage)), ("verdict", verdict), ("cursor", cursor)]
      .compactMap { name, value in value.map { "\(name)=\(PercentEncoding.encoded($0))" } }
    return "/fleet/targets?" + query.joined(separator: "&")
  }
}
