import LinuxSystem
import TestSupport
import Testing

/// The order of deferred work.
@Suite struct EventLoopTests {
    init() { LoopThread.start() }

    @Test("what is put off comes in the order of putting off, what it puts off itself behind all of it")
    func laterIsFirstInFirstOut() async {
        let order = await LoopThread.run { Order() }
        await LoopThread.run {
            for number in 0..<100 {
                EventLoop.current.later {
                    order.numbers.append(number)
                    EventLoop.current.later { order.numbers.append(100 + number) }
                }
            }
        }
        await LoopThread.turns(400)
        #expect(await LoopThread.run { order.numbers } == Array(0..<200))
    }
}

@PlayerLoop private final class Order {
    var numbers: [Int] = []
}
