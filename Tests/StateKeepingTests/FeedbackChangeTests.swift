import Glibc
import NowPlaying
import TestSupport
import Testing

@testable import StateKeeping

/// The list of changes of feedback.
@Suite struct FeedbackChangeTests {
    private let folder = TemporaryFolder()

    private func database() -> FeedbackDatabase { FeedbackDatabase(stateDirectory: folder.path) }

    /// Changes one item in a database that is closed then.
    private func written(_ number: Int) throws -> FeedbackDatabase.Change {
        try database().change("\(number)", at: nil) { $0.playCount = number + 1 }
    }

    private func identities(_ changes: FeedbackChanges) -> [String] { changes.records.map(\.identity) }

    @Test("each item is listed once, at its last change, with its feedback and address") func listed() throws {
        let database = database()
        #expect(try identities(database.changes(since: .beginning, limit: 10)).isEmpty)
        for name in ["a", "b", "c"] { _ = try database.change(name, at: "/\(name)") { $0.rating = 1 } }
        let first = try database.changes(since: .beginning, limit: 10)
        #expect(identities(first) == ["a", "b", "c"] && !first.hasMore && !first.isReset)
        _ = try database.change("a", at: "/moved") { $0.rating = 2 }
        // A value that holds already is no change.
        #expect(try !database.change("b", at: "/other") { $0.rating = 1 }.isNew)
        let later = try database.changes(since: first.next, limit: 10)
        #expect(identities(later) == ["a"] && later.records[0].uri == "/moved")
        #expect(later.records[0].feedback.rating == 2)
        #expect(try later.records[0] == database.record(of: "a"))
        #expect(later.records[0].cursor.previous == first.next)
        #expect(try identities(database.changes(since: .beginning, limit: 10)) == ["b", "c", "a"])
        #expect(try database.changes(since: later.next, limit: 10).next == later.next)
    }

    @Test("pages join without a gap, also for another process") func pages() throws {
        for number in 0..<25 { _ = try written(number) }
        let reader = database()
        var cursor = FeedbackCursor.beginning
        var all: [String] = []
        var sizes: [Int] = []
        var hasMore = true
        while hasMore {
            let page = try reader.changes(since: cursor, limit: 10)
            all += identities(page)
            sizes.append(page.records.count)
            (cursor, hasMore) = (page.next, page.hasMore)
            #expect(FeedbackCursor(text: cursor.text) == cursor)
        }
        #expect(all == (0..<25).map { "\($0)" } && sizes == [10, 10, 5])
    }

    @Test("a cursor of another database begins anew") func reset() throws {
        let first = database()
        _ = try first.change("a", at: nil) { $0.isLiked = true }
        let cursor = try first.changes(since: .beginning, limit: 10).next
        let ahead = FeedbackCursor(origin: cursor.origin, number: cursor.number + 1)
        #expect(try first.changes(since: ahead, limit: 10).isReset)
        for ending in ["", "-wal", "-shm"] { unlink(folder.path("feedback.db" + ending)) }
        #expect(try database().changes(since: cursor, limit: 10).isReset)
        let second = database()
        _ = try second.change("b", at: nil) { $0.isLiked = true }
        let page = try second.changes(since: cursor, limit: 10)
        #expect(page.isReset && identities(page) == ["b"])
        #expect(try !second.changes(since: page.next, limit: 10).isReset)
        #expect(!page.records[0].cursor.isOlder(than: cursor))
        #expect(cursor.isOlder(than: ahead) && !ahead.isOlder(than: cursor))
        #expect(FeedbackCursor.beginning.isOlder(than: cursor) && !cursor.isOlder(than: .beginning))
    }

    @Test("a database from before the list has its items in it", .enabled(if: SQLiteLibrary.shared != nil))
    func older() throws {
        let library = try #require(SQLiteLibrary.shared)
        let file = folder.path("feedback.db")
        let insert = "INSERT OR REPLACE INTO item VALUES (?1, 3, 1, 0, NULL, NULL, 0, 0, NULL)"
        do {
            let connection = try SQLiteConnection(library, file)
            try connection.execute(
                """
                CREATE TABLE item (
                    identity TEXT PRIMARY KEY, rating REAL, liked REAL, disliked REAL, bookmark REAL, leftAt REAL,
                    plays REAL, skips REAL, lastPlayed REAL
                ) WITHOUT ROWID; PRAGMA user_version = 1
                """)
            for name in ["x", "y"] { _ = try connection.row(insert, [.text(name)]) }
        }
        let page = try database().changes(since: .beginning, limit: 10)
        #expect(identities(page) == ["x", "y"] && page.records.allSatisfy { $0.feedback.rating == 3 })
        // An earlier version of the daemon, which does not know the list, still writes it.
        do { _ = try SQLiteConnection(library, file).row(insert, [.text("x")]) }
        #expect(try identities(database().changes(since: page.next, limit: 10)) == ["x"])
    }

    @Test(
        "text that is no cursor is none",
        arguments: ["", "-", "1", "0-0", "x-1", "5-", "5--1", "05-1", "5-01", "-5-1"])
    func texts(_ text: String) { #expect(FeedbackCursor(text: text) == nil) }
}
