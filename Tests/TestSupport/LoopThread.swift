import LinuxSystem
import NowPlaying

/// The player's loop on a thread of its own, once per test process: a process has one such loop, tests have many threads.
///
/// After `start`, code marked `@PlayerLoop` runs there; a test function may itself be `@PlayerLoop` and `async`.
package enum LoopThread {
    private static let started: Bool = DetachedThread.start("loop") {
        _ = PlayerLoop.run { _ in }
    }

    /// Starts the loop's thread if there is none yet. Call it before anything is awaited on `PlayerLoop`.
    package static func start() { precondition(started, "no thread can be had for the player's loop") }

    /// Runs `body` on the loop and returns its result.
    package static func run<T: Sendable>(_ body: @PlayerLoop @Sendable () throws -> T) async rethrows -> T {
        start()
        return try await body()
    }
}

extension LoopThread {
    /// Returns when the loop has turned this many times, so that deferred work is done.
    @PlayerLoop package static func turns(_ count: Int) async {
        for _ in 0..<count {
            await withCheckedContinuation { continuation in EventLoop.current.later { continuation.resume() } }
        }
    }
}

extension LoopThread {
    /// Returns after this time; to choose a moment, never to wait for something to have happened.
    @PlayerLoop package static func wait(seconds: Double) async {
        var deadline: EventSource?
        await withCheckedContinuation { continuation in
            deadline = EventLoop.current.deadline(EventLoop.now.advanced(bySeconds: seconds)) { continuation.resume() }
        }
        deadline?.release()
    }
}
