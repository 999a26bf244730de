import Glibc
import TestSupport

/// Resources of a process at an instant.
struct ProcessFigures {
    /// Open descriptors.
    let descriptors: Int
    /// Number of descriptors of each kind: `socket`, `eventfd`, the path of a file.
    let kinds: [String: Int]
    let threads: Int
    /// Processes that it started and that are there.
    let children: Int
    /// KiB that are its own and no file's.
    let memory: Int
    /// KiB by its share of every page.
    let proportional: Int
    /// Voluntary context switches of its first thread so far.
    let wakeups: Int

    /// Those of a process that runs; zeros if it does not. Memory takes the kernel a millisecond to count.
    init(_ process: pid_t, withMemory: Bool = true) {
        let tasks = Self.entries("/proc/\(process)/task")
        let targets = Self.targets(of: process)
        descriptors = targets.count
        kinds = Dictionary(targets.map { (Self.kind(of: $0), 1) }, uniquingKeysWith: +)
        threads = tasks.count
        children = Self.children(of: process).count
        var memory: [String: Int] = [:]
        if withMemory {
            for line in Self.words("/proc/\(process)/smaps_rollup") where line.count > 1 {
                memory[line[0]] = Int(line[1])
            }
        }
        self.memory = memory["Pss_Anon:"] ?? 0
        proportional = memory["Pss:"] ?? 0
        let switches = Self.words("/proc/\(process)/status").first { $0.first == "voluntary_ctxt_switches:" }
        wakeups = switches?.last.flatMap { Int($0) } ?? 0
    }

    /// Figures by their numbers.
    init(
        descriptors: Int, kinds: [String: Int] = [:], threads: Int, children: Int = 0, memory: Int, proportional: Int
    ) {
        self.descriptors = descriptors
        self.kinds = kinds
        self.threads = threads
        self.children = children
        self.memory = memory
        self.proportional = proportional
        wakeups = 0
    }

    /// Kind of a descriptor with this target: without the number that makes a socket unique.
    private static func kind(of target: String) -> String {
        guard !target.hasPrefix("/") else { return target }
        let words = target.split { ":[]".contains($0) }.filter { Int($0) == nil && $0 != "anon_inode" }
        return words.joined(separator: " ")
    }

    /// Name and voluntary context switches so far of each thread of a process, by its number.
    static func threads(of process: pid_t) -> [String: (name: String, switches: Int)] {
        var threads: [String: (name: String, switches: Int)] = [:]
        for task in entries("/proc/\(process)/task") {
            let lines = words("/proc/\(process)/task/\(task)/status")
            // One that has ended meanwhile has no lines.
            guard let name = lines.first(where: { $0.first == "Name:" })?.last,
                let switches = lines.first(where: { $0.first == "voluntary_ctxt_switches:" })?.last.flatMap({ Int($0) })
            else { continue }
            threads[task] = (name, switches)
        }
        return threads
    }

    /// Targets of a process's descriptors, with the kernel's names, in no order: the path of a file, `socket:[123]`.
    static func targets(of process: pid_t) -> [String] {
        entries("/proc/\(process)/fd").compactMap { name in
            var target = [CChar](repeating: 0, count: 4096)
            // One that is closed meanwhile leads nowhere.
            let length = readlink("/proc/\(process)/fd/\(name)", &target, target.count)
            guard length > 0 else { return nil }
            return String(decoding: target.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }

    /// The processes that a process started and that are there still, by their numbers.
    static func children(of process: pid_t) -> [pid_t] {
        entries("/proc/\(process)/task").flatMap { task in
            words("/proc/\(process)/task/\(task)/children").joined().compactMap { pid_t($0) }
        }
    }

    private static func entries(_ path: String) -> [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }

    /// The words of each line.
    private static func words(_ path: String) -> [[String]] {
        guard let file = fopen(path, "r") else { return [] }
        defer { fclose(file) }
        var lines: [[String]] = []
        var line = [CChar](repeating: 0, count: 1024)
        while fgets(&line, 1024, file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            lines.append(text.split(whereSeparator: \.isWhitespace).map(String.init))
        }
        return lines
    }
}

extension RealDaemon {
    /// Its resources now.
    var belongings: ProcessFigures { ProcessFigures(process.pid) }

    /// The processes that it started and that are there still, by their numbers.
    var children: [pid_t] { ProcessFigures.children(of: process.pid) }
}
