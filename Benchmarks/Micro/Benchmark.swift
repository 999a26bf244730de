/// A thing that happens often, or that must not grow with the queue.
struct Benchmark: Sendable {
    /// Its name in the baseline; what stands behind `@` is the number of items in the queue.
    let name: String
    /// Makes what it needs, and returns what does the thing so many times. What that returns depends on all of them, so that
    /// none can be left out by the compiler.
    let prepare: @Sendable () -> (Int) -> Int

    /// All, in the order of the report.
    static let all = lines + samples + [timeline, transport] + queues
}
