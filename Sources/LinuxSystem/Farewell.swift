import Synchronization

/// Keeps a value whose end takes long, and ends it on another thread: to free a million things takes tens of milliseconds.
package final class Farewell<Value: Sendable>: Sendable {
    private let value: Mutex<Value?>

    /// Keeps this value. The caller drops its own copies before `end`.
    package init(_ value: Value) { self.value = Mutex(value) }

    /// Ends the value on another thread; without one, here.
    package func end() {
        guard !DetachedThread.start("farewell", { self.drop() }) else { return }
        drop()
    }

    private func drop() {
        // Outside the lock, as the end of a value may take long.
        var last = value.withLock { value in
            defer { value = nil }
            return value
        }
        guard last.take() != nil else { return }
        ProgramPages.giveBackHeap()
    }
}
