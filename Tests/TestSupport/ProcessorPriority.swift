import Glibc

/// Priority of this process among those that want a processor.
package enum ProcessorPriority {
    /// Lets the threads of this process, and the programs that it starts from now on, run before other busy ones (nice(2) of
    /// -15, about 28 times the share of a usual process). A measured answer then costs what the programs make of it, whatever
    /// else the machine does. Without the right to do so (CAP_SYS_NICE) it changes nothing.
    package static func raise() {
        guard let folder = opendir("/proc/self/task") else { return }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let thread = id_t(name) { setpriority(__priority_which_t(PRIO_PROCESS.rawValue), thread, -15) }
        }
    }
}
