import LinuxSystem
import MPDProtocol

/// The store of stickers on a thread beside the loop, with one question at a time: a slow disk delays nothing but stickers.
@PlayerLoop final class StickerThread {
    private let workers: Workers
    private var waiting = FairQueue<@PlayerLoop () -> Void>()
    private var isBusy = false
    private let place = StickerPlace()

    /// A thread whose answers return on this loop. It opens the store at the first question.
    init(_ loop: EventLoop) {
        workers = Workers(loop, name: "sticker")
        // The first work makes the signal of the thread, for which there may be no descriptor later.
        workers.submit {
        } _: {
        }
    }

    /// Asks the store when it is the source's turn, and calls `done` with its answer.
    func ask<Answer: Sendable>(
        _ source: PeerSource, _ question: @escaping @Sendable (StickerStore) throws(MPDFailure) -> Answer,
        _ done: @escaping @PlayerLoop (Result<Answer, MPDFailure>) -> Void
    ) {
        let place = place
        waiting.put(
            { [self] in
                workers.submit {
                    place.ask(question)
                } _: { [self] answer in
                    isBusy = false
                    begin()
                    done(answer)
                }
            }, of: source)
        begin()
    }

    private func begin() {
        guard !isBusy, let next = waiting.take() else { return }
        isBusy = true
        next.element()
    }
}

/// Holder of the store, for one thread at a time.
private final class StickerPlace: @unchecked Sendable {
    /// Opened at the first question.
    private var store: StickerStore?

    /// The store's answer to a question, or the reason for which the store cannot be opened.
    func ask<Answer>(
        _ question: (StickerStore) throws(MPDFailure) -> Answer
    ) -> Result<Answer, MPDFailure> {
        do throws(MPDFailure) { return .success(try question(try opened())) } catch { return .failure(error) }
    }

    private func opened() throws(MPDFailure) -> StickerStore {
        if let store { return store }
        guard let folder = StickerStore.folder() else {
            throw MPDFailure(.system, "there is no folder for stickers: set HOME or XDG_STATE_HOME")
        }
        let made = try StickerStore(folder: folder)
        store = made
        return made
    }
}
