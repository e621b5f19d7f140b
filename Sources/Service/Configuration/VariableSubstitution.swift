/// Substitutes the variables in a value of the file: `${NAME}` is a variable of the environment, `$$` a dollar sign.
enum VariableSubstitution {
  /// The reason why a text cannot be expanded.
  struct Failure: Error {
    var text: String
  }

  static func expand(_ text: String, in environment: [String: String]) -> Result<String, Failure> {
    var out = ""
    var rest = text[...]
    while let dollar = rest.firstIndex(of: "$") {
      out += rest[..<dollar]
      rest = rest[dollar...].dropFirst()
      if rest.first == "$" {
        out += "$"
        rest = rest.dropFirst()
      } else if rest.first == "{" {
        guard let end = rest.firstIndex(of: "}") else { return .failure(Failure(text: "${ without }")) }
        let name = String(rest[rest.index(after: rest.startIndex)..<end])
        guard let value = environment[name] else {
          return .failure(Failure(text: "the environment has no variable \(name.debugDescription)"))
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
