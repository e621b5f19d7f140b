/// How many letters must be put in, taken out or changed to make one word into another (Levenshtein).
enum EditDistance {
  static func between(_ left: String, _ right: String) -> Int {
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
