import ControlProtocol
import Glibc
import TestSupport
import Testing

extension Acceptance {
    /// A queue that is played for weeks, in minutes.
    @Suite(.timeLimit(.minutes(40))) struct ManyItemsTests {
        @Test("files of every kind, thousands at night: memory, descriptors and threads stay")
        func manyItems() async throws {
            let later = try await figures(ShortFiles.own, total: repetitions(200, nightly: 10_000))
            #expect(later.allSatisfy { $0.children == 0 }, "\(later)")
        }

        @Test(
            "files that a child decodes, thousands at night: no child, descriptor or byte stays behind",
            .enabled(if: RealDaemon.hasDecodeProgram, "nowplaying-decode is not built"))
        func manyForeignItems() async throws {
            let later = try await figures(ShortFiles.foreign, total: repetitions(40, nightly: 10_000))
            // The one that plays, the next one, and those that are just ending.
            #expect(later.map(\.children).max()! <= 6, "\(later)")
        }

        /// Plays this number of items at full speed. Returns the daemon's resources after each tenth except the first two.
        private func figures(_ files: ShortFiles, total: Int) async throws -> [Figure] {
            // The reader of titles is a child that comes and goes: its own tests count it.
            let daemon = await RealDaemon.silent(readsTitles: false)
            let originals = try files.write(into: daemon.folder)
            let music = daemon.folder.path("music")
            mkdir(music, 0o755)
            let step = total / 10
            for number in 0..<total {
                let original = originals[number % originals.count]
                let ending = original.split(separator: ".").last ?? ""
                link(original, "\(music)/\(100_000 + number).\(ending)")
            }
            let client = daemon.connect()
            client.call("nowPlaying.subscribe")
            client.call("queue.add", ["items": [.string(music)], "play": true])
            #expect(client.event("play")["queue"]?["count"]?.integerValue == Int64(total))
            var figures: [Figure] = []
            var figure = Figure()
            while true {
                let state = client.event("track", "stop")
                guard state["cause"] == "track", let index = state["queue"]?["index"]?.integerValue else { break }
                figure.take(daemon.belongings)
                guard Int(index) % step == 0 else { continue }
                figure.item = Int(index)
                figures.append(figure)
                figure = Figure()
            }
            if environmentHas("NOWPLAYING_FIGURES") { for figure in figures { print(figure) } }
            try #require(figures.count >= 9, "all of it was played")
            // From here on all that is kept of items is kept.
            let later = figures.filter { $0.item >= 2 * step }
            let memory = later.map(\.kilobytes)
            #expect(memory.max()! - memory.min()! < 1024, "\(figures)")
            // Threads that write the state or search pictures come and go, with their open files.
            let descriptors = later.map(\.descriptors.least)
            #expect(descriptors.max()! - descriptors.min()! <= 4, "\(figures)")
            #expect(later.map(\.threads.most).max()! <= 16, "\(figures)")
            // Nothing plays any more, so nothing is left of the children.
            #expect(becomes { daemon.children.isEmpty }, "\(daemon.children)")
            if total >= 10_000 {
                // The one that writes the state may be there at every look between two marks, or not.
                let threads = later.map(\.threads.least)
                #expect(threads.max()! - threads.min()! <= 1, "\(figures)")
            }
            #expect(daemon.stop() == 0)
            return later
        }

        /// The daemon's resources between two marks, and its memory at the second.
        private struct Figure {
            var item = 0
            var kilobytes = 0
            var descriptors = (least: Int.max, most: 0)
            var threads = (least: Int.max, most: 0)
            var children = 0

            mutating func take(_ had: ProcessFigures) {
                descriptors = (min(descriptors.least, had.descriptors), max(descriptors.most, had.descriptors))
                threads = (min(threads.least, had.threads), max(threads.most, had.threads))
                children = max(children, had.children)
                kilobytes = had.memory
            }
        }
    }
}
