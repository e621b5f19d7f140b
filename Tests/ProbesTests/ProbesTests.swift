// ProbesTests
