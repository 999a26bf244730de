import LinuxSystem
import NowPlaying
import Synchronization
import TestSupport
import Testing

@testable import WebAccess

/// Groups of users whose look-up hangs.
@Suite(.timeLimit(.minutes(5))) struct UserGroupTests {
    init() { LoopThread.start() }

    /// The look-ups that were begun, and those that may end.
    private final class Tables: Sendable {
        let begun = Mutex<[UInt32]>([])
        let isFree = Mutex<Set<UInt32>>([])
        let done = Mutex<[UInt32]>([])

        func groups(_ user: UInt32) -> Set<UInt32> {
            begun.withLock { $0.append(user) }
            _ = becomes { isFree.withLock { $0.contains(user) } }
            return [user + 1000]
        }
    }

    @Test("a look-up that hangs holds the connections of its user alone, and only some of them") func hangs() async {
        let tables = Tables()
        let groups = await LoopThread.run { UserGroups(EventLoop.current) { tables.groups($0) } }
        func find(_ user: UInt32, after seconds: Double = 0) async -> Bool {
            await LoopThread.run {
                groups.find(user, at: MonotonicTime.now.advanced(bySeconds: seconds)) {
                    tables.done.withLock { $0.append(user) }
                }
            }
        }
        #expect(groups.groups(of: 1).isEmpty)
        for _ in 0..<16 { #expect(await find(1)) }
        #expect(await !find(1))
        tables.isFree.withLock { _ = $0.insert(2) }
        #expect(await find(2))
        #expect(becomes { tables.done.withLock { $0 } == [2] })
        #expect(groups.groups(of: 2) == [1002])
        // A result is used again, and not for ever.
        #expect(await find(2))
        #expect(tables.done.withLock { $0 } == [2, 2])
        #expect(await find(2, after: UserGroups.seconds + 1))
        #expect(becomes { tables.done.withLock { $0 } == [2, 2, 2] })
        #expect(tables.begun.withLock { $0.sorted() } == [1, 2, 2])
        tables.isFree.withLock { _ = $0.insert(1) }
        #expect(becomes { tables.done.withLock { $0.count } == 19 })
        #expect(groups.groups(of: 1) == [1001])
    }
}
