/// The number of bytes to insert, delete or replace to change one word into another (Levenshtein distance).
package enum EditDistance {
  /// The longest word to compare, in bytes; a longer one is not a misspelling of any known word.
  private static let wordLengthLimit = 64

  /// Returns `did you mean …?` with the nearest known word, if it is within the distance.
  ///
  /// - Parameters:
  ///   - word: the unknown word.
  ///   - known: the known words.
  ///   - maximumDistance: the largest distance of a misspelling, in bytes.
  /// - Returns: the question; nil when no known word is near.
  package static func suggestion(
    for word: String, among known: [String], within maximumDistance: Int = 2
  ) -> String? {
    guard word.utf8.count <= wordLengthLimit else { return nil }
    let nearest = known.map { (word: $0, distance: between($0, word)) }.min { $0.distance < $1.distance }
    guard let nearest, nearest.distance <= maximumDistance else { return nil }
    return "did you mean \(nearest.word)?"
  }

  /// Returns the distance of two words in bytes.
  package static func between(_ left: String, _ right: String) -> Int {
    var row = Array(0...right.utf8.count)
    for (i, a) in left.utf8.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for (j, b) in right.utf8.enumerated() {
        let cost = a == b ? diagonal : 1 + min(diagonal, row[j], row[j + 1])
        diagonal = row[j + 1]
        row[j + 1] = cost
      }
    }
    return row[right.utf8.count]
  }
}
