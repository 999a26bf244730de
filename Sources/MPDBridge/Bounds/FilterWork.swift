import LinuxSystem

/// The threads on which queries test songs. One of them is left for the bridge's own user.
@PlayerLoop final class FilterWork {
    private let workers: Workers
    private var waiting = FairQueue<@PlayerLoop () -> Void>()
    private var running = 0
    private var others = 0

    /// Maximum threads, and maximum threads for all sources but the bridge's own user.
    private static let most = 2
    private static let mostOfOthers = 1

    /// Threads whose results return on this loop.
    init(_ loop: EventLoop) {
        workers = Workers(loop, name: "filter")
        // The first work makes the signal of the threads, for which there may be no descriptor later.
        workers.submit {
        } _: {
        }
    }

    /// Does `work` on a thread when it is the source's turn, and `done` on the loop with its result.
    func submit<Result: Sendable>(
        _ source: PeerSource, _ work: @escaping @Sendable () -> Result, _ done: @escaping @PlayerLoop (Result) -> Void
    ) {
        waiting.put(
            { [self] in
                workers.submit(work) { [self] result in
                    running -= 1
                    if !source.isOwn { others -= 1 }
                    done(result)
                    begin()
                }
            }, of: source)
        begin()
    }

    private func begin() {
        while running < Self.most, let next = waiting.take({ $0.isOwn || others < Self.mostOfOthers }) {
            running += 1
            if !next.source.isOwn { others += 1 }
            next.element()
        }
    }
}
