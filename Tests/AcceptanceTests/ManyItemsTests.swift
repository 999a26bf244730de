import ControlProtocol
import Glibc
import TestSupport
import Testing

extension Acceptance {
    /// A queue that is played for weeks, in minutes.
    @Suite(.timeLimit(.minutes(20))) struct ManyItemsTests {
        /// Short files of every kind, with tags.
        private func originals(_ folder: TemporaryFolder) throws -> [String] {
            var result: [String] = []
            let tags = (
                title: "A title that is long enough", artist: "An artist with a name", album: "And an album of some"
            )
            for (rate, channels) in [(44_100, 2), (48_000, 2), (44_100, 1), (96_000, 2)] {
                let material = AudioMaterial.waves(frames: rate / 50, sampleRate: rate, channels: channels)
                let wave = folder.write(material.wave(), "\(rate)-\(channels).wav")
                result.append(wave)
                let name = folder.path("\(rate)-\(channels)")
                let words: [[String]] = [
                    [
                        "flac", "-s", "-f", "-T", "TITLE=\(tags.title)", "-T", "ARTIST=\(tags.artist)", "-T",
                        "ALBUM=\(tags.album)", "-o", name + ".flac", wave,
                    ],
                    ["flac", "-s", "-f", "--ogg", "-T", "TITLE=\(tags.title)", "-o", name + ".oga", wave],
                    ["oggenc", "-Q", "-t", tags.title, "-a", tags.artist, "-l", tags.album, "-o", name + ".ogg", wave],
                    [
                        "opusenc", "--quiet", "--title", tags.title, "--artist", tags.artist, "--album", tags.album,
                        wave,
                        name + ".opus",
                    ],
                    [
                        "ffmpeg", "-y", "-v", "error", "-i", wave, "-metadata", "title=\(tags.title)", "-metadata",
                        "artist=\(tags.artist)", "-metadata", "album=\(tags.album)", "-ar", "44100", name + ".mp3",
                    ],
                    ["ffmpeg", "-y", "-v", "error", "-i", wave, name + ".aiff"],
                ]
                for command in words {
                    try #require(AudioMaterial.run(command[0], Array(command[1...])) == 0, "\(command)")
                    result.append(command.last == wave ? command[command.count - 2] : command.last!)
                }
            }
            return result
        }

        @Test("files of every kind, thousands at night: memory, descriptors and threads stay") func manyItems()
            async throws
        {
            let daemon = await RealDaemon.silent()
            let originals = try originals(daemon.folder)
            let music = daemon.folder.path("music")
            mkdir(music, 0o755)
            let total = repetitions(200, nightly: 10_000)
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
                figure.take(descriptors: daemon.entries("fd"), threads: daemon.entries("task"))
                guard Int(index) % step == 0 else { continue }
                figure.item = Int(index)
                figure.kilobytes = daemon.privateKilobytes
                figures.append(figure)
                figure = Figure()
            }
            if environmentHas("NOWPLAYING_FIGURES") { for figure in figures { print(figure) } }
            try #require(figures.count >= 9, "all of it was played")
            // From here on all that is kept of items is kept.
            let later = figures.filter { $0.item >= 2 * step }
            let memory = later.map(\.kilobytes)
            #expect(memory.max()! - memory.min()! < 1024, "\(figures)")
            // Threads that write the state or look for pictures come and go, with what they have open.
            let descriptors = later.map(\.descriptors.least)
            #expect(descriptors.max()! - descriptors.min()! <= 4, "\(figures)")
            #expect(later.map(\.threads.most).max()! <= 16, "\(figures)")
            guard total >= 10_000 else { return }
            #expect(Set(later.map(\.threads.least)).count == 1, "\(figures)")
        }

        /// What the daemon had between two marks, and its memory at the second.
        private struct Figure {
            var item = 0
            var kilobytes = 0
            var descriptors = (least: Int.max, most: 0)
            var threads = (least: Int.max, most: 0)

            mutating func take(descriptors count: Int, threads number: Int) {
                descriptors = (min(descriptors.least, count), max(descriptors.most, count))
                threads = (min(threads.least, number), max(threads.most, number))
            }
        }
    }
}

extension RealDaemon {
    /// Memory that is its own, in kB.
    fileprivate var privateKilobytes: Int {
        guard let file = fopen("/proc/\(process.pid)/smaps_rollup", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, 256, file) != nil {
            let words = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
                .split(whereSeparator: \.isWhitespace)
            if words.first == "Private_Dirty:" { return Int(words[1]) ?? 0 }
        }
        return 0
    }

    /// How many descriptors (`fd`) or threads (`task`) it has.
    fileprivate func entries(_ name: String) -> Int {
        guard let folder = opendir("/proc/\(process.pid)/\(name)") else { return 0 }
        defer { closedir(folder) }
        var count = -2
        while readdir(folder) != nil { count += 1 }
        return count
    }
}
