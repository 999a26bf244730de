import CLinux
package import LinuxSystem
import NowPlaying

/// Collects the changes of folders until they pause for a moment, so that a file is read after it is complete.
@PlayerLoop package final class ChangeCollector {
    private let loop: EventLoop
    private let watch: FolderWatch
    private let handler: @PlayerLoop (FolderWatch.News) -> Void
    private var source: EventSource?
    private var collected = FolderWatch.News()
    /// Time of the first waiting change; nil: none waits.
    private var since: MonotonicTime?
    private var due: EventSource?

    /// Seconds without a change after which the changes are delivered.
    package static let rest = 0.5
    /// Most seconds from the first change to its delivery.
    package static let patience = 1.5

    /// Calls `handler` on the loop with the changes of `watch`, while the object lives.
    package init(_ loop: EventLoop, _ watch: FolderWatch, _ handler: @escaping @PlayerLoop (FolderWatch.News) -> Void) {
        self.loop = loop
        self.watch = watch
        self.handler = handler
        source = loop.watch(watch.descriptor, UInt32(EPOLLIN.rawValue)) { [unowned self] _ in collect() }
    }

    isolated deinit {
        source?.release()
        due?.release()
    }

    private func collect() {
        let news = watch.take()
        guard !news.isEmpty else { return }
        collected.folders.formUnion(news.folders)
        collected.isIncomplete = collected.isIncomplete || news.isIncomplete
        let now = EventLoop.now
        let first = since ?? now
        since = first
        let end = min(now.advanced(bySeconds: Self.rest), first.advanced(bySeconds: Self.patience))
        due = loop.deadline(end) { [unowned self] in deliver() }
    }

    private func deliver() {
        due = nil
        since = nil
        let news = collected
        collected = FolderWatch.News()
        handler(news)
    }
}
