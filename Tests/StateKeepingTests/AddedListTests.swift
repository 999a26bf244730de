import AudioCore
import Glibc
import LinuxSystem
import NowPlaying
import PlaybackEngine
import TestSupport
import Testing

@testable import StateKeeping

/// Long lists, which stand in files of their own until a snapshot has them.
@Suite(.serialized) struct AddedListTests {
    init() { LoopThread.start() }

    private let folder = TemporaryFolder()

    private static func entries(_ numbers: ClosedRange<Int64>) -> EntryList {
        EntryList(numbers.lazy.map { QueueEntry(id: ItemID($0), source: .file("/music/\($0).flac")) })
    }

    private func files() -> [String] {
        guard let stream = opendir(folder.path + "/lists") else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }

    /// Looks until it holds, at most 20 s. The loop goes on meanwhile.
    @PlayerLoop private static func eventually(_ condition: () -> Bool) async -> Bool {
        for _ in 0..<4000 {
            if condition() { return true }
            await LoopThread.wait(seconds: 0.005)
        }
        return false
    }

    @PlayerLoop private func start() async -> (store: StateStore, queue: PlayQueue) {
        let store = StateStore(EventLoop.current, directory: folder.path)
        return await withCheckedContinuation { continuation in
            store.load { continuation.resume(returning: (store, $0.queue)) }
        }
    }

    @Test("what was written is read, and nothing else is taken for it")
    func coding() throws {
        let entries = Self.entries(7...10_000)
        let list = try #require(AddedLists(stateDirectory: folder.path).write(entries))
        let path = folder.path + "/lists/" + (try #require(files().first))
        let read = try #require(AddedList.read(list.number, count: list.count, in: folder.path + "/lists"))
        #expect(read.entries.map(\.id) == entries.map(\.id))
        #expect(read.entries.map(\.source.uri) == entries.map(\.source.uri))
        #expect(AddedList.read(list.number, count: list.count - 1, in: folder.path + "/lists") == nil)
        #expect(AddedList.read(list.number + 1, count: list.count, in: folder.path + "/lists") == nil)
        guard case .success(let bytes) = WholeFile.read(path, upTo: 1 << 30) else {
            Issue.record("the file cannot be read")
            return
        }
        for place in [3, 30, bytes.count / 2, bytes.count - 1] {
            var damaged = bytes
            damaged[place] ^= 0x20
            _ = folder.write(damaged, "lists/" + (path.split(separator: "/").last.map(String.init) ?? ""))
            #expect(AddedList.read(list.number, count: list.count, in: folder.path + "/lists") == nil, "\(place)")
        }
        list.remove()
        #expect(files().isEmpty)
    }

    @Test("a list that the queue did not get is removed")
    @PlayerLoop func unused() async throws {
        do { _ = try #require(AddedLists(stateDirectory: folder.path).write(Self.entries(1...2000))) }
        #expect(await Self.eventually { files().isEmpty })
    }

    @Test(
        "a list is there after a kill, at its index, between other changes; the snapshot has it, and its file goes",
        arguments: [false, true])
    @PlayerLoop func killed(isLost: Bool) async throws {
        let before = await start()
        var queue = before.queue
        queue.recordEdits()
        // Nothing is written to the disk: `begin` was not called, and the process ends here.
        queue.insert(Self.entries(1...3), at: 0)
        let entries = Self.entries(70_000...75_000)
        let list = try #require(AddedLists(stateDirectory: folder.path).write(entries))
        before.store.expect(list, first: 70_000)
        queue.insert(entries, at: 1)
        queue.remove([ItemID(2), ItemID(70_001)])
        queue.insert(Self.entries(100_000...100_000), at: 2)
        before.store.keep(queue.takeEdits(), queue, SavedPosition())
        let numbers = queue.entries.map(\.id.number)
        #expect(numbers.count == 5003)
        let name = try #require(files().first)
        if isLost { unlink(folder.path + "/lists/" + name) }
        let after = await start()
        guard !isLost else {
            // The entries before the lost list are there.
            #expect(after.queue.entries.map(\.id.number) == [1, 2, 3])
            return
        }
        #expect(after.queue.entries.map(\.id.number) == numbers)
        #expect(after.store.listNumbers.count == 1)
        AddedLists(stateDirectory: folder.path).removeOthers(than: after.store.listNumbers)
        #expect(files() == [name])
        let restored = after.queue
        after.store.begin { restored }
        #expect(await Self.eventually { files().isEmpty })
        let last = await start()
        #expect(last.queue.entries.map(\.id.number) == numbers && last.store.listNumbers.isEmpty)
        AddedLists(stateDirectory: folder.path).removeOthers(than: [])
    }
}
