internal import Glibc

/// The full names that a short name may stand for, and how servers are queried (resolv.conf(5): `search`, `options ndots`,
/// `options use-vc`).
///
/// c-ares has a search list of its own, but applies it to each family separately: a name could then get its IPv4
/// address from one domain and its IPv6 address from another. Since 1.22 it also does not return the list that it has read.
struct ResolverSearchList: Equatable {
  var domains: [String] = []
  /// Names with fewer dots are tried with the domains first.
  var dots = 1
  /// Servers are queried over TCP only, an option that c-ares 1.18 does not read.
  var usesTCP = false

  init(domains: [String] = [], dots: Int = 1) {
    self.domains = domains
    self.dots = dots
  }

  /// Parses resolv.conf(5) as glibc does (`res_init.c`): the last `search` or `domain` line applies, and LOCALDOMAIN and
  /// RES_OPTIONS take precedence.
  ///
  /// - Parameters:
  ///   - text: the content of the file.
  ///   - hostName: the name of this machine, whose domain is the list if there is no other.
  ///   - environment: returns the value of an environment variable; nil if it is not set.
  init(resolvConf text: String, hostName: String, environment: (String) -> String?) {
    var listed: [String]?
    for line in text.split(whereSeparator: \.isNewline) {
      let words = Self.words(in: line)
      // A keyword begins in the first column.
      guard let keyword = words.first, line.hasPrefix(keyword) else { continue }
      switch keyword {
      case "domain" where words.count > 1: listed = [words[1]]
      case "search" where words.count > 1: listed = Array(words.dropFirst())
      case "options": apply(words.dropFirst())
      default: break
      }
    }
    if let text = environment("LOCALDOMAIN") { listed = Self.words(in: text[...]) }
    if let text = environment("RES_OPTIONS") { apply(Self.words(in: text[...])[...]) }
    let own = hostName.split(separator: ".", maxSplits: 1).dropFirst().map(String.init)
    domains = (listed ?? own).prefix(Limits.searchDomains).map { domain in
      domain != "." && domain.hasSuffix(".") ? String(domain.dropLast()) : domain
    }
  }

  /// Reads the list of this machine from a file, as resolv.conf(5) describes it.
  static func current(_ path: String) -> ResolverSearchList {
    var names = utsname()
    var hostName = ""
    if unsafe uname(&names) == 0 {
      hostName = unsafe withUnsafeBytes(of: &names.nodename) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
    }
    return ResolverSearchList(resolvConf: NameServerList.text(of: path), hostName: hostName) { name in
      unsafe getenv(name).map { unsafe String(cString: $0) }
    }
  }

  private static func words(in line: Substring) -> [String] { line.split { $0 == " " || $0 == "\t" }.map(String.init) }

  private mutating func apply(_ options: ArraySlice<String>) {
    if options.contains("use-vc") { usesTCP = true }
    for option in options where option.hasPrefix("ndots:") {
      // As atoi(3): what is not a number is 0.
      let digits = option.dropFirst("ndots:".count).prefix { $0.isASCII && $0.isNumber }
      dots = min(Int(digits) ?? 0, Limits.searchDots)
    }
  }

  /// The full names to query, in this order; never empty.
  ///
  /// The first one that exists is used.
  func candidates(_ name: String) -> [String] {
    if name.hasSuffix(".") { return [name] }
    let extended = domains.map { $0 == "." ? name : "\(name).\($0)" }
      .filter { $0 != name && $0.utf8.count <= Limits.nameBytes }
    return name.count { $0 == "." } >= dots ? [name] + extended : extended + [name]
  }
}
