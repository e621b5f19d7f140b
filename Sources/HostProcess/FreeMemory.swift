internal import CProcess

/// The memory that the allocator keeps for later allocations.
public enum FreeMemory {
  /// Returns unused pages of the allocator to the system (malloc_trim(3)); other threads wait some milliseconds for memory.
  public static func release() { malloc_trim(0) }
}
