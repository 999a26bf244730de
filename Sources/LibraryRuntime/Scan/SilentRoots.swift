import LinuxSystem

/// Roots whose disks do not answer. Work that one of their calls holds is left to itself, and a thread of its own looks if the
/// disk answers again.
@PlayerLoop final class SilentRoots {
    private let roots: [RootNames.Root]
    private let answered: @PlayerLoop (Int) -> Void
    private let workers: Workers
    private var silent: Set<Int> = []
    /// Roots that each abandoned work waits for, by its number.
    private var held: [Int: Set<Int>] = [:]
    /// Looks under way, by their roots. A look at a disk that is gone for good never ends.
    private var looks: [Int: Int] = [:]
    private var lookNumber = 0
    private var patience: [Int: Double] = [:]

    /// Reason that clients see.
    nonisolated static let reason = "its disk does not answer; it is scanned when it does"
    /// Seconds that a call may take at first.
    private static let firstPatience = 5.0
    private static let longestPatience = 600.0

    /// All answer. `answered` is called when one answers again.
    init(_ loop: EventLoop, _ roots: [RootNames.Root], _ answered: @escaping @PlayerLoop (Int) -> Void) {
        self.roots = roots
        self.answered = answered
        workers = Workers(loop, name: "disks")
    }

    /// Indices of the roots that do not answer.
    var indices: Set<Int> { silent }

    /// Seconds that a call into the disk of a root may take. It grows with each failure: a disk that needs a minute for a bad
    /// block is read to its end at last.
    func patience(of root: Int) -> Double { patience[root] ?? Self.firstPatience }

    /// The work of this number is held by calls into the disks of these roots.
    func add(_ stuck: Set<Int>, heldWork number: Int) {
        silent.formUnion(stuck)
        held[number] = stuck
        for root in stuck { patience[root] = min(Self.longestPatience, patience(of: root) * 2) }
    }

    /// Work that was held has ended: its calls have returned.
    func ended(_ number: Int) {
        guard let roots = held.removeValue(forKey: number) else { return }
        let others = held.values.reduce(into: Set<Int>()) { $0.formUnion($1) }
        for root in roots.subtracting(others).sorted() { answers(root) }
    }

    /// Looks at the roots that do not answer. `isAnew`: mounts have changed, so that a look under way may be at a disk that is
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
