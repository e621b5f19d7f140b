/// Stored frames that a stream sends after its preamble and before the entries of its feeds.
///
/// A stream reads the next piece when the client has taken the one before, so that a slow client holds one piece in
/// memory.
public protocol StreamHistory: AnyObject, Sendable {
  /// Reads the next piece.
  ///
  /// - Parameter completion: called once, on any thread.
  func readNext(_ completion: @escaping @Sendable (StreamPiece) -> Void)
}

/// A part of a stream's history.
public enum StreamPiece: Sendable {
  /// Frames, after which more follow.
  case more([UInt8])
  /// The last frames, and the position in the log of the first feed after them.
  case last([UInt8], EventLog.Cursor)
  /// The history cannot be read now: the stream is closed, and its client resumes later.
  case unavailable
}
