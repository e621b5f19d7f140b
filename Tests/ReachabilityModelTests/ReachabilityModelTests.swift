// ReachabilityModelTests
