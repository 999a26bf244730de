import ControlProtocol
import LinuxSystem
import MPDProtocol

/// The cursor at the end of a client's last window: many clients read a result window by window.
struct WindowPlace: Equatable, Sendable {
    let question: SongQuestion
    /// Number of songs before the cursor.
    let songs: Int
    /// The library's `after`; nil: the beginning.
    let after: String?
}

/// The songs of a query, written as they arrive.
@PlayerLoop final class SongAnswer: AnswerStream {
    private let question: SongQuestion
    private let link: ClientLink
    private let names: SongNames
    private let range: Range<Int>
    private let write: @PlayerLoop (LibrarySong, inout AnswerWriter) -> Void
    private let text: SongText?
    /// Nil: every song of the condition matches.
    private let test: RowTest?
    private weak var client: MPDClient?
    private let atEnd: @PlayerLoop (WindowPlace) -> Void
    private var feed: PageFeed?
    /// Number of passed songs.
    private var passed: Int
    /// The cursor of the present page.
    private var begin: (songs: Int, after: String?)
    /// Rows of that page that were not written yet, and the cursor after it.
    private var rows = RowQueue()
    private var behind: String?
    /// True while the answer passes rows before the range without their fields.
    private var isSkipping = false

    /// Rows of the first page: few, so that the first line comes at once.
    private static let first = 24
    /// A field that few songs have, so its rows are short.
    private static let nothing: JSONValue = ["chapterCount"]

    /// The songs of a query in this range. `test`: the test of the question's filter, if it has one. `place`: cursor to start from. `text`: form in which the library itself writes songs
    /// that the bridge need not test. `atEnd` gets the cursor of the end.
    init(
        _ question: SongQuestion, _ link: ClientLink, _ names: SongNames, _ range: Range<Int>, _ client: MPDClient,
        test: RowTest?, from place: WindowPlace? = nil, as text: SongText? = nil,
        atEnd: @escaping @PlayerLoop (WindowPlace) -> Void = { _ in },
        _ write: @escaping @PlayerLoop (LibrarySong, inout AnswerWriter) -> Void
    ) {
        self.question = question
        self.test = test
        self.link = link
        self.names = names
        self.range = range
        self.client = client
        self.text = text
        self.atEnd = atEnd
        self.write = write
        let known = place.flatMap { $0.question == question && $0.songs <= range.lowerBound ? $0 : nil }
        passed = known?.songs ?? 0
        begin = (passed, known?.after)
        open()
    }

    /// Requests rows from the present cursor on. Rows of an exact condition before the range need no fields.
    private func open() {
        let isExact = question.filter == nil
        isSkipping = isExact && passed < range.lowerBound
        let form: SongQuestion.Form =
            if isSkipping { .rows(Self.nothing) } else if isExact, let text { .text(text.lines) } else {
                .rows(LibrarySong.fields)
            }
        let most = isSkipping ? range.lowerBound - passed : isExact ? range.upperBound - passed : .max
        let made = PageFeed(
            link, "library.query", question.parameters(form), after: begin.after.map { .string($0) },
            most: max(0, most),
            first: isSkipping ? min(10_000, max(1, most)) : Self.first, test: test)
        made.onPage = { [weak self] in self?.client?.proceed() }
        feed = made
    }

    func write(_ writer: inout AnswerWriter) -> AnswerProgress {
        guard passed < range.upperBound else { return ends() }
        guard rows.isEmpty else { return judge(&writer) }
        switch feed?.take() {
        case nil: return .waits
        case .failed(let failure)?:
            // The library may have refused the cursor, so the next window begins at the first song.
            atEnd(WindowPlace(question: question, songs: 0, after: nil))
            return .ends(.failed(failure))
        case .end?:
            guard isSkipping, passed == range.lowerBound, begin.after != nil else { return ends() }
            open()
            return .more
        case .rows(let page, let after)?:
            behind = after
            guard !isSkipping else {
                passed += page.count
                begin = (passed, after)
                if passed == range.lowerBound, after != nil { open() }
                return .more
            }
            rows.put(page)
            return judge(&writer)
        case .text(let lines, let count, let after)?:
            passed += count
            begin = (passed, after)
            text?.write(lines, &writer)
            return .more
        }
    }

    private func ends() -> AnswerProgress {
        // There is no cursor after the last song, and without a cursor the library begins at the first song.
        atEnd(WindowPlace(question: question, songs: begin.after == nil ? 0 : begin.songs, after: begin.after))
        return .ends(.ok)
    }

    private func judge(_ writer: inout AnswerWriter) -> AnswerProgress {
        rows.turn { row in
            guard let song = LibrarySong(row, names) else { return true }
            if passed >= range.lowerBound { write(song, &writer) }
            passed += 1
            return passed < range.upperBound
        }
        let isFull = passed >= range.upperBound
        guard rows.isEmpty || isFull else { return .pauses }
        rows.removeAll()
        // The next window begins at the page with the last song of the range.
        if !isFull || question.filter == nil { begin = (passed, behind) }
        return .more
    }
}
