// KernelTests
