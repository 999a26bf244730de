import Glibc

/// Bounds that the kernel holds us to.
enum Limits {
    /// Most memory, in bytes: libraries and their tables take a quarter of it.
    private static let memory: UInt = 768 << 20
    /// Most time of the processor, in seconds: a stream that plays for weeks is connected anew then.
    private static let processor: UInt = 6 * 3600

    /// Sets them for good.
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
