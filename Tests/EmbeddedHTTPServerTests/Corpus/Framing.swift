extension WireCase {
  /// RFC 9112, section 6: where a body ends.
  ///
  /// Two readers who disagree are how a request is smuggled.
  static let framing: [WireCase] = [
    body("a length", "9110 §8.6", "Content-Length: 5\r\n", "hello", .served),
    body("a length of nothing", "9110 §8.6", "Content-Length: 0\r\n", "", .served),
    body("a length with zeros in front", "9110 §8.6", "Content-Length: 0005\r\n", "hello", .served),
    WireCase("a GET with a body", "9110 §9.3.1", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nxy", .served),
    body("a coding in capitals", "9112 §7", "Transfer-Encoding: CHUNKED\r\n", "0\r\n\r\n", .refused(411)),
    body(
      "a request as a body", "9112 §6.3", "Content-Length: 38\r\n", "GET /hidden HTTP/1.1\r\nHost: hidden\r\n\r\n",
      .served),

    body(
      "a length and a coding", "9112 §6.3", "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n",
      .refused(400)),
    body(
      "a coding and a length", "9112 §6.3", "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", "0\r\n\r\n",
      .refused(400)),
    body(
      "a coding and no length", "9112 §6.3", "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n", "0\r\n\r\n",
      .refused(400)),
    body("two equal lengths", "9110 §8.6", "Content-Length: 1\r\nContent-Length: 1\r\n", "a", .refused(400)),
    body("two lengths", "9112 §6.3", "Content-Length: 1\r\nContent-Length: 9\r\n", "a", .refused(400)),
    body("two lengths, one malformed", "9112 §6.3", "Content-Length: 1\r\ncontent-length: x\r\n", "a", .refused(400)),
    body("a list of lengths", "9112 §6.3", "Content-Length: 1, 1\r\n", "a", .refused(400)),
    body("a signed length", "9110 §8.6", "Content-Length: +1\r\n", "a", .refused(400)),
    body("a negative length", "9110 §8.6", "Content-Length: -1\r\n", "a", .refused(400)),
    body("a hexadecimal length", "9110 §8.6", "Content-Length: 0x1\r\n", "a", .refused(400)),
    body("a length with a fraction", "9110 §8.6", "Content-Length: 1.0\r\n", "a", .refused(400)),
    body("a length with a space in it", "9110 §8.6", "Content-Length: 1 0\r\n", "a", .refused(400)),
    body("a length with a space behind it", "9110 §8.6", "Content-Length: 1 \r\n", "a", .refused(400)),
    body("a length of other digits", "9110 §8.6", "Content-Length: ١\r\n", "a", .refused(400)),
    body("an empty length", "9110 §8.6", "Content-Length:\r\n", "a", .refused(400)),
    body("a word for a length", "9110 §8.6", "Content-Length: one\r\n", "a", .refused(400)),
    body("a length hidden by a space", "9112 §5.1", "Content-Length : 1\r\n", "a", .refused(400)),
    body("a length in a fold", "9112 §5.2", "X: y\r\n Content-Length: 1\r\n", "a", .refused(400)),
    body("a length beyond 64 bits", "9110 §8.6", "Content-Length: 99999999999999999999\r\n", "a", .refused(413)),
    body("a length that wraps to 1", "9110 §8.6", "Content-Length: 18446744073709551617\r\n", "a", .refused(413)),
    body("a length of 64 bits", "9110 §8.6", "Content-Length: 18446744073709551615\r\n", "a", .refused(413)),

    body("an unknown coding", "9112 §6.1", "Transfer-Encoding: gzip\r\n", "0\r\n\r\n", .refused(411)),
    body("a coding under chunks", "9112 §6.1", "Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n", .refused(411)),
    body("a coding over chunks", "9112 §6.3", "Transfer-Encoding: chunked, gzip\r\n", "0\r\n\r\n", .refused(411)),
    body("chunked twice", "9112 §6.1", "Transfer-Encoding: chunked, chunked\r\n", "0\r\n\r\n", .refused(411)),
    body(
      "two codings", "9112 §6.1", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", "0\r\n\r\n",
      .refused(411)),
    body("identity", "9112 §7", "Transfer-Encoding: identity\r\n", "0\r\n\r\n", .refused(411)),
    body("an empty coding", "9112 §6.1", "Transfer-Encoding:\r\n", "0\r\n\r\n", .refused(411)),
    body("a coding like chunked", "9112 §6.1", "Transfer-Encoding: xchunked\r\n", "0\r\n\r\n", .refused(411)),
    body("chunked with a space behind", "9112 §6.1", "Transfer-Encoding: chunked \r\n", "0\r\n\r\n", .refused(411)),
    body("chunked with a tab behind", "9112 §6.1", "Transfer-Encoding: chunked\t\r\n", "0\r\n\r\n", .refused(411)),
    body("chunked in quotes", "9112 §6.1", "Transfer-Encoding: \"chunked\"\r\n", "0\r\n\r\n", .refused(411)),
    body("chunked with a parameter", "9112 §7", "Transfer-Encoding: chunked;q=1\r\n", "0\r\n\r\n", .refused(411)),
    body("chunked with a control byte", "9112 §6.1", "Transfer-Encoding: \u{B}chunked\r\n", "0\r\n\r\n", .refused(400)),
    body("a coding hidden by a space", "9112 §5.1", "Transfer-Encoding : chunked\r\n", "0\r\n\r\n", .refused(400)),
    body(
      "a coding hidden by a NUL", "9112 §5.1", "Transfer-Encoding\0: chunked\r\n", "0\r\n\r\n", .refusedByLibrary(400)),
    body(
      "a coding hidden by a lone CR", "9112 §2.2", "X: y\rTransfer-Encoding: chunked\r\n", "0\r\n\r\n", .refused(400)),
    body("a coding hidden by folding", "9112 §5.2", "Transfer-Encoding: chunked\r\n x\r\n", "0\r\n\r\n", .refused(400)),
    body("a coding that is a fold", "9112 §5.2", "Transfer-Encoding:\r\n chunked\r\n", "0\r\n\r\n", .refused(400)),
    WireCase(
      "chunks in HTTP/1.0", "9112 §6.1", "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      .refused(400)),
    body(
      "an expectation before a doubtful body", "9110 §10.1.1",
      "Expect: 100-continue\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n", "", .refused(400)),
  ]

  /// RFC 9112, section 7: chunks and the fields behind them, well-formed or not.
  ///
  /// A request with a `Transfer-Encoding` is refused before its body is read (RFC 9110, section 15.5.12).
  static let chunking: [WireCase] = [
    chunks("one chunk", "9112 §7.1", "5\r\nhello\r\n0\r\n\r\n", .refused(411)),
    chunks("several chunks", "9112 §7.1", "1\r\nh\r\n4\r\nello\r\n0\r\n\r\n", .refused(411)),
    chunks("a size in capitals", "9112 §7.1", "A\r\n0123456789\r\n0\r\n\r\n", .refused(411)),
    chunks("zeros before a size", "9112 §7.1", "0005\r\nhello\r\n000\r\n\r\n", .refused(411)),
    chunks("an extension", "9112 §7.1.1", "5;a=b;c=\"d\"\r\nhello\r\n0;e\r\n\r\n", .refused(411)),
    chunks("bare line feeds between chunks", "9112 §2.2", "5\nhello\n0\n\n", .refused(411)),
    chunks("trailer fields", "9112 §7.1.2", "1\r\nx\r\n0\r\nX: y\r\nZ: w\r\n\r\n", .refused(411)),

    chunks("no size", "9112 §7.1", "\r\nhello\r\n0\r\n\r\n", .refused(411)),
    chunks("a word for a size", "9112 §7.1", "g\r\nhello\r\n0\r\n\r\n", .refused(411)),
    chunks("a signed size", "9112 §7.1", "+5\r\nhello\r\n0\r\n\r\n", .refused(411)),
    chunks("a negative size", "9112 §7.1", "-5\r\nhello\r\n0\r\n\r\n", .refused(411)),
    chunks("a size with a prefix", "9112 §7.1", "0x5\r\nhello\r\n0\r\n\r\n", .refused(411)),
    chunks("a space behind a size", "9112 §7.1", "5 \r\nhello\r\n0\r\n\r\n", .refused(411)),
    chunks("a space before a size", "9112 §7.1", " 5\r\nhello\r\n0\r\n\r\n", .refused(411)),
    chunks("an extension and no size", "9112 §7.1", ";a=b\r\nhello\r\n0\r\n\r\n", .refused(411)),
    chunks("a NUL in a size", "9112 §7.1", "5\0\r\nhello\r\n0\r\n\r\n", .refused(411)),
    chunks("a lone CR behind a size", "9112 §2.2", "5\rhello\r\n0\r\n\r\n", .refused(411)),
    chunks("a size beyond 64 bits", "9112 §7.1", "10000000000000005\r\nhello\r\n0\r\n\r\n", .refused(411)),
    chunks("more bytes than the size", "9112 §7.1", "4\r\nhello\r\n0\r\n\r\n", .refused(411)),
    chunks("fewer bytes than the size", "9112 §7.1", "7\r\nhello\r\n0\r\n\r\n", .refused(411)),
    chunks("a trailer without a colon", "9112 §7.1.2", "0\r\nnonsense\r\n\r\n", .refused(411)),
    chunks("an extension without a name", "9112 §7.1.1", "5;\r\nhello\r\n0\r\n\r\n", .refused(411)),
    chunks("a malformed extension", "9112 §7.1.1", "5;bad[=x\r\nhello\r\n0\r\n\r\n", .refused(411)),
    chunks("a NUL in an extension", "9112 §7.1.1", "5;a=\0\r\nhello\r\n0\r\n\r\n", .refused(411)),
    chunks("a lone CR in an extension", "9112 §7.1.1", "5;a=\rb\r\nhello\r\n0\r\n\r\n", .refused(411)),
    chunks("a trailer with a malformed name", "9112 §7.1.2", "0\r\nbad[ name: x\r\n\r\n", .refused(411)),
    chunks(
      "a request behind bare line feeds", "9112 §7.1", "5\nhello\n0\n\nGET / HTTP/1.1\r\nHost: hidden\r\n\r\n",
      .refused(411)),
    chunks(
      "an extension that fills the buffer", "9112 §7.1.1", "5;e=" + String(repeating: "a", count: 16_000), .refused(411)
    ),
    chunks("a size that fills the buffer", "9112 §7.1", String(repeating: "0", count: 20_000), .refused(411)),
  ]

  /// RFC 9110, sections 15.5.14 and 15.5.15, and RFC 6585, section 5: more than is read here.
  static let sizes: [WireCase] = [
    target("a request line of 8,000 bytes", "9112 §3", "/" + String(repeating: "a", count: 7_986), .served),
    fields("a value of 8,000 bytes", "9110 §5.4", "X: " + String(repeating: "a", count: 8_000) + "\r\n", .served),
    target(
      "a target of 20,000 bytes", "9110 §15.5.15", "/" + String(repeating: "a", count: 20_000), .refusedByLibrary(414)),
    line(
      "a method of 20,000 bytes", "9112 §3", String(repeating: "A", count: 20_000) + " / HTTP/1.1",
      .refusedByLibrary(414)),
    fields("a value of 20,000 bytes", "6585 §5", "X: " + String(repeating: "a", count: 20_000) + "\r\n", .refused(431)),
    fields("a name of 20,000 bytes", "6585 §5", String(repeating: "a", count: 20_000) + ": x\r\n", .refused(431)),
    fields("a thousand fields", "6585 §5", String(repeating: "X: y\r\n", count: 1_000), .refused(431)),
    fields(
      "a cookie of 6,000 bytes", "6585 §5", "Cookie: a=" + String(repeating: "b", count: 6_000) + "\r\n", .refused(431)),
    body("an announced body of 64 KiB and 1", "9110 §15.5.14", "Content-Length: 65537\r\n", "", .refused(413)),
    body(
      "the same with an expectation", "9110 §10.1.1", "Expect: 100-continue\r\nContent-Length: 65537\r\n", "",
      .refused(413)),
  ]
}
