// MicroHTTPTests
