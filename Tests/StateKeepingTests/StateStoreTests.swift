import AudioCore
import Glibc
import LinuxSystem
import NowPlaying
import PlaybackEngine
import TestSupport
import Testing

@testable import StateKeeping

/// The store on a real folder. To simulate a kill, the test drops the store without `finish`. To simulate a power cut, it
/// copies the folder, which has only the written data.
@Suite(.serialized) struct StateStoreTests {
    /// A player's queue and place, kept by a store as the player would.
    @PlayerLoop private final class Keeping {
        let store: StateStore
        var queue = PlayQueue()
        var position = SavedPosition()
        var found: StateStore.Found?

        init(_ directory: String) { store = StateStore(EventLoop.current, directory: directory) }

        static func start(_ directory: String) async -> Keeping {
            let keeping = Keeping(directory)
            await withCheckedContinuation { continuation in
                keeping.store.load { found in
                    keeping.found = found
                    keeping.queue = found.queue
                    keeping.queue.recordEdits()
                    keeping.position = found.position ?? SavedPosition()
                    keeping.store.begin { [unowned keeping] in keeping.queue }
                    continuation.resume()
                }
            }
            return keeping
        }

        func add(_ numbers: ClosedRange<Int64>) {
            queue.insert(
                numbers.map { QueueEntry(id: ItemID($0), source: .file("/music/\($0).flac")) }, at: queue.count)
            position.item = ItemID(numbers.lowerBound)
            position.elapsed = Double(numbers.lowerBound) + 0.25
            store.keep(queue.takeEdits(), queue, position)
        }

        var numbers: [Int64] { queue.entries.map(\.id.number) }
    }

    /// A version that knew no limits wrote such places, and could not play from them.
    @PlayerLoop @Test(arguments: [1e300, 1e17, 1e7.nextUp, -1e300, -1, 0x1p63])
    func aPlaceBeyondAllItemsIsBounded(elapsed: Double) async throws {
        let folder = TemporaryFolder()
        let before = await Keeping.start(folder.path)
        before.position.wish = .playing
        before.position.playCount = .max
        before.add(1...3)
        before.position.elapsed = elapsed
        before.store.keep([], before.queue, before.position)
        let after = await Keeping.start(folder.path)
        #expect(after.numbers == [1, 2, 3])
        #expect(after.position.item == ItemID(1))
        #expect(after.position.elapsed == max(0, min(elapsed, 1e7)))
        #expect(after.position.playCount < .max / 2)
    }

    @Test("items with numbers of an earlier version get new ones once, with the place, whatever was killed or saved")
    @PlayerLoop func largeNumbers() async throws {
        for isSaved in [true, false] {
            let folder = TemporaryFolder()
            let old = await Keeping.start(folder.path)
            old.add(1...2)
            old.add(5_000_000_001...5_000_000_003)
            old.position.item = ItemID(5_000_000_002)
            old.store.keep([], old.queue, old.position)
            let before: [Int64] = [1, 2, 5_000_000_001, 5_000_000_002, 5_000_000_003]
            // A process that is killed writes no more.
            #expect(await Self.eventually { Self.onTheDisk(folder.path, 5_000_000_002) == before })
            if isSaved { old.store.finish(old.position) }
            var known: [Int64] = []
            for run in 0..<3 {
                let keeping = await Keeping.start(folder.path)
                let found = try #require(keeping.found)
                let numbers = ItemNumbers(stateDirectory: folder.path)
                numbers.begin(past: found.blocks)
                numbers.note()
                let work = keeping.store.renumbering(numbers)
                #expect((work == nil) == (run > 0))
                let new = keeping.store.take(work?()) ?? found
                let ids = new.queue.entries.map(\.id.number)
                #expect(ids.prefix(2) == [1, 2] && ids.count == 5 && ids.allSatisfy { $0 < ItemNumbers.limit })
                #expect(new.position?.item?.number == ids[3] && Set(ids).count == 5)
                #expect(new.queue.entries.map(\.source.uri).last == "file:///music/5000000003.flac")
                #expect(run == 0 || ids == known)
                known = ids
                #expect(Self.onTheDisk(folder.path) == ids)
                // It goes on with them.
                keeping.queue = new.queue
                keeping.queue.recordEdits()
                keeping.position = try #require(new.position)
                keeping.position.elapsed += 1
                keeping.store.keep([], keeping.queue, keeping.position)
            }
        }
    }

    /// Items of the saved queue. `current`: the saved current item, without which there is nothing.
    private static func onTheDisk(_ directory: String, _ current: Int64? = nil) -> [Int64] {
        // Loaded without the memory: that belongs to the folder itself, not to its copy.
        let copy = TemporaryFolder()
        for name in ["queue", "place"] {
            guard let bytes = contents(directory + "/" + name) else { continue }
            write(bytes, copy.path + "/" + name)
        }
        let loaded = StateLoader.load(copy.path)
        loaded.memory?.remove()
        #expect(loaded.reports.isEmpty)
        if let current, loaded.position?.item != ItemID(current) { return [] }
        return loaded.queue.entries.map(\.id.number)
    }

    private static func contents(_ path: String) -> [UInt8]? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = fread(&bytes, 1, bytes.count, file)
        return Array(bytes.prefix(count))
    }

    private static func write(_ bytes: [UInt8], _ path: String) {
        guard let file = fopen(path, "w") else { return }
        fwrite(bytes, 1, bytes.count, file)
        fclose(file)
    }

    /// Looks until it holds, at most 20 s. The loop goes on meanwhile.
    @PlayerLoop private static func eventually(_ condition: () -> Bool) async -> Bool {
        for _ in 0..<4000 {
            if condition() { return true }
            await LoopThread.wait(seconds: 0.005)
        }
        return false
    }

    init() { LoopThread.start() }

    @Test("a published state is there at once for the next process, and on the disk a moment later")
    @PlayerLoop func killed() async {
        let folder = TemporaryFolder()
        let keeping = await Keeping.start(folder.path)
        #expect(keeping.found?.position == nil && keeping.numbers.isEmpty)
        for round in 0..<5 {
            keeping.add(Int64(round * 2 + 1)...Int64(round * 2 + 2))
            let commands: [RemoteCommand: CommandCentre.Setting] = [
                .skipForward: .init(preferredIntervals: [Double(round + 1)])
            ]
            keeping.store.keep(commands)
            let numbers = keeping.numbers
            for _ in 0..<2 {
                let loaded = StateLoader.load(folder.path)
                #expect(loaded.queue.entries.map(\.id.number) == numbers)
                #expect(loaded.queue.version == keeping.queue.version)
                #expect(loaded.commands.settings == commands)
                #expect(loaded.position == keeping.position)
            }
            #expect(await Self.eventually { Self.onTheDisk(folder.path) == numbers }, "round \(round)")
        }
        keeping.store.finish(keeping.position)
    }

    @Test("an end writes everything and leaves no memory behind")
    @PlayerLoop func finished() async {
        let folder = TemporaryFolder()
        let keeping = await Keeping.start(folder.path)
        keeping.add(1...100)
        keeping.position.elapsed = 99.5
        keeping.store.finish(keeping.position)
        #expect(Self.onTheDisk(folder.path) == keeping.numbers)
        let next = await Keeping.start(folder.path)
        #expect(next.found?.position?.elapsed == 99.5)
        next.store.finish(next.position)
        var status = stat()
        #expect(stat(folder.path, &status) == 0)
        let memory =
            "/dev/shm/nowplayingd-\(geteuid())-" + String(status.st_dev, radix: 16) + "-"
            + String(status.st_ino, radix: 16)
        #expect(access(memory, F_OK) != 0)
    }

    @Test("the memory of a folder that is gone is removed, unless somebody has it open")
    @PlayerLoop func orphans() async throws {
        let (gone, used, left, own) = (TemporaryFolder(), TemporaryFolder(), TemporaryFolder(), TemporaryFolder())
        func memory(_ folder: TemporaryFolder) -> String {
            var status = stat()
            #expect(stat(folder.path, &status) == 0)
            return StateMemory.folder + "/" + StateMemory.name(of: status)
        }
        let paths = [gone, used, left].map(memory)
        var open: [StateMemory] = []
        for folder in [gone, used, left] { open.append(try #require(StateMemory.open(stateDirectory: folder.path))) }
        open = [open[1]]
        // Held open, or a folder of another test might get their numbers, and their memory with them.
        let held = [gone, used].map { Glibc.open($0.path, O_RDONLY | O_DIRECTORY) }
        defer { for descriptor in held { close(descriptor) } }
        #expect(rmdir(gone.path) == 0 && rmdir(used.path) == 0)
        let keeping = await Keeping.start(own.path)
        keeping.add(1...2)
        #expect(await Self.eventually { access(paths[0], F_OK) != 0 })
        #expect(await Self.eventually { Self.onTheDisk(own.path) == [1, 2] })
        #expect(access(paths[1], F_OK) == 0 && access(paths[2], F_OK) == 0)
        keeping.store.finish(keeping.position)
        open = []
        StateMemory.removeOrphans()
        #expect(access(paths[1], F_OK) != 0 && access(paths[2], F_OK) == 0)
        unlink(paths[2])
    }

    @Test("many changes are few writings, and the journal does not grow for ever")
    @PlayerLoop func compaction() async {
        let folder = TemporaryFolder()
        let keeping = await Keeping.start(folder.path)
        keeping.add(1...10)
        for change in 0..<20_000 {
            var given = MediaMetadata()
            given.title = "a title of some length that is changed for the time number \(change)"
            keeping.queue.setDetails(ItemDetails(given: given), of: ItemID(Int64(change % 10 + 1)))
            keeping.store.keep(keeping.queue.takeEdits(), keeping.queue, keeping.position)
            if change % 2000 == 0 { await LoopThread.wait(seconds: 0.05) }
        }
        #expect(
            await Self.eventually {
                let next = (keeping.numbers.last ?? 0) + 1
                keeping.add(next...next)
                return (Self.contents(folder.path + "/queue")?.count ?? .max) < 100_000
            })
        keeping.store.finish(keeping.position)
        let next = await Keeping.start(folder.path)
        #expect(next.numbers == keeping.numbers)
        #expect(next.queue.entries[9].details?.given.title?.hasSuffix("number 19999") == true)
        #expect(next.queue.version == keeping.queue.version)
    }

    @Test(
        "broken files are kept aside and reported, and saving goes on",
        arguments: [("queue", "garbage"), ("place", "garbage"), ("place", "")])
    @PlayerLoop func broken(name: String, text: String) async {
        let folder = TemporaryFolder()
        let keeping = await Keeping.start(folder.path)
        keeping.add(1...3)
        keeping.store.finish(keeping.position)
        Self.write(Array(text.utf8), folder.path + "/" + name)
        let next = await Keeping.start(folder.path)
        #expect(next.store.reports.count == 1, "\(next.store.reports)")
        #expect(next.store.reports.first?.contains(".broken") == true)
        #expect(next.numbers == (name == "queue" ? [] : [1, 2, 3]))
        next.add(7...8)
        let numbers = next.numbers
        #expect(await Self.eventually { Self.onTheDisk(folder.path) == numbers })
        #expect(Self.contents(folder.path + "/" + name + ".broken") == Array(text.utf8))
        let last = await Keeping.start(folder.path)
        #expect(last.store.reports.isEmpty && last.numbers == numbers)
    }

    @Test("the place of an earlier version, with its slots in one block, is read, and its slots are apart afterwards")
    @PlayerLoop func earlierPosition() async throws {
        for newest in 0..<2 {
            let folder = TemporaryFolder()
            let keeping = await Keeping.start(folder.path)
            keeping.add(1...3)
            keeping.store.finish(keeping.position)
            var bytes: [UInt8] = []
            for slot in 0..<2 {
                var position = SavedPosition()
                position.item = ItemID(2)
                position.elapsed = slot == newest ? 40.5 : 39.5
                let text = try #require(PositionSlot.encode(position, number: slot == newest ? 900 : 899))
                bytes += text + [UInt8](repeating: 0, count: 4096 - text.count)
            }
            Self.write(bytes, folder.path + "/place")
            // Without the memory of the run before, which is newer.
            let copy = TemporaryFolder()
            for name in ["queue", "place"] {
                Self.write(try #require(Self.contents(folder.path + "/" + name)), copy.path + "/" + name)
            }
            let next = await Keeping.start(copy.path)
            #expect(next.store.reports.isEmpty && next.position.elapsed == 40.5 && next.position.item == ItemID(2))
            next.position.elapsed = 41.5
            next.store.finish(next.position)
            let file = try #require(Self.contents(copy.path + "/place"))
            #expect(file.count == 2 * 65_536)
            let saved = [0, 65_536].compactMap { start in
                file[start..<start + 65_536].withUnsafeBytes { PositionSlot.decode($0)?.position.elapsed }
            }
            #expect(saved == [41.5])
            let last = await Keeping.start(copy.path)
            #expect(last.position.elapsed == 41.5 && last.store.reports.isEmpty)
        }
    }

    @Test("a position that a later version wrote is kept aside as that")
    @PlayerLoop func newerPosition() async {
        let folder = TemporaryFolder()
        let keeping = await Keeping.start(folder.path)
        keeping.add(1...3)
        keeping.store.finish(keeping.position)
        let bytes = Array("NPS2".utf8) + [UInt8](repeating: 0, count: 8188)
        Self.write(bytes, folder.path + "/place")
        let next = await Keeping.start(folder.path)
        #expect(next.store.reports.first?.contains("later version") == true && next.numbers == [1, 2, 3])
        #expect(Self.contents(folder.path + "/place.newer") == bytes)
        next.add(4...4)
        #expect(await Self.eventually { Self.onTheDisk(folder.path) == [1, 2, 3, 4] })
        next.store.finish(next.position)
    }

    @Test("a damage at the end costs the end")
    @PlayerLoop func damagedEnd() async throws {
        let folder = TemporaryFolder()
        let keeping = await Keeping.start(folder.path)
        keeping.add(1...3)
        keeping.store.finish(keeping.position)
        let again = await Keeping.start(folder.path)
        again.add(4...5)
        again.store.finish(again.position)
        var bytes = try #require(Self.contents(folder.path + "/queue"))
        bytes[bytes.count - 3] ^= 0x10
        Self.write(bytes, folder.path + "/queue")
        let next = await Keeping.start(folder.path)
        #expect(next.numbers == [1, 2, 3])
        #expect(next.store.reports.count == 1)
        #expect(await Self.eventually { Self.contents(folder.path + "/queue.broken") == bytes })
        #expect(await Self.eventually { Self.onTheDisk(folder.path) == [1, 2, 3] })
    }

    @Test(
        "a full disk and one that can't be written to: one fault, and all is saved when it can be",
        .enabled(if: geteuid() == 0, "a file system can only be mounted by root"))
    @PlayerLoop func fullDisk() async throws {
        let folder = TemporaryFolder()
        guard mount("tmpfs", folder.path, "tmpfs", 0, "size=256k") == 0 else {
            withKnownIssue("nothing can be mounted here: \(String(cString: strerror(errno)))") { Issue.record() }
            return
        }
        defer { umount2(folder.path, Int32(MNT_DETACH)) }
        let keeping = await Keeping.start(folder.path)
        keeping.add(1...3)
        let numbers = keeping.numbers
        #expect(await Self.eventually { Self.onTheDisk(folder.path) == numbers })
        Self.write([UInt8](repeating: 1, count: 250 << 10), folder.path + "/ballast")
        keeping.add(4...4000)
        #expect(await Self.eventually { keeping.store.fault != nil })
        #expect(Self.onTheDisk(folder.path) == numbers)
        keeping.add(4001...4002)
        // Killed now, nothing is lost.
        #expect(StateLoader.load(folder.path).queue.count == 4002)
        unlink(folder.path + "/ballast")
        keeping.add(4003...4003)
        // It is on the disk a moment before the loop knows.
        #expect(await Self.eventually { Self.onTheDisk(folder.path).count == 4003 && keeping.store.fault == nil })
        #expect(mount("tmpfs", folder.path, "tmpfs", UInt(MS_REMOUNT | MS_RDONLY), "size=256k") == 0)
        keeping.add(4004...4004)
        #expect(await Self.eventually { keeping.store.fault != nil })
        #expect(mount("tmpfs", folder.path, "tmpfs", UInt(MS_REMOUNT), "size=256k") == 0)
        keeping.add(4005...4005)
        #expect(await Self.eventually { Self.onTheDisk(folder.path).count == 4005 })
        keeping.store.finish(keeping.position)
    }
}
