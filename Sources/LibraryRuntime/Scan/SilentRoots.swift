import LinuxSystem

/// Roots whose disks do not answer. Work that is blocked in such a disk is abandoned, and a separate thread checks
/// until the disk answers again.
@PlayerLoop final class SilentRoots {
    private let roots: [RootNames.Root]
    private let answered: @PlayerLoop (Int) -> Void
    private let workers: Workers
    private var silent: Set<Int> = []
    /// Roots that block each abandoned work, by its number.
    private var held: [Int: Set<Int>] = [:]
    /// Running checks, by their roots. A check of a disk that never returns does not end.
    private var looks: [Int: Int] = [:]
    private var lookNumber = 0
    private var patience: [Int: Double] = [:]

    /// Reason for clients.
    nonisolated static let reason = "its disk does not answer; it is scanned when it does"
    /// Seconds that the first call may take.
    private static let firstPatience = 5.0
    private static let longestPatience = 600.0

    /// All disks answer. `answered` is called when a disk answers again.
    init(_ loop: EventLoop, _ roots: [RootNames.Root], _ answered: @escaping @PlayerLoop (Int) -> Void) {
        self.roots = roots
        self.answered = answered
        workers = Workers(loop, name: "disks")
    }

    /// Indices of the roots that do not answer.
    var indices: Set<Int> { silent }

    /// Seconds that a call into the disk of a root may take. They grow with each failure, so that even a disk that
    /// needs a minute for a bad block is read completely in the end.
    func patience(of root: Int) -> Double { patience[root] ?? Self.firstPatience }

    /// Notes that calls into the disks of these roots block the work of this number.
    func add(_ stuck: Set<Int>, heldWork number: Int) {
        silent.formUnion(stuck)
        held[number] = stuck
        for root in stuck { patience[root] = min(Self.longestPatience, patience(of: root) * 2) }
    }

    /// Blocked work has ended: its calls have returned.
    func ended(_ number: Int) {
        guard let roots = held.removeValue(forKey: number) else { return }
        let others = held.values.reduce(into: Set<Int>()) { $0.formUnion($1) }
        for root in roots.subtracting(others).sorted() { answers(root) }
    }

    /// Checks the roots that do not answer. `isAnew`: mounts have changed, so a running check may be of a disk that is
    /// gone.
    func look(isAnew: Bool) {
        for root in silent.sorted() where isAnew || looks[root] == nil {
            lookNumber += 1
            let (number, path) = (lookNumber, self.roots[root])
            looks[root] = number
            workers.submit {
                if let found = try? ScanRoot(path, index: root) { found.look() }
            } _: { [weak self] in
                guard let self, looks[root] == number else { return }
                looks[root] = nil
                answers(root)
            }
        }
    }

    private func answers(_ root: Int) {
        guard silent.remove(root) != nil else { return }
        looks[root] = nil
        answered(root)
    }
}
