/// The languages that a status can be told in.
package enum StatusLanguage: Sendable {
  case english
  case simplifiedChinese

  /// The language that an environment asks for, as gettext(3) reads it.
  ///
  /// The first of `LC_ALL`, `LC_MESSAGES` and `LANG` that is not empty names the locale; unless that is `C`, the list in
  /// `LANGUAGE` goes before it. What we do not speak is told in English.
  package init(environment: [String: String]) {
    let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? "C"
    guard !["C", "POSIX"].contains(locale.prefix { $0 != "." }) else {
      self = .english
      return
    }
    let wishes = (environment["LANGUAGE"] ?? "").split(separator: ":") + [locale[...]]
    self = wishes.lazy.compactMap { StatusLanguage(locale: $0) }.first ?? .english
  }

  /// The language of one locale, such as `zh_CN.UTF-8`; nil when we do not speak it.
  private init?(locale: Substring) {
    let tag = locale.prefix { $0 != "." && $0 != "@" }.lowercased()
    let parts = tag.split { $0 == "_" || $0 == "-" }
    switch parts.first {
    case "en": self = .english
    case "zh":
      // Taiwan, Hong Kong and Macau write traditional characters unless the tag says otherwise.
      let isTraditional = parts.contains("hant") || !Set(parts).isDisjoint(with: ["tw", "hk", "mo"])
      guard !isTraditional || parts.contains("hans") else { return nil }
      self = .simplifiedChinese
    default: return nil
    }
  }

  /// A status in this language.
  package func words(for status: AFNetworkReachabilityStatus) -> String {
    switch (self, status) {
    case (.english, .unknown): "Unknown"
    case (.english, .notReachable): "Not Reachable"
    case (.english, .reachableViaWWAN): "Reachable via WWAN"
    case (.english, .reachableViaWiFi): "Reachable via WiFi"
    case (.simplifiedChinese, .unknown): "未知"
    case (.simplifiedChinese, .notReachable): "无法访问"
    case (.simplifiedChinese, .reachableViaWWAN): "可通过蜂窝网络访问"
    case (.simplifiedChinese, .reachableViaWiFi): "可通过 Wi-Fi 访问"
    }
  }
}
