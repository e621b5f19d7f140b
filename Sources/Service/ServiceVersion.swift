internal import HostProcess

/// The version of this program, defined only here.
///
/// It equals the last release in CHANGELOG.md.
package enum ServiceVersion {
  package static let current = "0.1.1"

  /// The commit that this program was built from, or `unknown`.
  package static var commit: String { BuildInfo.commit }
}
