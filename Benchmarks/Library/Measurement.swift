import Glibc
import TestLibraries
import TrackDatabase

/// The figures of one database.
struct Measurement {
    private let path: String
    private let database: TrackDatabase
    private let reader: TrackReader

    init(path: String) throws {
        self.path = path
        database = try TrackDatabase(path: path)
        // On a busy machine seconds of the clock say nothing.
        reader = try database.reader(timeLimit: 600)
    }

    /// Prints one figure.
    static func report(_ name: String, _ value: Double, _ unit: String) {
        print("\(name)\t\((value * 1000).rounded() / 1000)\t\(unit)")
    }

    /// Measures all of them.
    func run() throws {
        var status = stat()
        if stat(path, &status) == 0 { Self.report("database", Double(status.st_size) / 1e6, "MB") }
        Self.report("memory at rest", memory(), "MB")
        for letters in [1, 2, 3, 8] { try search(letters) }
        try searchWords()
        try values()
        try visibleValues()
        try queries()
        try walk()
        reader.rest()
        Self.report("memory at rest afterwards", memory(), "MB")
    }

    /// Milliseconds that `body` takes; with NOWPLAYING_BENCHMARK_PROCESSOR=1 those of the processor, for busy machines.
    private func time(_ body: () throws -> Void) rethrows -> Double {
        let begun = now()
        try body()
        return now() - begun
    }

    private func now() -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) / 1e6
    }

    private let clock = getenv("NOWPLAYING_BENCHMARK_PROCESSOR") == nil ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID

    private func report(_ name: String, _ times: [Double]) {
        let sorted = times.sorted()
        Self.report("\(name), p50", sorted[sorted.count / 2], "ms")
        Self.report("\(name), p99", sorted[min(sorted.count - 1, sorted.count * 99 / 100)], "ms")
    }

    /// Pieces of texts of the library, as people type them: beginnings of words, and for 3 and 8 letters any part.
    private func search(_ letters: Int) throws {
        var numbers = SeededNumbers(seed: UInt64(letters))
        var wanted: [String] = []
        let total = Int(try reader.summary().tracks)
        while wanted.count < 300 {
            guard let track = try reader.track(Int64(1 + numbers.number(below: total))) else { continue }
            let texts = [TrackTag.title, .artist, .album].compactMap { track.record.tags[$0]?.first }
            let text = Array(texts[numbers.number(below: texts.count)])
            let start = letters < 3 ? 0 : numbers.number(below: max(1, text.count - letters + 1))
            guard text.count >= start + letters else { continue }
            wanted.append(String(text[start..<(start + letters)]))
        }
        var times: [(Double, String)] = []
        for text in wanted { times.append((try time { _ = try reader.search(text) }, text)) }
        report("search of \(letters) letters", times.map(\.0))
        if getenv("WORST") != nil { print(times.sorted { $0.0 > $1.0 }.prefix(8)) }
    }

    /// A word of a track's artist and one of its title, each as far as people type before they look.
    private func searchWords() throws {
        var numbers = SeededNumbers(seed: 77)
        var times: [Double] = []
        var slowest: (Double, String) = (0, "")
        let total = Int(try reader.summary().tracks)
        while times.count < 300 {
            guard let track = try reader.track(Int64(1 + numbers.number(below: total))) else { continue }
            let parts = [TrackTag.artist, .title].compactMap { tag -> String? in
                let words = track.record.tags[tag]?.first?.split(separator: " ") ?? []
                return words.isEmpty ? nil : String(words[numbers.number(below: words.count)])
            }
            guard parts.count == 2 else { continue }
            let text = parts[0] + " " + parts[1].prefix(2 + numbers.number(below: 6))
            times.append(try time { _ = try reader.search(text) })
            if let last = times.last, last > slowest.0 { slowest = (last, text) }
        }
        report("search of an artist's and a title's word", times)
        if getenv("WORST") != nil { print(slowest) }
    }

    private func values() throws {
        var count = 0
        let took = try time {
            var after: String?
            repeat {
                let page = try reader.values(ValuesQuery(tag: .artist, limit: 1000, after: after))
                count += page.rows.count
                after = page.next
            } while after != nil
        }
        Self.report("artists", Double(count), "")
        Self.report("all pages of the artists", took, "ms")
    }

    /// The artists as another user gets them, who may see half of the folders.
    private func visibleValues() throws {
        let root = Array("Music".utf8)
        let folders = try reader.scan.folders(in: root)
        reader.show(folders.prefix(folders.count / 2).map { root + [UInt8(ascii: "/")] + $0 })
        Self.report(
            "first page of the artists of half of the folders",
            try time { _ = try reader.values(ValuesQuery(tag: .artist, limit: 1000)) }, "ms")
        reader.show(nil)
    }

    private func queries() throws {
        var numbers = SeededNumbers(seed: 5)
        let total = Int(try reader.summary().tracks)
        var albums: [Double] = []
        var filters: [Double] = []
        var sorted: [Double] = []
        let order = TrackSort.keys([SortKey(.number(.discNumber)), SortKey(.number(.trackNumber))])
        let sorts: [[SortKey]] = [
            [SortKey(.tag(.artist)), SortKey(.tag(.album)), SortKey(.number(.trackNumber))],
            [SortKey(.tag(.title))], [SortKey(.time(.added), isFalling: true)],
            [SortKey(.tag(.date), isFalling: true), SortKey(.tag(.album))],
        ]
        for round in 0..<200 {
            guard let track = try reader.track(Int64(1 + numbers.number(below: total))), let album = track.album else {
                continue
            }
            albums.append(
                try time { _ = try reader.query(TrackQuery(filter: .album(album), sort: order)) })
            let genre = track.record.tags[.genre]?.first ?? ""
            let year = track.record.tags[.date]?.first ?? ""
            let filter = TrackFilter.all([
                .test(.tag(.genre), .is(genre)), .test(.tag(.date), .atLeast(year)),
                .test(.number(.duration), .numberAtLeast(180)),
            ])
            let query = TrackQuery(filter: filter, sort: .keys(sorts[round % sorts.count]), limit: 100)
            filters.append(try time { _ = try reader.query(query) })
            if getenv("WORST") != nil { print("\(filters.last ?? 0) \(round % 4) \(genre) \(year)") }
            let artist = track.record.tags[.artist]?.first ?? ""
            let own = TrackFilter.all([
                .test(.tag(.artist), .is(artist)), .test(.tag(.title), .contains("love")), .test(.codec, .is("flac")),
            ])
            sorted.append(try time { _ = try reader.query(TrackQuery(filter: own, sort: .keys(sorts[round % 4]))) })
        }
        report("one album", albums)
        report("filter of three tests, genre, year and length", filters)
        report("filter of three tests, artist, title and codec", sorted)
    }

    private func walk() throws {
        for (name, sort) in [
            ("", TrackSort.keys([])), (" by artist", .keys([SortKey(.tag(.artist)), SortKey(.tag(.album))])),
            (" by title", .keys([SortKey(.tag(.title))])), (" shuffled", .random(seed: 4)),
        ] {
            var pages: [Double] = []
            var rows = 0
            var after: String?
            repeat {
                pages.append(
                    try time {
                        let page = try reader.query(TrackQuery(sort: sort, limit: 1000, after: after))
                        after = page.next
                        rows += page.rows.count
                    })
            } while after != nil
            Self.report("walk\(name) of \(rows) rows", pages.reduce(0, +) / 1000, "s")
            let first = pages.prefix(20).sorted()
            let last = pages.dropLast().suffix(20).sorted()
            Self.report("walk\(name), last pages to first", last[last.count / 2] / first[first.count / 2], "")
            Self.report("memory while walking\(name)", memory(), "MB")
        }
    }

    /// Memory of the process, its own and its share of what it has with others (PSS), in MB.
    private func memory() -> Double {
        guard let file = fopen("/proc/self/smaps_rollup", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, 256, file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if text.hasPrefix("Pss:"), let number = text.split(separator: " ").dropFirst().first {
                return (Double(number) ?? 0) / 1000
            }
        }
        return 0
    }
}
