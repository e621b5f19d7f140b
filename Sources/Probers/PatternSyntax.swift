/// Regular expressions as users write them (PCRE2, pcre2pattern(3)).
public enum PatternSyntax {
  /// Why a text is no expression that a check could use; nil for one that is.
  ///
  /// Checks compile what they are given; whoever reads a configuration asks here first.
  public static func diagnostic(_ text: String) -> String? {
    do throws(PatternError) {
      _ = try Pattern(text)
      return nil
    } catch {
      return error.message
    }
  }
}
