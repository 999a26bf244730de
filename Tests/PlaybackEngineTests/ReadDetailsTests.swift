import AudioCore
import LinuxSystem
import NowPlaying
import Testing

@testable import PlaybackEngine

/// Facts from looks at files, beside those of clients, lists and open files.
@Suite struct ReadDetailsTests {
    private func facts(_ title: String?, genre: String? = nil) -> FileFacts {
        var facts = FileFacts(duration: 9, format: MediaFormat(codec: "FLAC", sampleRate: 8000, channels: 1))
        facts.metadata.title = title
        facts.metadata.genre = genre
        return facts
    }

    private func titled(_ title: String) -> MediaMetadata {
        var metadata = MediaMetadata()
        metadata.title = title
        return metadata
    }

    @Test("a client's word counts more, a list's less, and both stay when the facts go")
    func certainty() throws {
        let given = ItemDetails(given: titled("Given"))
        let read = try #require(given.with(read: facts("Read", genre: "Jazz")))
        #expect(read.metadata.title == "Given" && read.metadata.genre == "Jazz" && read.found.title == "Read")
        #expect(read.duration == 9 && read.format?.codec == "FLAC" && read.isKnown && !given.isKnown)
        #expect(read.beforeRead === given)
        let listed = ItemDetails(found: titled("Listed"))
        #expect(listed.with(read: facts("Read"))?.metadata.title == "Read")
        let untitled = try #require(listed.with(read: facts(nil)))
        #expect(untitled.metadata.title == "Listed" && untitled.beforeRead?.metadata.title == "Listed")
        // A second look replaces the first.
        let again = try #require(read.with(read: facts("Again")))
        #expect(again.found.title == "Again" && again.metadata.genre == nil && again.beforeRead === given)
    }

    @Test("an open file knows more than a look, whatever it says")
    func opened() {
        #expect(ItemDetails(found: titled("Open"), duration: 3).with(read: facts("Read")) == nil)
        var live = MediaMetadata()
        live.isLiveStream = true
        #expect(ItemDetails(found: live).with(read: facts("Read")) == nil)
        let format = MediaFormat(codec: "MP3", sampleRate: 8000, channels: 1)
        let whole = ItemDetails(found: titled("Open"), format: format)
        #expect(whole.with(read: facts("Read")) == nil && whole.isKnown)
        #expect(whole.reduced()?.with(read: facts("Read")) == nil)
    }

    @Test("what a client says later stays when the facts go")
    func update() throws {
        let read = try #require(ItemDetails.unknown.with(read: facts("Read")))
        #expect(read.isRepeatable && read.reduced() == nil)
        let updated = read.with(given: titled("Later"))
        #expect(updated.metadata.title == "Later" && updated.duration == 9 && !updated.isRepeatable)
        #expect(updated.beforeRead?.metadata.title == "Later" && updated.beforeRead?.duration == nil)
    }

    @Test("results are one revision that names what clients see, no version, and are not recorded")
    func queue() {
        var queue = PlayQueue()
        queue.insert((1...5).map { QueueEntry(id: ItemID($0), source: .file("/\($0)")) }, at: 0)
        queue.recordEdits()
        let (version, revision, bytes) = (queue.version, queue.revision, queue.textBytes)
        let read = (1...3).map { number in
            (id: ItemID(Int64(number)), details: ItemDetails.unknown.with(read: facts("\(number)"))!)
        }
        #expect(queue.setRead(read + [(ItemID(9), read[0].details)]) == [1, 2, 3].map { ItemID($0) })
        #expect(queue.version == version && queue.revision == revision + 1 && queue.takeEdits().isEmpty)
        #expect(queue.history.changes(since: revision)?.changes == [.update([1, 2, 3].map { ItemID($0) })])
        #expect(queue.textBytes == bytes + read.reduce(0) { $0 + $1.details.textBytes })
        // The same again is no change.
        #expect(queue.setRead(read) == [] && queue.revision == revision + 1)
        #expect(queue.setRead([(ItemID(1), .unknown)]) == [ItemID(1)])
        #expect(queue.setRead([(ItemID(2), .unknown), (ItemID(3), .unknown)]).count == 2 && queue.textBytes == bytes)
    }
}
