// ReachdTests
