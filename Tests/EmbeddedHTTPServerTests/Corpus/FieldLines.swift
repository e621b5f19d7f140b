extension WireCase {
  /// RFC 9112, section 5, and RFC 9110, section 5: names, values, folding, `Host`.
  static let fieldLines: [WireCase] = [
    fields("an empty value", "9110 §5.5", "X:\r\n", .served),
    fields("no white space", "9112 §5.1", "X:y\r\n", .served),
    fields("white space around a value", "9112 §5.1", "X: \t y \t\r\n", .served),
    fields("a tab in a value", "9110 §5.5", "X: a\tb\r\n", .served),
    WireCase(
      "bytes above 127 in a value", "9110 §5.5",
      bytes: Array("GET / HTTP/1.1\r\nHost: a\r\nX: ".utf8) + [0xE9, 0xFF] + Array("\r\n\r\n".utf8), .served),
    fields("an upgrade to what is not spoken here", "9110 §7.8", "Upgrade: h2c\r\nConnection: Upgrade\r\n", .served),
    fields("an unknown expectation", "9110 §10.1.1", "Expect: tea\r\n", .served),
    fields("asked to close", "9112 §9.6", "Connection: close\r\n", .servedLast),
    fields("close among others", "9112 §9.6", "Connection: x, close\r\n", .servedLast),

    WireCase("no host", "9112 §3.2", "GET / HTTP/1.1\r\n\r\n", .refused(400)),
    fields("two hosts", "9112 §3.2", "Host: a\r\n", .refused(400)),
    fields("two different hosts", "9112 §3.2", "host: b\r\n", .refused(400)),
    WireCase("an empty host", "9112 §3.2", "GET / HTTP/1.1\r\nHost:\r\n\r\n", .refused(400)),
    WireCase("a host with a path", "9112 §3.2", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", .refused(400)),
    WireCase("a host with a user", "9112 §3.2", "GET / HTTP/1.1\r\nHost: u@a\r\n\r\n", .refused(400)),
    WireCase("a list of hosts", "9112 §3.2", "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", .refused(400)),
    WireCase("a host with a space", "9112 §3.2", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", .refused(400)),
    WireCase("a host with a NUL", "9112 §3.2", "GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n", .refused(400)),
    WireCase(
      "two hosts in absolute form", "9112 §3.2.2", "GET http://b/ HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", .refused(400)
    ),

    fields("a space before the colon", "9112 §5.1", "X : y\r\n", .refused(400)),
    fields("a tab before the colon", "9112 §5.1", "X\t: y\r\n", .refused(400)),
    fields("an empty name", "9112 §5.1", ": y\r\n", .refused(400)),
    fields("a space in a name", "9110 §5.1", "X Y: z\r\n", .refused(400)),
    fields("a name that is no token", "9110 §5.1", "X(Y): z\r\n", .refused(400)),
    fields("a name beyond ASCII", "9110 §5.1", "Xé: z\r\n", .refused(400)),
    fields("a control byte in a name", "9110 §5.1", "X\u{1}: z\r\n", .refused(400)),
    fields("a NUL in a value", "9110 §5.5", "X: y\0z\r\n", .refused(400)),
    fields("a control byte in a value", "9110 §5.5", "X: y\u{8}z\r\n", .refused(400)),
    fields("a DEL in a value", "9110 §5.5", "X: y\u{7F}\r\n", .refused(400)),
    fields("a lone CR in a value", "9112 §2.2", "X: a\rY: b\r\n", .refused(400)),
    fields("a lone CR before the line's end", "9112 §2.2", "X: a\r\r\n", .refused(400)),
    fields("a folded value", "9112 §5.2", "X: b\r\n c\r\n", .refused(400)),
    fields("a value folded with a tab", "9112 §5.2", "X: b\r\n\tc\r\n", .refused(400)),
    fields("a value folded twice", "9112 §5.2", "X: b\r\n c\r\n d\r\n", .refused(400)),
    fields("a fold of nothing", "9112 §5.2", "X: b\r\n \r\n", .refused(400)),
    WireCase("a folded first line", "9112 §2.2", "GET / HTTP/1.1\r\n Host: a\r\nHost: a\r\n\r\n", .refused(400)),
    WireCase("white space for a first line", "9112 §2.2", "GET / HTTP/1.1\r\n X: y\r\nHost: a\r\n\r\n", .refused(400)),

    fields("a line without a colon", "9112 §5.1", "nonsense\r\n", .refusedByLibrary(400)),
    WireCase(
      "a first line without a colon", "9112 §5.1", "GET / HTTP/1.1\r\nnonsense\r\nHost: a\r\n\r\n",
      .refusedByLibrary(400)),
    fields("a NUL in a name", "9110 §5.1", "X\0Y: z\r\n", .refusedByLibrary(400)),
    fields("a NUL before the colon", "9112 §5.1", "X\0: y\r\n", .refusedByLibrary(400)),
  ]
}
