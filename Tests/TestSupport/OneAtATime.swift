import Synchronization
package import Testing

/// Trait of suites that play, record or measure: of all of them in the process only one runs at any time. Others of another
/// kind may still run beside it.
package struct OneAtATime: SuiteTrait, TestScoping {
    /// Continuations that wait for the turn; nil: it is free.
    private static let waiting = Mutex<[CheckedContinuation<Void, Never>]?>(nil)

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        await withCheckedContinuation { continuation in
            let isFree = Self.waiting.withLock { waiting in
                if waiting == nil {
                    waiting = []
                    return true
                }
                waiting?.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
        defer {
            let next = Self.waiting.withLock { waiting in
                if waiting?.isEmpty == true { waiting = nil }
                return waiting?.isEmpty == false ? waiting?.removeFirst() : nil
            }
            next?.resume()
        }
        try await function()
    }
}

extension Trait where Self == OneAtATime {
    /// Runs the suite while no other suite of this trait runs.
    package static var oneAtATime: OneAtATime { OneAtATime() }
}
