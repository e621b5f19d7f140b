internal import TextSyntax

extension ConfigurationFile {
  /// Suggests the known key nearest to an unknown one, or lists the keys of the same section.
  static func suggestion(for key: String) -> String {
    let known = Set(Setting.all.map(\.path) + ListSetting.all.map(\.path) + sections)
    let first = Set(known.map { String($0.prefix { $0 != "." }) })
    let section = key.split(separator: ".").dropLast().joined(separator: ".")
    let near = section.isEmpty ? first : known.filter { $0.hasPrefix(section + ".") }
    return EditDistance.suggestion(for: key, among: known.union(first).sorted())
      ?? "there are \(near.sorted().joined(separator: ", "))"
  }
}
