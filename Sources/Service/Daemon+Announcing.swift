internal import HostProcess
internal import Logging
internal import EmbeddedHTTPServer

extension Daemon {
  /// Says where it can be found: whoever comes from now on is served in a moment.
  func logListening() {
    for server in servers {
      logger.notice("listening", metadata: ["address": "\(server.boundAddress)", "tls": "\(server.isSecure)"])
    }
    let privileges = Privileges.current
    logger.log(
      level: privileges.isNone ? .notice : .warning, "privileges",
      metadata: [
        "user": "\(privileges.user)", "noNewPrivileges": "\(privileges.hasNoNewPrivileges)",
        "capabilities": "0x\(String(privileges.effective | privileges.permitted, radix: 16))",
      ])
  }
}
