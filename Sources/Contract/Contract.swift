internal import CContract

/// The contract of the HTTP interface, which the program contains.
public enum Contract {
  /// The bytes of openapi.yaml.
  public static let bytes = unsafe Array(UnsafeBufferPointer(start: contract_bytes(), count: contract_length()))
}
