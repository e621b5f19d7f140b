/// The variables in a value of the file: `${NAME}` stands for one of the environment, `$$` for a dollar sign.
enum Expansion {
  /// Why a text cannot be expanded.
  struct Problem: Error {
    var text: String
  }

  /// The text with the environment's values.
  static func of(_ text: String, in environment: [String: String]) -> Result<String, Problem> {
    var out = ""
    var rest = text[...]
    while let dollar = rest.firstIndex(of: "$") {
      out += rest[..<dollar]
      rest = rest[dollar...].dropFirst()
      if rest.first == "$" {
        out += "$"
        rest = rest.dropFirst()
      } else if rest.first == "{" {
        guard let end = rest.firstIndex(of: "}") else { return .failure(Problem(text: "${ without }")) }
        let name = String(rest[rest.index(after: rest.startIndex)..<end])
        guard let value = environment[name] else {
          return .failure(Problem(text: "the environment has no variable \(name.debugDescription)"))
        }
        out += value
        rest = rest[rest.index(after: end)...]
      } else {
        out += "$"
      }
    }
    return .success(out + rest)
  }
}
