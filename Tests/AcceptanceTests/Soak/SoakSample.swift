/// Resources of a household's programs at rest.
struct SoakSample {
    /// Numbers of begun items and of events.
    let tracks: Int
    let events: Int
    /// Seconds since the beginning, of the tester's clock and of the daemon's.
    let seconds: Double
    let played: Double
    /// By name, the daemon first.
    let figures: [(name: String, of: ProcessFigures)]
    /// Threads of the daemon that moved at rest, as text, and the voluntary context switches of its loop in all that went
    /// before.
    let moved: [String]
    let wakeups: Int

    /// The heads of the columns of `rows`.
    static func head(_ names: [String]) -> String {
        let columns =
            ["items", "events", "hours of its clock", "minutes", "wakeups an item", "at rest"]
            + names.map { "\($0): descriptors, threads, children, own KiB (PSS)" }
        return "| " + columns.joined(separator: " | ") + " |\n|" + String(repeating: "---|", count: columns.count)
    }

    /// The rows of a table of samples, in their order.
    static func rows(_ samples: [SoakSample]) -> String {
        var before = (tracks: 0, wakeups: 0)
        return samples.map { sample in
            let each = Double(sample.wakeups - before.wakeups) / Double(max(1, sample.tracks - before.tracks))
            before = (sample.tracks, sample.wakeups)
            let columns =
                [
                    "\(sample.tracks)", "\(sample.events)", Campaign.text(sample.played / 3600),
                    Campaign.text(sample.seconds / 60), Campaign.text(each),
                    sample.moved.isEmpty ? "0" : sample.moved.joined(separator: ", "),
                ]
                + sample.figures.map {
                    "\($0.of.descriptors), \($0.of.threads), \($0.of.children), \($0.of.memory) (\($0.of.proportional))"
                }
            return "| " + columns.joined(separator: " | ") + " |"
        }.joined(separator: "\n")
    }

    /// Allowed growth in the last third of some samples over the third before it.
    struct Allowance {
        /// KiB of the memory of a process.
        var memory: Int
        /// Descriptors and threads that are made when they are first needed, and stay.
        var descriptors = 0
        var threads = 0
    }

    /// Resources of which the last third of some samples has more than the third before it, by more than `allowed`; and
    /// activity at rest. Empty: there is none. The maximum counts for own resources. The median counts for the share of shared
    /// pages, which grows when other processes end, and twice as much is allowed.
    static func growth(of samples: [SoakSample], allowing allowed: Allowance) -> [String] {
        var found: [String] = []
        for sample in samples where !sample.moved.isEmpty {
            found.append(
                "at rest after \(sample.tracks) items the daemon moves: \(sample.moved.joined(separator: ", "))")
        }
        let third = samples.count / 3
        guard third > 0, let names = samples.last?.figures.map(\.name) else { return found }
        for (place, name) in names.enumerated() {
            let before = samples.dropLast(third).suffix(third).map { $0.figures[place].of }
            let after = samples.suffix(third).map { $0.figures[place].of }
            for (what, figure, more) in [
                ("descriptors", \ProcessFigures.descriptors, allowed.descriptors),
                ("threads", \.threads, allowed.threads),
                ("children", \.children, 0), ("KiB of its own", \.memory, allowed.memory),
            ] {
                let (most, last) = (before.map { $0[keyPath: figure] }.max()!, after.map { $0[keyPath: figure] }.max()!)
                guard last > most + more else { continue }
                let culprits = figure == \.descriptors ? newKinds(before, after) : []
                found.append((["\(name) has \(last) \(what), not \(most)"] + culprits).joined(separator: "; "))
            }
            let (then, now) = (median(before.map(\.proportional)), median(after.map(\.proportional)))
            if now > then + 2 * allowed.memory { found.append("\(name) has \(now) KiB by its share, not \(then)") }
        }
        return found
    }

    /// The kinds of descriptors of which there are more: `eventfd 9, not 8`.
    private static func newKinds(_ before: [ProcessFigures], _ after: [ProcessFigures]) -> [String] {
        let kinds = Set(after.flatMap(\.kinds.keys)).sorted()
        let most = { (figures: [ProcessFigures], kind: String) in figures.map { $0.kinds[kind] ?? 0 }.max() ?? 0 }
        return kinds.filter { most(after, $0) > most(before, $0) }.map {
            "\($0) \(most(after, $0)), not \(most(before, $0))"
        }
    }

    private static func median(_ numbers: [Int]) -> Int { numbers.sorted()[numbers.count / 2] }
}
