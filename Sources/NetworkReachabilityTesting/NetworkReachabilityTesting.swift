// NetworkReachabilityTesting
