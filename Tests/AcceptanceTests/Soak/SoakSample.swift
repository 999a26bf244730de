/// What the programs of a household had when all was quiet.
struct SoakSample {
    /// Items that had begun, and events that had been told.
    let tracks: Int
    let events: Int
    /// Seconds since the beginning, of the tester's clock and of the daemon's.
    let seconds: Double
    let played: Double
    /// By name, the daemon first.
    let figures: [(name: String, of: ProcessFigures)]
    /// Voluntary context switches of the daemon in a second of rest, and those of its loop in all that went before.
    let restingSwitches: Int
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
                    Campaign.text(sample.seconds / 60), Campaign.text(each), "\(sample.restingSwitches)",
                ]
                + sample.figures.map {
                    "\($0.of.descriptors), \($0.of.threads), \($0.of.children), \($0.of.memory) (\($0.of.proportional))"
                }
            return "| " + columns.joined(separator: " | ") + " |"
        }.joined(separator: "\n")
    }

    /// In what the last third of some samples is more than the third before it; empty: in nothing. `growth`: KiB by which the
    /// memory of a process may have grown.
    static func growth(of samples: [SoakSample], allowing growth: Int) -> [String] {
        var found: [String] = []
        for sample in samples where sample.restingSwitches > 0 {
            found.append("the daemon wakes \(sample.restingSwitches) times in a second of rest")
        }
        let third = samples.count / 3
        guard third > 0, let names = samples.last?.figures.map(\.name) else { return found }
        for (place, name) in names.enumerated() {
            let before = samples.dropFirst(third).dropLast(third).map { $0.figures[place].of }
            let after = samples.suffix(third).map { $0.figures[place].of }
            for (what, figure, more) in [
                ("descriptors", \ProcessFigures.descriptors, 0), ("threads", \.threads, 0), ("children", \.children, 0),
                ("KiB of its own", \.memory, growth),
            ] {
                let (most, last) = (before.map { $0[keyPath: figure] }.max()!, after.map { $0[keyPath: figure] }.max()!)
                if last > most + more { found.append("\(name) has \(last) \(what), not \(most)") }
            }
        }
        return found
    }
}
