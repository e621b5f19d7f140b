import Glibc
import TestSupport

/// nginx on 127.0.0.1: one port in clear, one for each kind of certificate.
final class WebServer: Sendable {
  let certificates: Certificates
  let port: UInt16
  /// Supports only TLS 1.0 and 1.1.
  let outdated: UInt16
  private let ports: [Certificates.Kind: UInt16]
  private let child: Child

  private static let nginx = Program.environmentVariable("NGINX_PROGRAM") ?? "/usr/sbin/nginx"

  static let isPossible = unsafe access(nginx, X_OK) == 0 && Certificates.isPossible

  init() throws {
    certificates = try Certificates()
    let kinds = Certificates.Kind.allCases
    let free = try Loopback.closedPorts(kinds.count + 2)
    let port = free[0]
    self.port = port
    outdated = free[1]
    let ports = Dictionary(uniqueKeysWithValues: zip(kinds, free.dropFirst(2)))
    self.ports = ports
    let directory = certificates.directory
    let secure = Certificates.Kind.allCases.map { kind in
      """
      server {
        listen 127.0.0.1:\(ports[kind] ?? 0) ssl http2;
        ssl_certificate \(directory)/\(kind.rawValue).pem;
        ssl_certificate_key \(directory)/\(kind.rawValue).key;
        location / { add_header X-Kind \(kind.rawValue); return 200 "all is well"; }
        location = /down { return 302 http://127.0.0.1:\(port)/; }
        location = /sni { return 200 "$ssl_server_name $http_host"; }
        location = /bounce { absolute_redirect off; return 302 /sni; }
      }
      """
    }
    let text = """
      daemon off; master_process off; pid \(directory)/pid; error_log \(directory)/error.log;
      events { worker_connections 512; }
      http {
        access_log off; ssl_protocols TLSv1.2 TLSv1.3; client_body_temp_path \(directory)/body; proxy_temp_path \(directory)/proxy;
        fastcgi_temp_path \(directory)/fastcgi; uwsgi_temp_path \(directory)/uwsgi; scgi_temp_path \(directory)/scgi;
        server {
          listen 127.0.0.1:\(port);
          location / { add_header X-Release 42; return 200 "all is well"; }
          location = /missing { return 404; }
          location = /broken { return 503; }
          location = /moved { return 302 http://127.0.0.1:\(port)/; }
          location = /moved-by-name { return 302 http://localhost:\(port)/; }
          location = /metadata { return 302 http://169.254.169.254/latest; }
          location = /secure { return 302 https://localhost:\(ports[.good] ?? 0)/; }
          location = /choices { add_header Location http://127.0.0.1:\(port)/ always; return 300; }
          location = /spaced { return 302 "http://127.0.0.1:\(port)/with space"; }
          location = /loop { return 302 /loop; }
          location = /nowhere { return 302 "ftp://localhost/"; }
          location = /hidden { return 302 "http://0xa9fea9fe/latest"; }
          location = /echo { return 200 "$request_method $http_x_secret $http_host $http_user_agent"; }
          location = /bounce { return 302 /echo; }
        }
        \(secure.joined(separator: "\n"))
        server {
          listen 127.0.0.1:\(outdated) ssl;
          ssl_protocols TLSv1 TLSv1.1; ssl_ciphers DEFAULT:@SECLEVEL=0;
          ssl_certificate \(directory)/good.pem;
          ssl_certificate_key \(directory)/good.key;
        }
      }
      """
    try Certificates.write(text, to: "\(directory)/nginx.conf")
    child = try Child(Self.nginx, ["-p", directory, "-c", "nginx.conf", "-e", "\(directory)/error.log"])
    let all = [port, outdated] + ports.values
    guard try eventually({ try all.allSatisfy(Self.listens(at:)) }) else { throw TestError("nginx: \(child.errors)") }
  }

  func port(_ kind: Certificates.Kind) -> UInt16 { ports[kind] ?? 0 }

  private static func listens(at port: UInt16) throws -> Bool {
    let (descriptor, _) = try Loopback.bound(.stream)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }
}
