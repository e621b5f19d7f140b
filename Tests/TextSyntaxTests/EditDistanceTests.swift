import Testing

import TextSyntax

@Suite struct EditDistanceTests {
  @Test(arguments: [
    ("", "", 0), ("a", "", 1), ("", "abc", 3), ("kitten", "sitting", 3), ("listen", "lisen", 1), ("flaw", "lawn", 2),
    ("settle", "settel", 2), ("log.level", "log.levle", 2), ("same", "same", 0), ("abc", "xyz", 3),
  ])
  func distanceCountsEdits(left: String, right: String, distance: Int) {
    #expect(EditDistance.between(left, right) == distance)
    #expect(EditDistance.between(right, left) == distance)
  }

  @Test func suggestionIsTheNearestKnownWord() {
    let known = ["status", "path", "interface"]
    #expect(EditDistance.suggestion(for: "statsu", among: known) == "did you mean status?")
    #expect(EditDistance.suggestion(for: "disk", among: known) == nil)
    #expect(EditDistance.suggestion(for: String(repeating: "a", count: 65), among: known, within: 100) == nil)
  }
}
