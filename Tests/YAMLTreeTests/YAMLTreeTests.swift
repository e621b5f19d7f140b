// YAMLTreeTests
