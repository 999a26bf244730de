import ControlProtocol
import LinuxSystem
import MPDProtocol

/// The songs of a stored playlist, written as they arrive.
@PlayerLoop final class ListAnswer: AnswerStream {
    private let feed: PageFeed
    private let names: SongNames
    private let window: Range<Int>
    private let write: @PlayerLoop (LibrarySong, inout AnswerWriter) -> Void
    private var rows = RowQueue()
    /// Number of songs so far.
    private var passed = 0

    /// Writes the songs of a feed that are in the window, each by `write`.
    init(
        _ feed: PageFeed, _ client: MPDClient, _ names: SongNames, _ window: Range<Int>,
        _ write: @escaping @PlayerLoop (LibrarySong, inout AnswerWriter) -> Void
    ) {
        self.feed = feed
        self.names = names
        self.window = window
        self.write = write
        feed.onPage = { [weak client] in client?.proceed() }
    }

    func write(_ writer: inout AnswerWriter) -> AnswerProgress {
        guard passed < window.upperBound else { return .ends(.ok) }
        if rows.isEmpty {
            switch feed.take() {
            case nil: return .waits
            case .failed(let failure)?: return .ends(.failed(failure))
            case .end?: return .ends(.ok)
            case .rows(let page, _)?: rows.put(page)
            // The library sends lists only as rows.
            case .text?: return .more
            }
        }
        rows.turn { row in
            guard let song = LibrarySong(row, names) else { return true }
            if passed >= window.lowerBound { write(song, &writer) }
            passed += 1
            return passed < window.upperBound
        }
        return rows.isEmpty ? .more : .pauses
    }
}
