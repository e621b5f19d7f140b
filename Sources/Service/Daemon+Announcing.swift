internal import HostProcess
internal import Logging
internal import EmbeddedHTTPServer

extension Daemon {
  /// Logs the addresses; from now on, a client that connects is served within moments.
  func logListening() {
    for server in servers {
      logger.notice(
        "listening", metadata: ["address": "\(server.boundAddress)", "tls": .stringConvertible(server.isSecure)])
    }
    let privileges = Privileges.current
    logger.log(
      level: privileges.isNone ? .notice : .warning, "privileges",
      metadata: [
        "user": .stringConvertible(privileges.user),
        "noNewPrivileges": .stringConvertible(privileges.hasNoNewPrivileges),
        "capabilities": "0x\(String(privileges.effective | privileges.permitted, radix: 16))",
      ])
  }
}
