import AudioCore
import Glibc
import LinuxSystem
import MediaAccess
import NowPlaying
import TestSupport
import Testing

@testable import StateKeeping

extension FeedbackDatabase {
    /// Changes the feedback of an item at an unknown address.
    func change(_ identity: String, _ edit: @Sendable (inout Feedback) -> Void) throws(Failure) -> Feedback {
        let change = try change(identity, at: nil, edit)
        positions.save()
        return change.record.feedback
    }

    /// Saved feedback about an item.
    func feedback(of identity: String) throws(Failure) -> Feedback { try record(of: identity).feedback }
}

/// Saved feedback about items.
@Suite struct FeedbackTests {
    private let folder = TemporaryFolder()

    private func database() -> FeedbackDatabase { FeedbackDatabase(stateDirectory: folder.path) }

    @Test("what is said is there again, also for another process") func kept() throws {
        let changed = try first()
        let second = database()
        #expect(second.exists)
        #expect(try second.feedback(of: "a") == changed)
        #expect(try second.feedback(of: "b").skipCount == 7)
        #expect(try second.feedback(of: "c") == Feedback())
        #expect(
            second.positions.position(at: "/x") { "a" } == ResumePositions.Position(kind: .bookmark, seconds: 12.25))
        #expect(second.positions.position(at: "/x") { "b" } == ResumePositions.Position(kind: .left, seconds: 3))
        _ = try second.change("a") { $0.bookmark = nil }
        #expect(database().positions.position(at: "/x") { "a" } == nil)
        #expect(second.takeReports().isEmpty)
    }

    /// Feedback from an earlier process.
    private func first() throws -> Feedback {
        let first = database()
        #expect(!first.exists)
        #expect(first.isKnownToBeEmpty)
        let changed = try first.change("a") {
            $0.rating = 4.5
            $0.isLiked = true
            $0.playCount += 1
            $0.bookmark = 12.25
            $0.lastPlayed = 1_795_160_000
        }
        #expect(changed.rating == 4.5)
        #expect(!first.isKnownToBeEmpty)
        _ = try first.change("b") {
            $0.skipCount = 7
            $0.left = 3
        }
        return changed
    }

    @Test("one that is broken is kept aside, and a new one is begun") func broken() throws {
        _ = folder.write(Array("this is no database at all, but long enough: 0123456789".utf8), "feedback.db")
        let database = database()
        #expect(try database.change("a") { $0.rating = 1 }.rating == 1)
        #expect(access(folder.path("feedback.db.broken"), F_OK) == 0)
        #expect(database.takeReports().count == 1)
        #expect(database.takeReports().isEmpty)
    }

    @Test("one that breaks in the middle is kept aside, too") func tornPages() throws {
        try fill()
        var bytes = folder.read("feedback.db")
        try #require(bytes.count > 8192)
        for index in 4096..<bytes.count { bytes[index] = UInt8(truncatingIfNeeded: index &* 31) }
        _ = folder.write(bytes, "feedback.db")
        for ending in ["-wal", "-shm"] { unlink(folder.path("feedback.db" + ending)) }
        let database = database()
        for number in 0..<400 { _ = try database.change("item \(number)") { $0.rating = 2 } }
        #expect(try database.feedback(of: "item 399").rating == 2)
        #expect(access(folder.path("feedback.db.broken"), F_OK) == 0)
        #expect(database.takeReports().count == 1)
    }

    private func fill() throws {
        let database = database()
        for number in 0..<400 { _ = try database.change("item \(number)") { $0.rating = 1 } }
    }

    @Test("one of a later version is kept aside as it is") func newer() throws {
        let library = try #require(SQLiteLibrary.shared)
        try SQLiteConnection(library, folder.path("feedback.db")).execute(
            "PRAGMA user_version = 2; CREATE TABLE other (x); INSERT INTO other VALUES (42)")
        let database = database()
        _ = try database.change("a") { $0.isDisliked = true }
        #expect(try database.feedback(of: "a").isDisliked)
        #expect(database.takeReports().first?.contains("later version") == true)
        let kept = try SQLiteConnection(library, folder.path("feedback.db.newer"))
        #expect(try kept.row("SELECT x FROM other", columns: 1) == [42])
    }

    @Test("to be asked alone it writes nothing") func reading() throws {
        _ = try first()
        func files() -> [[UInt8]] { ["feedback.db", "feedback.db-wal"].map { folder.read($0) } }
        func times() -> [Int] {
            var status = stat()
            stat(folder.path("feedback.db"), &status)
            return [status.st_mtim, status.st_ctim].flatMap { [$0.tv_sec, $0.tv_nsec] }
        }
        let (bytes, instants) = (files()[0], times())
        let database = database()
        #expect(try database.feedback(of: "b").skipCount == 7)
        #expect(files() == [bytes, []] && times() == instants)
    }

    @Test("without a folder to write to it says why, and goes on when there is one again") func unwritable() throws {
        let database = FeedbackDatabase(stateDirectory: folder.path("later"))
        #expect(throws: FeedbackDatabase.Failure.self) { try database.change("a") { $0.isLiked = true } }
        mkdir(folder.path("later"), 0o700)
        #expect(try database.change("a") { $0.isLiked = true }.isLiked)
    }

    @Test("a position is only asked for where there is any; the oldest of too many go") func positions() {
        let positions = ResumePositions(stateDirectory: folder.path)
        var asked = 0
        #expect(
            positions.position(at: "/x") {
                asked += 1; return "a"
            } == nil)
        #expect(asked == 0)
        _ = folder.write(
            Array(
                ("nonsense\nleft x -1\nleft y nan\n"
                    + (0..<ResumePositions.limit).map { "bookmark \($0) \($0 + 1).5\n" }.joined()).utf8),
            "resume-places")
        let full = ResumePositions(stateDirectory: folder.path)
        #expect(full.position(at: "/x") { "0" }?.seconds == 1.5)
        #expect(full.position(at: "/x") { "x" } == nil)
        #expect(full.set(ResumePositions.Position(kind: .left, seconds: 9), of: "new"))
        #expect(!full.set(ResumePositions.Position(kind: .left, seconds: 9), of: "new"))
        full.save()
        let again = ResumePositions(stateDirectory: folder.path)
        #expect(again.position(at: "/x") { "0" } == nil)
        #expect(again.position(at: "/x") { "1" }?.seconds == 2.5)
        #expect(again.position(at: "/x") { "new" }?.kind == .left)
        again.foresee(nil, at: "/x")
        #expect(again.position(at: "/x") { "new" } == nil)
        #expect(again.position(at: "/y") { "new" }?.seconds == 9)
        again.settled("/x")
        #expect(again.position(at: "/x") { "new" }?.seconds == 9)
    }

    @Test("a file that was renamed is the same, another one is not") func identity() throws {
        let one = AudioMaterial.noise(frames: 40_000).wave()
        var other = one
        other[other.count / 2] ^= 1
        func identity(_ name: String, _ bytes: [UInt8]) throws -> String? {
            let path = folder.write(bytes, name)
            return ContentIdentity.of(.file(try #require(FilePath(Array(path.utf8)))))
        }
        let first = try identity("a.wav", one)
        #expect(first?.contains(" ") == false)
        #expect(try identity("b.wav", one) == first)
        #expect(try identity("c.wav", other) != first)
        #expect(try identity("d.wav", Array(one.prefix(100))) != nil)
        #expect(ContentIdentity.of(.handedOver(name: "x")) == nil)
        #expect(ContentIdentity.of(.file(try #require(FilePath(Array("/nowhere".utf8))))) == nil)
    }
}
