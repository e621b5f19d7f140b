extension WireCase {
  /// RFC 9112, sections 2.2, 2.3 and 3: the first line.
  static let requestLines: [WireCase] = [
    line("an unknown method", "9110 §9.1", "BREW / HTTP/1.1", .served),
    line("a lower-case method is another method", "9110 §9.1", "get / HTTP/1.1", .served),
    WireCase("an empty line before the request", "9112 §2.2", "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", .served),
    WireCase("bare line feeds", "9112 §2.2", "GET / HTTP/1.1\nHost: a\n\n", .served),
    line("a higher minor version", "9110 §2.5", "GET / HTTP/1.2", .served),
    WireCase("HTTP/1.0 without a host", "9112 §3.2", "GET / HTTP/1.0\r\n\r\n", .servedLast),
    WireCase(
      "HTTP/1.0 that asks to stay", "9112 §9.3", "GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n", .served),

    line("a method that is no token", "9112 §3", "GE@T / HTTP/1.1", .refused(400)),
    line("a method with parentheses", "9112 §3", "(GET) / HTTP/1.1", .refused(400)),
    line("a control byte in the method", "9112 §3", "G\u{1}ET / HTTP/1.1", .refused(400)),
    line("a CR in the method", "9112 §2.2", "GET\r / HTTP/1.1", .refused(400)),
    line("a NUL in the method", "9112 §3", "G\0ET / HTTP/1.1", .refused(400)),
    line("a space in the method", "9112 §3", "G ET / HTTP/1.1", .refused(400)),
    line("two spaces before the target", "9112 §3", "GET  / HTTP/1.1", .refused(400)),
    line("two spaces before the version", "9112 §3", "GET /  HTTP/1.1", .refused(400)),
    line("a space in the target", "9112 §3.2", "GET /a b HTTP/1.1", .refused(400)),

    line("HTTP/0.9", "9112 §2.3", "GET /", .refusedByLibrary(400)),
    WireCase("HTTP/0.9 and nothing more", "9112 §2.3", "GET /\r\n", .refusedByLibrary(400)),
    line("a version of 0", "9112 §2.3", "GET / HTTP/0.9", .refusedByLibrary(505)),
    line("a version of 2", "9110 §15.6.6", "GET / HTTP/2.0", .refusedByLibrary(505)),
    WireCase(
      "the preface of HTTP/2", "9113 §3.4", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", .refusedByLibrary(505)),
    line("a lower-case version", "9112 §2.3", "GET / http/1.1", .refusedByLibrary(400)),
    line("another protocol", "9112 §2.3", "GET / ICAP/1.0", .refusedByLibrary(400)),
    line("a version with too many digits", "9112 §2.3", "GET / HTTP/1.10", .refusedByLibrary(400)),
    line("a version without a minor", "9112 §2.3", "GET / HTTP/1", .refusedByLibrary(400)),
    line("a space behind the version", "9112 §3", "GET / HTTP/1.1 ", .refusedByLibrary(400)),
    line("a tab behind the version", "9112 §3", "GET / HTTP/1.1\t", .refusedByLibrary(400)),

    WireCase("a word", "9112 §3", "GET\r\n", .hungUp),
    line("a space before the method", "9112 §3", " GET / HTTP/1.1", .hungUp),
    line("tabs for spaces", "9112 §3", "GET\t/\tHTTP/1.1", .hungUp),
    WireCase("TLS", "9112 §2.2", bytes: [0x16, 3, 1, 0, 5, 1, 0, 0, 1, 3, 0x0D, 0x0A], .hungUp),
    WireCase("a status line", "9112 §3", "HTTP/1.1 200 OK\r\nHost: a\r\n\r\n", .refusedByLibrary(400)),
  ]

  /// RFC 9112, section 3.2: the four forms of a target, and what is none.
  static let targets: [WireCase] = [
    target("absolute form", "9112 §3.2.2", "http://real.test:80/a?b=c", .served),
    target("absolute form in capitals", "9110 §4.2.3", "HTTP://real.test/", .served),
    target("absolute form without a path", "9112 §3.2.2", "http://real.test", .served),
    line("asterisk form", "9112 §3.2.4", "OPTIONS * HTTP/1.1", .served),
    target("percent sequences", "3986 §2.1", "/a%20b?c=%C3%A9", .served),
    target("two slashes are a path", "9112 §3.2.1", "//a/b", .served),
    target("dots are left alone", "9112 §3.2.1", "/a/../b/%2e%2e", .served),

    target("asterisk form of a GET", "9112 §3.2.4", "*", .refused(400)),
    line("authority form", "9112 §3.2.3", "CONNECT a:80 HTTP/1.1", .refused(400)),
    target("a relative path", "9112 §3.2.1", "status", .refused(400)),
    target("a query alone", "9112 §3.2.1", "?x=1", .refused(400)),
    target("another scheme", "9112 §3.2.2", "ftp://a/", .refused(400)),
    target("https on a plain connection", "9110 §7.4", "https://a/", .refused(400)),
    target("absolute form with a user", "9110 §4.2.4", "http://u@a/", .refused(400)),
    target("absolute form without a host", "9110 §4.2.1", "http:///x", .refused(400)),
    target("a fragment", "9112 §3.2", "/a#b", .refused(400)),
    target("a malformed percent sequence", "3986 §2.1", "/%G1", .refused(400)),
    target("an unfinished percent sequence", "3986 §2.1", "/a%4", .refused(400)),
    target("a lone percent", "3986 §2.1", "/?a=%", .refused(400)),
    target("an encoded NUL in the path", "9110 §4.2", "/status%00x", .refused(400)),
    target("an encoded NUL in the query", "9110 §4.2", "/?a=%00", .refused(400)),
    target("bytes that are not UTF-8", "3986 §2.5", "/%FF%FE", .refused(400)),
    target("an overlong slash", "3629 §3", "/%C0%AF", .refused(400)),
    target("a raw NUL", "9112 §3.2", "/status\0x", .refused(400)),
    target("a raw NUL in the query", "9112 §3.2", "/status?a=\0b", .refused(400)),
    target("a control byte", "9112 §3.2", "/a\u{1}b", .refused(400)),
    target("a tab", "9112 §3.2", "/a\tb", .refused(400)),
    target("a CR", "9112 §2.2", "/a\rb", .refused(400)),
    target("a DEL", "9112 §3.2", "/a\u{7F}b", .refused(400)),
    target("raw UTF-8", "9112 §3.2", "/é", .refused(400)),
  ]
}
