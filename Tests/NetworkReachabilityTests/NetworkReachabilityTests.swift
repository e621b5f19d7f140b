// NetworkReachabilityTests
