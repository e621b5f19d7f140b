import Glibc
import TestSupport

/// An authority and certificates of every kind, made by certtool in a directory of their own.
///
/// Made once: the directory goes away with the process' last user of it, or stays in the machine's /tmp.
final class Certificates: Sendable {
  /// The kinds: each has `<kind>.pem` and `<kind>.key`.
  enum Kind: String, CaseIterable {
    /// For localhost and 127.0.0.1, by our authority.
    case good
    /// As `good`, ended in 2021.
    case expired
    /// As `good`, from 2099 on.
    case early
    /// By our authority, for other.test.
    case otherName
    /// By itself, for localhost and 127.0.0.1.
    case selfSigned
    /// As `good`, but meant for clients.
    case clientOnly
    /// As `good`, by an authority that ended in 2021.
    case byExpired
    /// `good`, shown together with our authority's certificate by that expired authority, as old clients need it.
    case crossSigned
    /// `good`, shown together with one that has nothing to do with it and has expired.
    case withExpired
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
  }

  /// An authority that has expired, and ours as it once vouched for it.
  private func makeOldAuthority(_ past: String) throws {
    try key("oldAuthority")
    try template("oldAuthority", "cn = \"Old Authority\"\nca\ncert_signing_key\n" + past)
    try certtool(
      "--generate-self-signed", "--load-privkey", path("oldAuthority.key"), "--template", path("oldAuthority.cfg"),
      "--outfile", oldAuthority)
    try template("authorityCross", "cn = \"Test Authority\"\nca\ncert_signing_key\n" + past)
    try certtool(
      "--generate-certificate", "--load-privkey", path("authority.key"), "--load-ca-certificate", oldAuthority,
      "--load-ca-privkey", path("oldAuthority.key"), "--template", path("authorityCross.cfg"), "--outfile",
      path("authorityCross.pem"))
  }

  /// A kind whose server shows the first of these and the others behind it.
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
    try certtool(
      "--generate-certificate", "--load-privkey", path("\(kind.rawValue).key"), "--load-ca-certificate",
      path("\(authority).pem"), "--load-ca-privkey", path("\(authority).key"), "--template",
      path("\(kind.rawValue).cfg"), "--outfile",
      path("\(kind.rawValue).pem"))
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
