import Glibc
import TestSupport

/// Activity in the programs of a household: the voluntary context switches of each thread.
struct SoakMotion {
    /// By program, then by the thread's number.
    private let threads: [String: [String: (name: String, switches: Int)]]
    private let children: Int

    /// Permanent threads of the daemon: all others end after their work.
    private static let lasting: Set<String> = ["nowplayingd", "decode", "children"]

    /// Reads the activity of these programs so far.
    init(_ processes: [(name: String, process: TestProcess)]) {
        var threads: [String: [String: (name: String, switches: Int)]] = [:]
        for (name, process) in processes { threads[name] = ProcessFigures.threads(of: process.pid) }
        self.threads = threads
        children = processes.first.map { ProcessFigures.children(of: $0.process.pid).count } ?? 0
    }

    /// True if the daemon has no work.
    var isIdle: Bool { children == 0 && Self.lasting.isSuperset(of: (threads["daemon"] ?? [:]).values.map(\.name)) }

    /// By how much each thread of a program has moved since, in words; one that is new or gone has moved, too. Empty: nothing.
    func moved(_ program: String, since before: SoakMotion) -> [String] {
        let (then, now) = (before.threads[program] ?? [:], threads[program] ?? [:])
        var words: [String] = []
        for (number, thread) in now.sorted(by: { $0.key < $1.key }) {
            guard let old = then[number] else {
                words.append("\(thread.name) is new")
                continue
            }
            if thread.switches != old.switches { words.append("\(thread.name) +\(thread.switches - old.switches)") }
        }
        for (number, thread) in then.sorted(by: { $0.key < $1.key }) where now[number] == nil {
            words.append("\(thread.name) is gone")
        }
        return words
    }

    /// The same of all programs, each with its name.
    func moved(since before: SoakMotion) -> [String] {
        threads.keys.sorted().flatMap { name in moved(name, since: before).map { "\(name): \($0)" } }
    }

    /// The daemon's work, as text.
    var work: String {
        let names = (threads["daemon"] ?? [:]).values.map(\.name).sorted().joined(separator: ", ")
        return "\(children) children, threads \(names)"
    }
}

extension Soak {
    /// Waits until nothing has moved for the time in the plan, and the daemon has no working thread. Returns the daemon's
    /// activity in the rest after that, in words. Nil: the daemon did not come to rest, which is a fault.
    func motionAtRest() -> [String]? {
        let first = SoakMotion(household.processes)
        var (before, quiet) = (first, 0)
        let needed = Int((plan.quiet / 0.2).rounded(.up))
        for _ in 0..<200 where quiet < needed {
            usleep(200_000)
            let current = SoakMotion(household.processes)
            quiet = current.isIdle && current.moved(since: before).isEmpty ? quiet + 1 : 0
            before = current
        }
        guard quiet >= needed else {
            let kinds = ProcessFigures(household.daemon.process.pid, withMemory: false).kinds
            fault(
                "the daemon does not come to rest in 40 s: \(before.moved(since: first)), \(before.work), "
                    + "descriptors \(kinds.sorted { $0.key < $1.key }.map { "\($0.value) × \($0.key)" })")
            return nil
        }
        usleep(UInt32(plan.rest * 1_000_000))
        return SoakMotion(household.processes).moved("daemon", since: before)
    }
}
