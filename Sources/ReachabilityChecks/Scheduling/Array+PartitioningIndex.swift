extension Array {
  /// The index of the first element that fulfils a condition, which all elements after it fulfil, too.
  func partitioningIndex(where isInSecondPart: (Element) -> Bool) -> Int {
    var range = 0..<count
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      range = isInSecondPart(self[middle]) ? range.lowerBound..<middle : middle + 1..<range.upperBound
    }
    return range.lowerBound
  }
}
