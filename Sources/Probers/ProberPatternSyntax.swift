/// Regular expressions as users write them (PCRE2, pcre2pattern(3)).
public enum ProberPatternSyntax {
  /// The reason why checks could not use a text as an expression; nil for a usable one.
  ///
  /// Checks compile the expressions that they receive; configuration code calls this function first.
  public static func diagnostic(_ text: String) -> String? {
    do throws(ProberPatternError) {
      _ = try ProberPattern(text)
      return nil
    } catch {
      return error.message
    }
  }
}
