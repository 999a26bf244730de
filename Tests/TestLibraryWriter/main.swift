import Glibc
import TestLibraries
import TrackDatabase

// Writes batches of 40 tracks into the database named by its argument, and stands still in the middle of the batch whose
// number is its second argument: it prints a line there and waits for its end.
let batches = CommandLine.arguments.count == 3 ? Int(CommandLine.arguments[2]) ?? 0 : 0
var generator = LibraryGenerator(seed: 3, tracks: 10_000, artists: 20)
let writer = try TrackDatabase(path: CommandLine.arguments[1]).writer()
for number in 0...batches {
    try writer.batch { batch throws(TrackDatabaseError) in
        for index in 0..<40 {
            guard let record = generator.next() else { return }
            try batch.put(record, added: 1)
            if number == batches, index == 20 {
                print("in the middle")
                fflush(nil)
                while true { pause() }
            }
        }
    }
}
