import Glibc
import TestSupport

/// An authority and certificates of every kind, made by certtool in a directory of their own.
///
/// Made once: the directory goes away with the process' last user of it, or stays in the machine's /tmp.
final class Certificates: Sendable {
  /// The kinds: each has `<kind>.pem` and `<kind>.key`.
  enum Kind: String, CaseIterable {
    /// For localhost and 127.0.0.1, issued by the test authority.
    case good
    /// As `good`, expired in 2021.
    case expired
    /// As `good`, valid from 2099.
    case early
    /// Issued by the test authority for other.test.
    case otherName
    /// Self-signed, for localhost and 127.0.0.1.
    case selfSigned
    /// As `good`, but for client authentication.
    case clientOnly
    /// As `good`, issued by an authority that expired in 2021.
    case byExpired
    /// `good`, sent with the test authority's certificate by that expired authority, as old clients need it.
    case crossSigned
    /// `good`, sent with an unrelated certificate that has expired.
    case withExpired
    /// For localhost by its common name alone.
    case commonName
    // Issued by an intermediate authority, of which several certificates are sent:
    /// The one by an unknown authority, before and after the good one.
    case unknownFirst, unknownSecond
    /// The one that expired in 2021, before and after the good one.
    case pastFirst, pastSecond
    /// The expired one by the expired authority, before and after the good one.
    case oldFirst, oldSecond
    /// All of them, the good one last.
    case goodLast
    /// Only the one by an unknown authority, or only the one that expired in 2021.
    case onlyUnknown, onlyPast
  }

  let directory: String
  var authority: String { "\(directory)/authority.pem" }
  /// The one that has expired.
  var oldAuthority: String { "\(directory)/oldAuthority.pem" }

  static let isPossible = unsafe access("/usr/bin/certtool", X_OK) == 0

  init() throws {
    directory = try Self.makeDirectory()
    try key("authority")
    try template("authority", "cn = \"Test Authority\"\nca\ncert_signing_key\nexpiration_days = 30\n")
    try certtool(
      "--generate-self-signed", "--load-privkey", path("authority.key"), "--template", path("authority.cfg"),
      "--outfile", authority)
    let local =
      "cn = \"localhost\"\ndns_name = \"localhost\"\nip_address = \"127.0.0.1\"\ntls_www_server\nsigning_key\n"
    let days = "expiration_days = 30\n"
    let past = "activation_date = \"2020-01-01 00:00:00 UTC\"\nexpiration_date = \"2021-01-01 00:00:00 UTC\"\n"
    try issue(.good, local + days)
    try issue(
      .expired, local + past)
    try issue(
      .early,
      local + "activation_date = \"2099-01-01 00:00:00 UTC\"\nexpiration_date = \"2099-12-01 00:00:00 UTC\"\n")
    try issue(.otherName, "cn = \"other.test\"\ndns_name = \"other.test\"\ntls_www_server\nsigning_key\n" + days)
    try key(Kind.selfSigned.rawValue)
    try template(Kind.selfSigned.rawValue, local + days)
    try certtool(
      "--generate-self-signed", "--load-privkey", path("selfSigned.key"), "--template", path("selfSigned.cfg"),
      "--outfile", path("selfSigned.pem"))
    try issue(.clientOnly, local.replacing("tls_www_server", with: "tls_www_client") + days)
    try makeOldAuthority(past)
    try issue(.byExpired, local + days, by: "oldAuthority")
    try show(.crossSigned, "good", "authorityCross")
    try show(.withExpired, "good", "expired")
    try issue(.commonName, "cn = \"localhost\"\ntls_www_server\nsigning_key\n" + days)
    try makeLowerAuthority(local + days, past)
  }

  /// An intermediate authority with four certificates for one key, and a server's certificate by it.
  private func makeLowerAuthority(_ server: String, _ past: String) throws {
    try key("unknownAuthority")
    try template("unknownAuthority", "cn = \"Unknown Authority\"\nca\ncert_signing_key\nexpiration_days = 30\n")
    try certtool(
      "--generate-self-signed", "--load-privkey", path("unknownAuthority.key"), "--template",
      path("unknownAuthority.cfg"), "--outfile", path("unknownAuthority.pem"))
    try key("lower")
    let certificationPaths = [
      ("lower", "authority", "expiration_days = 30\n"), ("unknown", "unknownAuthority", "expiration_days = 5\n"),
      ("past", "authority", past), ("old", "oldAuthority", past),
    ]
    for (name, authority, dates) in certificationPaths {
      try template(name, "cn = \"Lower Authority\"\nca\ncert_signing_key\n" + dates)
      try sign(name, key: "lower", by: authority)
    }
    try key("below")
    try template("below", server)
    try sign("below", key: "below", by: "lower")
    try show(.unknownFirst, "below", "unknown", "lower")
    try show(.unknownSecond, "below", "lower", "unknown")
    try show(.pastFirst, "below", "past", "lower")
    try show(.pastSecond, "below", "lower", "past")
    try show(.oldFirst, "below", "old", "lower")
    try show(.oldSecond, "below", "lower", "old")
    try show(.goodLast, "below", "old", "past", "unknown", "lower")
    try show(.onlyUnknown, "below", "unknown")
    try show(.onlyPast, "below", "past")
    try Self.write(try text("authority.pem") + text("oldAuthority.pem"), to: path("bothAuthorities.pem"))
  }

  /// An expired authority, and its certificate for the test authority.
  private func makeOldAuthority(_ past: String) throws {
    try key("oldAuthority")
    try template("oldAuthority", "cn = \"Old Authority\"\nca\ncert_signing_key\n" + past)
    try certtool(
      "--generate-self-signed", "--load-privkey", path("oldAuthority.key"), "--template", path("oldAuthority.cfg"),
      "--outfile", oldAuthority)
    try template("authorityCross", "cn = \"Test Authority\"\nca\ncert_signing_key\n" + past)
    try sign("authorityCross", key: "authority", by: "oldAuthority")
  }

  /// A kind whose server sends these certificates in order.
  private func show(_ kind: Kind, _ names: String...) throws {
    try Self.write(try names.map { try text("\($0).pem") }.joined(), to: path("\(kind.rawValue).pem"))
    try Self.write(try text("\(names[0]).key"), to: path("\(kind.rawValue).key"))
  }

  deinit { _ = try? Child("/bin/rm", ["-r", directory]).wait() }

  /// The text of one of the files.
  func text(_ name: String) throws -> String {
    let child = try Child("/bin/cat", [path(name)])
    guard try child.wait() == .exited(0) else { throw TestError(child.errors) }
    return child.output
  }

  func path(_ name: String) -> String { "\(directory)/\(name)" }

  private func issue(_ kind: Kind, _ text: String, by authority: String = "authority") throws {
    try key(kind.rawValue)
    try template(kind.rawValue, text)
    try sign(kind.rawValue, key: kind.rawValue, by: authority)
  }

  private func sign(_ name: String, key: String, by authority: String) throws {
    try certtool(
      "--generate-certificate", "--load-privkey", path("\(key).key"), "--load-ca-certificate",
      path("\(authority).pem"), "--load-ca-privkey", path("\(authority).key"), "--template", path("\(name).cfg"),
      "--outfile", path("\(name).pem"))
  }

  private func key(_ name: String) throws {
    try certtool("--generate-privkey", "--key-type=ecdsa", "--curve=secp256r1", "--outfile", path("\(name).key"))
  }

  private func template(_ name: String, _ text: String) throws { try Self.write(text, to: path("\(name).cfg")) }

  private func certtool(_ arguments: String...) throws {
    let child = try Child("/usr/bin/certtool", arguments)
    guard try child.wait() == .exited(0) else { throw TestError("certtool \(arguments): \(child.errors)") }
  }

  static func makeDirectory() throws -> String {
    var template = Array("/tmp/reachd-probes-XXXXXX".utf8CString)
    return try unsafe template.withUnsafeMutableBufferPointer { buffer in
      guard let start = buffer.baseAddress, let made = unsafe mkdtemp(start) else { throw TestError("mkdtemp") }
      return unsafe String(cString: made)
    }
  }

  static func write(_ text: String, to path: String) throws {
    guard let file = unsafe fopen(path, "w") else { throw TestError("fopen \(path)") }
    defer { unsafe fclose(file) }
    let bytes = Array(text.utf8)
    guard unsafe fwrite(bytes, 1, bytes.count, file) == bytes.count else { throw TestError("fwrite \(path)") }
  }
}
