import Synchronization

/// Keeps a value and releases it on another thread: to free a million objects takes tens of milliseconds.
package final class Farewell<Value: Sendable>: Sendable {
    private let value: Mutex<Value?>

    /// Keeps this value. The caller drops its own copies before `end`.
    package init(_ value: Value) { self.value = Mutex(value) }

    /// Releases the value on another thread; if there is none, on this one.
    package func end() {
        guard !DetachedThread.start("farewell", { self.drop() }) else { return }
        drop()
    }

    private func drop() {
        // Outside the lock, as the release of a value may take long.
        var last = value.withLock { value in
            defer { value = nil }
            return value
        }
        guard last.take() != nil else { return }
        ProgramPages.giveBackHeap()
    }
}
