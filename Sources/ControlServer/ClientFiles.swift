import LinuxSystem

/// Open files that clients have handed over, until they are closed: with a line that waits, at a request that is prepared, or
/// as items of a queue. The files of foreign users are few enough that connections and media find free descriptors.
@PlayerLoop final class ClientFiles {
    private let mostOfForeigner: Int
    private let mostOfForeigners: Int
    private let ofForeigners = DescriptorTally()
    private var tallies: [MemoryHolder: DescriptorTally] = [:]

    /// No files, of a process that may have this number of descriptors.
    init(limit: Int) {
        mostOfForeigner = min(1024, limit / 8)
        mostOfForeigners = min(2048, limit / 4)
    }

    /// The files with these numbers, which become the result's. Empty: they are closed, as the user has too many.
    func own(_ numbers: [Int32], for holder: MemoryHolder) -> [OwnedDescriptor] {
        guard case .foreigner(let user) = holder else { return numbers.map { OwnedDescriptor($0) } }
        let tally = tallies[holder] ?? DescriptorTally(in: ofForeigners)
        tallies = tallies.filter { $0.value.count > 0 }
        tallies[holder] = tally
        let files = numbers.map { OwnedDescriptor($0, in: tally) }
        guard tally.count <= mostOfForeigner, ofForeigners.count <= mostOfForeigners else {
            Log.warning(
                "closed open files that a client of user \(user) handed over: \(tally.count) of this user are open",
                oncePerMinute: "files of \(user)", now: EventLoop.now)
            return []
        }
        return files
    }
}
