// NetlinkTests
