// StatusAPITests
