import Glibc
import TestLibraries
import TrackDatabase

/// Measures the library's database with a generated library: `librarybenchmark make FILE TRACKS ARTISTS` makes it,
/// `librarybenchmark measure FILE` prints one line for each figure: its name, value and unit, parted by tabs;
/// `librarybenchmark first FILE` answers one question and ends.
enum LibraryBenchmark {
    /// Carries out what the arguments say; ends the program where they say nothing.
    static func run(_ arguments: [String]) {
        do {
            switch arguments.dropFirst().first {
            case "make" where arguments.count == 5:
                try make(arguments[2], Int(arguments[3]) ?? 0, Int(arguments[4]) ?? 0)
            case "measure" where arguments.count == 3: try Measurement(path: arguments[2]).run()
            case "first" where arguments.count == 3:
                let reader = try TrackDatabase(path: arguments[2]).reader()
                print(try reader.query(TrackQuery(limit: 10)).rows.count)
            default:
                print("usage: librarybenchmark make FILE TRACKS ARTISTS | measure FILE | first FILE")
                exit(2)
            }
        } catch let error as TrackDatabaseError {
            print(error.message)
            exit(1)
        } catch {
            print("\(error)")
            exit(1)
        }
    }

    private static func make(_ path: String, _ tracks: Int, _ artists: Int) throws {
        let writer = try TrackDatabase(path: path).writer()
        var generator = LibraryGenerator(seed: 1, tracks: tracks, artists: artists)
        var done = 0
        let begun = ContinuousClock.now
        while done < tracks {
            try writer.batch { batch throws(TrackDatabaseError) in
                for _ in 0..<1000 {
                    guard let record = generator.next() else { return }
                    try batch.put(record, added: Double(1_700_000_000 + done / 10))
                    done += 1
                }
            }
        }
        let written = ContinuousClock.now
        try writer.optimize()
        Measurement.report(
            "tracks written a second", Double(tracks) / (begun.duration(to: written) / .seconds(1)), "/s")
        Measurement.report("indices optimized", written.duration(to: .now) / .seconds(1), "s")
    }
}
