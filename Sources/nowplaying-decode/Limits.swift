import Glibc

/// Resource limits that the kernel enforces on this process.
enum Limits {
    /// Maximum bytes of memory: libraries and their tables take a quarter of it.
    private static let memory: UInt = 768 << 20
    /// Maximum seconds of processor time: then a stream that plays for weeks is reconnected.
    private static let processor: UInt = 6 * 3600

    /// Sets the limits permanently.
    static func set(_ profile: Profile) {
        set(RLIMIT_CORE, 0)
        set(RLIMIT_AS, memory)
        set(RLIMIT_CPU, processor)
        set(RLIMIT_FSIZE, 0)
        set(RLIMIT_NOFILE, profile == .file ? 16 : 64)
    }

    private static func set(_ resource: __rlimit_resource, _ value: UInt) {
        var limit = rlimit(rlim_cur: value, rlim_max: value)
        setrlimit(__rlimit_resource_t(resource.rawValue), &limit)
    }
}
