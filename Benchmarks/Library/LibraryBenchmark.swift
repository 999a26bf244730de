import Glibc
import TestLibraries
import TrackDatabase

/// Makes databases of generated libraries, and measures them.
/// - `librarybenchmark make FILE TRACKS ARTISTS` makes one; with a FOLDER as well it makes its files there, which have no
///   content, and the word `ids` gives each track five MusicBrainz ids.
/// - `librarybenchmark measure FILE` prints one line for each figure: its name, value and unit, parted by tabs.
enum LibraryBenchmark {
    /// Carries out what the arguments say; ends the program where they say nothing.
    static func run(_ arguments: [String]) {
        do {
            switch arguments.dropFirst().first {
            case "make" where (5...6).contains(arguments.count):
                guard let tracks = Int(arguments[3]), let artists = Int(arguments[4]) else { usage() }
                let last = arguments.count == 6 ? arguments[5] : nil
                try make(
                    arguments[2], LibraryGenerator(seed: 1, tracks: tracks, artists: artists, hasIds: last == "ids"),
                    last.flatMap { $0 == "ids" ? nil : EmptyFiles($0) })
            case "measure" where arguments.count == 3: try Measurement(path: arguments[2]).run()
            default: usage()
            }
        } catch let error as TrackDatabaseError {
            print(error.message)
            exit(1)
        } catch {
            print("\(error)")
            exit(1)
        }
    }

    private static func usage() -> Never {
        print("usage: librarybenchmark make FILE TRACKS ARTISTS [FOLDER | ids] | measure FILE")
        exit(2)
    }

    private static func make(_ path: String, _ generator: LibraryGenerator, _ files: EmptyFiles?) throws {
        let writer = try TrackDatabase(path: path).writer()
        var (generator, files) = (generator, files)
        var done = 0
        var isLast = false
        let begun = ContinuousClock.now
        while !isLast {
            var records: [TrackRecord] = []
            while records.count < 1000, var record = generator.next() {
                if files != nil, files?.make(&record) != true { fail("make the file of a track") }
                records.append(record)
            }
            isLast = records.count < 1000
            try writer.batch { [records] batch throws(TrackDatabaseError) in
                for record in records {
                    try batch.put(record, added: Double(1_700_000_000 + done / 10))
                    done += 1
                }
            }
        }
        let written = ContinuousClock.now
        try writer.optimize()
        Measurement.report("tracks written a second", Double(done) / (begun.duration(to: written) / .seconds(1)), "/s")
        Measurement.report("indices optimized", written.duration(to: .now) / .seconds(1), "s")
    }

    private static func fail(_ what: String) -> Never {
        print("cannot \(what): \(String(cString: strerror(errno)))")
        exit(1)
    }
}
