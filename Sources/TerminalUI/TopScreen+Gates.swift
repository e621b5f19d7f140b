internal import ReachabilityModel

// The gates of a service, above the list of targets.
extension TopScreen {
  /// Whether there is a line of gates.
  func hasGates(_ model: TopModel) -> Bool { isTall && !model.service.gates.isEmpty }

  /// The gates in one line, which is cut off at its end: those that are closed are first.
  func gates(_ model: TopModel) -> StyledLine {
    var line = line
    line.append("gates:")
    for gate in model.service.gates where line.rest > 0 {
      line.append("  ")
      let text = ["\(glyphs.state(gate.isOpen ? .up : .down)) \(gate.id)", gate.reason].compactMap(\.self)
      line.append(text.joined(separator: " "), style(.state(gate.isOpen ? .up : .down), model))
    }
    return line
  }
}
