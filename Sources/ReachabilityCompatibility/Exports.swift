// What code that was written for the parents names without importing more: the flags. Everything else of the library,
// such as `Path` or `Target`, stays out of its sight.
@_exported public import struct NetworkReachability.ReachabilityFlags
