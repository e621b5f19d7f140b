// The original module's name for the compatibility library.
@_exported import ReachabilityCompatibility
