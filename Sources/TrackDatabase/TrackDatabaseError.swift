import NowPlaying

/// Failure of the library's database.
package enum TrackDatabaseError: Error, Equatable, Sendable {
    /// SQLite finds its file damaged. `TrackDatabase.setAside` makes room for a new one.
    case damaged(String)
    /// A newer program created it.
    case newerVersion(found: Int, known: Int)
    /// The file is a database of another program.
    case foreign
    /// It can't be opened, read or written; in words.
    case failed(String)
    /// Another process writes for longer than the timeout.
    case busy
    /// The disk is full.
    case full
    /// A query took longer than its time limit; `reason` names the cause.
    case tooSlow(seconds: Double, reason: String)
    /// An unknown filter, sort order or name in one of them; `nearest`: the most similar valid name.
    case invalid(String, nearest: String?)
    /// A cursor of another query.
    case invalidCursor

    /// In words: the failure, its cause and a remedy.
    package var message: String {
        switch self {
        case .damaged(let reason): "the database of the library is damaged: \(reason)"
        case .newerVersion(let found, let known):
            "the database of the library has version \(found), and this program knows versions up to \(known): "
                + "install the newer program again, or remove the database, which the next scan builds anew"
        case .foreign:
            "the file is a database of another program: name another state directory, or move the file away"
        case .failed(let reason): "the database of the library can't be used: \(reason)"
        case .busy: "another process writes to the database of the library for too long: end it, or try again"
        case .full: "the disk with the database of the library is full: make room on it"
        case .tooSlow(let seconds, let reason):
            "the query took longer than \(Text.number(seconds)) s and was ended: \(reason)"
        case .invalid(let message, let nearest): message + (nearest.map { "; did you mean “\($0)”?" } ?? "")
        case .invalidCursor: "“after” is not a cursor of this query: begin again without it"
        }
    }

    /// The error for a result code of SQLite, with SQLite's text.
    init(code: Int32, _ words: @autoclosure () -> String) {
        switch code & 0xFF {
        case 11, 26: self = .damaged(words())
        case 5, 6: self = .busy
        case 13: self = .full
        case 8: self = .failed("it is read-only: the disk or the file is write-protected")
        case 14: self = .failed("cannot open the file: check the permissions of the state directory")
        default: self = .failed("\(words()) (SQLite \(code))")
        }
    }
}

/// Numbers for messages.
enum Text {
    /// A number, without decimals if it is whole.
    static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int64(clamping: value)) : String(value)
    }
}
