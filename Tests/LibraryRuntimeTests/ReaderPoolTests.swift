import Glibc
import LibraryRuntime
import LinuxSystem
import Synchronization
import TestSupport
import Testing
import TrackDatabase

/// Readers for many users at once.
@Suite struct ReaderPoolTests {
    /// Questions that hold their readers until they are let on, one by one.
    private final class Questions: Sendable {
        let folder = TemporaryFolder()
        let pool: ReaderPool
        /// Users in the order in which they got a reader, and the doors behind which they wait.
        private let begun = Mutex<[(user: UInt32, door: Door)]>([])

        init(limit: Int) throws { pool = ReaderPool(try TrackDatabase(path: folder.path("t.db")), limit: limit) }

        /// Lets one thread on.
        final class Door: Sendable {
            private let isOpen = Mutex(false)

            func open() { isOpen.withLock { $0 = true } }
            func wait() { while !isOpen.withLock({ $0 }) { usleep(500) } }
        }

        var users: [UInt32] { begun.withLock { $0.map(\.user) } }

        /// Starts a question, and returns once it waits or has a reader.
        func ask(_ user: UInt32, isForeign: Bool = false) {
            let before = users.count + pool.waitingCount
            let started = DetachedThread.start("question") { [self] in
                try? pool.read(for: user, showing: isForeign ? [] : nil) { reader throws(TrackDatabaseError) in
                    let door = Door()
                    begun.withLock { $0.append((user, door)) }
                    door.wait()
                }
            }
            #expect(started && becomes { users.count + pool.waitingCount > before })
        }

        /// Ends the question that got the reader with this index.
        func end(_ index: Int) { begun.withLock { $0[index].door.open() } }
    }

    @Test func aUserWithManyQuestionsLeavesReadersForOthers() throws {
        let questions = try Questions(limit: 4)
        for _ in 0..<20 { questions.ask(1) }
        // One user alone has half of them.
        #expect(becomes { questions.users == [1, 1] })
        // Others do not wait at all.
        questions.ask(2)
        #expect(becomes { questions.users == [1, 1, 2] })
        for _ in 0..<3 { questions.ask(2) }
        questions.ask(3)
        #expect(becomes { questions.users == [1, 1, 2, 3] })
        // One reader stays free for the next client.
        questions.end(0)
        questions.ask(4)
        // The user with the fewest comes first, then the one that waits longest for a turn.
        let order: [UInt32?] = [4, 1, 2, nil, 1, 2, 1]
        var count = 4
        for (index, user) in order.enumerated() {
            if index > 0 { questions.end(index) }
            guard let user else { continue }
            count += 1
            #expect(becomes { questions.users.count == count }, "\(questions.users)")
            #expect(questions.users.last == user, "\(questions.users)")
        }
        // All are answered in the end, and one user alone is bounded.
        var ended = order.count
        while ended < 26 {
            #expect(becomes { questions.users.count > ended })
            questions.end(ended)
            ended += 1
        }
        #expect(questions.users.count == 26 && questions.pool.waitingCount == 0)
    }

    @Test func foreignUsersLeaveTheLastReaderToTheOwner() throws {
        let questions = try Questions(limit: 4)
        for user: UInt32 in 1...6 { questions.ask(user, isForeign: true) }
        #expect(becomes { questions.users == [1, 2, 3] && questions.pool.waitingCount == 3 })
        questions.ask(0)
        #expect(becomes { questions.users == [1, 2, 3, 0] })
        // The owner's reader is free again, and the next foreign user waits for one of the other three.
        questions.end(3)
        #expect(!questions.users.contains(4))
        questions.end(0)
        #expect(becomes { questions.users == [1, 2, 3, 0, 4] })
        for index in [1, 2, 4] { questions.end(index) }
        #expect(becomes { questions.users.count == 7 })
        for index in [5, 6] { questions.end(index) }
        #expect(becomes { questions.pool.waitingCount == 0 })
    }

    @Test func aPoolOfOneServesWhoCameFirst() throws {
        let questions = try Questions(limit: 1)
        for user: UInt32 in [1, 1, 2, 1] { questions.ask(user) }
        for index in 0..<4 {
            #expect(becomes { questions.users.count == index + 1 })
            questions.end(index)
        }
        #expect(questions.users == [1, 2, 1, 1])
    }
}
