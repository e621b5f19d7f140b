// NetworkReachability
