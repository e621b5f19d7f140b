/// The hash FNV-1a of 64 bits: the same on every machine and in every version.
///
/// It protects nothing: anyone can find texts with equal hashes. Its low bits are not evenly distributed.
package struct FNV1aHash {
  /// The hash of the bytes so far.
  package private(set) var value: UInt64

  /// The hash of no bytes; another seed makes another function.
  package init(seed: UInt64 = 0) { value = 0xcbf2_9ce4_8422_2325 ^ seed }

  package mutating func add(_ byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }

  package mutating func add(_ bytes: some Sequence<UInt8>) {
    for byte in bytes { add(byte) }
  }
}
