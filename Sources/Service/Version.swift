/// The version of this program: the one place that names it.
///
/// CHANGELOG.md's newest entry says the same.
package enum Version {
  package static let current = "0.1.0"
}
