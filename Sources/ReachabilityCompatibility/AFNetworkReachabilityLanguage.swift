/// The languages of status descriptions.
package enum AFNetworkReachabilityLanguage: Sendable {
  case english
  case simplifiedChinese

  /// The language that an environment selects, by the rules of gettext(3).
  ///
  /// The first of `LC_ALL`, `LC_MESSAGES` and `LANG` that is not empty is the locale; unless that is `C`, the list in
  /// `LANGUAGE` precedes it. The default is English.
  package init(environment: [String: String]) {
    let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? "C"
    guard !["C", "POSIX"].contains(locale.prefix { $0 != "." }) else {
      self = .english
      return
    }
    let locales = (environment["LANGUAGE"] ?? "").split(separator: ":") + [locale[...]]
    self = locales.lazy.compactMap { AFNetworkReachabilityLanguage(locale: $0) }.first ?? .english
  }

  /// The language of a locale such as `zh_CN.UTF-8`; nil when it is not supported.
  private init?(locale: Substring) {
    let tag = locale.prefix { $0 != "." && $0 != "@" }.lowercased()
    let parts = tag.split { $0 == "_" || $0 == "-" }
    switch parts.first {
    case "en": self = .english
    case "zh":
      // Taiwan, Hong Kong and Macau use traditional characters unless the tag has another script.
      let isTraditional = parts.contains("hant") || !Set(parts).isDisjoint(with: ["tw", "hk", "mo"])
      guard !isTraditional || parts.contains("hans") else { return nil }
      self = .simplifiedChinese
    default: return nil
    }
  }

  package func description(of status: AFNetworkReachabilityStatus) -> String {
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
