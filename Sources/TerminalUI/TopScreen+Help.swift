internal import ReachabilityModel

extension TopScreen {
  func help() -> [StyledLine] {
    let keys = [
      "j k              select the next or previous target", "Enter            details of the target",
      "/                filter by words of id, URL, reason and labels; Esc ends it", "Esc              back",
      "arrows           move in the list or the details", "PgUp PgDn, g G   page, first, last",
      "q                quit", "Ctrl-L           draw again", "",
      "\(glyphs.state(.down)) down: does not answer   \(glyphs.state(.unreachable)) unreachable: no path from here",
      "\(glyphs.state(.unknown)) unknown   \(glyphs.state(.up)) up   \(glyphs.state(.paused)) paused",
      "\(glyphs.pending) unconfirmed   \(glyphs.flapping) flapping",
    ]
    return keys.flatMap(wrapped)
  }
}
