import TestSupport
import Testing

@testable import EventStreams

@Suite("StreamSlots")
struct StreamSlotsTests {
  @Test("Slots are reused with distinct generations")
  func reuse() {
    var slots = StreamSlots()
    let numbers = (0..<200).map { slots.insert($0, first: 1, second: 0, lastWrite: 0) }
    #expect(Set(numbers).count == 200)
    let generation = slots[numbers[7]].generation
    slots.remove(numbers[7])
    #expect(slots[numbers[7]].descriptor == -1)
    #expect(slots.insert(500, first: 1, second: 0, lastWrite: 0) == numbers[7])
    #expect(slots[numbers[7]].generation == generation + 1)
    #expect((slots.count, slots.used) == (200, 200))
  }

  @Test("Every stream fires once in its tick", arguments: 0..<20)
  func wheel(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var slots = StreamSlots()
    var due: [Int32: UInt32] = [:]
    var now: UInt32 = 0
    for _ in 0..<500 {
      switch Int.random(in: 0..<10, using: &generator) {
      case 0..<4:
        let number = slots.insert(1, first: 1, second: 0, lastWrite: now)
        let tick = now + UInt32.random(in: 1...StreamSlots.span, using: &generator)
        slots.plan(number, tick)
        due[number] = tick
      case 4:
        guard let number = due.keys.min() else { continue }
        slots.remove(number)
        due[number] = nil
      case 5:
        guard let number = due.keys.max() else { continue }
        let tick = now + UInt32.random(in: 1...StreamSlots.span, using: &generator)
        slots.plan(number, tick)
        due[number] = tick
      default:
        #expect(slots.nextTick == due.values.min())
        now += UInt32.random(in: 0...9, using: &generator)
        var came: Set<Int32> = []
        while let number = slots.takeDue(now) {
          #expect(came.insert(number).inserted)
          slots.remove(number)
        }
        #expect(came == Set(due.filter { $0.value <= now }.keys))
        for number in came { due[number] = nil }
      }
      #expect(slots.count == due.count)
    }
  }

  @Test("Deadlines beyond the wheel fire early, none is lost")
  func farAway() {
    var slots = StreamSlots()
    let far = slots.insert(1, first: 1, second: 0, lastWrite: 0)
    slots.plan(far, 1000)
    #expect(slots.nextTick == StreamSlots.span)
    #expect(slots.takeDue(StreamSlots.span - 1) == nil)
    #expect(slots.takeDue(StreamSlots.span) == far)
    slots.plan(far, StreamSlots.span + 3)
    #expect(slots.takeDue(100_000) == far)
    #expect(slots.takeDue(100_000) == nil)
    #expect(slots.nextTick == nil)
    slots.plan(far, 100_001)
    #expect(slots.nextTick == 100_001)
  }
}
