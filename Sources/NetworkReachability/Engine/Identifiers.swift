// 32 bits, because columns of them are scanned for a hundred thousand targets at a time.

/// Identifies a watched target, as an index into the columns kept per target; reused after the target is removed.
typealias TargetID = Int32

/// Identifies a ``ForwardingClass``.
typealias ClassID = Int32

/// Identifies a path in a ``PathInterner``; negative for no path.
typealias PathID = Int32
