internal import CGnuTLS
internal import CMicroHTTPD

/// Provides the certificate and key for a handshake.
///
/// GnuTLS does not retain them: the connection keeps them alive.
func httpCertificate(
  _ session: gnutls_session_t?, _ request: UnsafePointer<gnutls_cert_retr_st>?,
  _ certificates: UnsafeMutablePointer<UnsafeMutablePointer<gnutls_pcert_st>?>?, _ count: UnsafeMutablePointer<UInt32>?,
  _ staples: UnsafeMutablePointer<UnsafeMutablePointer<gnutls_ocsp_data_st>?>?,
  _ stapleCount: UnsafeMutablePointer<UInt32>?, _ key: UnsafeMutablePointer<gnutls_privkey_t?>?,
  _ flags: UnsafeMutablePointer<UInt32>?
) -> Int32 {
  // The session's pointer is libmicrohttpd's connection, which refers to ours.
  guard let handle = unsafe gnutls_session_get_ptr(session).map(OpaquePointer.init),
    let pointer = unsafe CMicroHTTPD_socket_context(handle)
  else { return -1 }
  let connection = unsafe Unmanaged<HTTPConnection>.fromOpaque(pointer).takeUnretainedValue()
  guard let identity = connection.identityForHandshake() else { return -1 }
  unsafe certificates?.pointee = identity.certificates.baseAddress
  unsafe count?.pointee = UInt32(identity.certificates.count)
  unsafe staples?.pointee = nil
  unsafe stapleCount?.pointee = 0
  unsafe key?.pointee = identity.key
  unsafe flags?.pointee = 0
  return 0
}
