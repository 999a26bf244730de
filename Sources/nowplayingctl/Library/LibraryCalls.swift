import ControlProtocol
import Glibc
import NowPlayingClient

/// Requests to the library.
extension Invocation {
    /// Maximum rows of a page of the library.
    private static let page = 1000
    /// Seconds for an answer of the library. The library itself ends a query after 5 seconds.
    private static let libraryPatience = 30.0

    /// Calls a method of the library and waits for its result.
    func library(_ method: String, _ parameters: JSONObject = JSONObject()) throws(Failure) -> JSONValue {
        let seconds = try timeout() ?? Invocation.libraryPatience
        let connection = try library()
        do { return try connection.call(method, .object(parameters), within: seconds) } catch {
            guard case .refused(let failure) = error else { throw Failure(library: error) }
            throw Failure(failure)
        }
    }

    /// Calls a method of the library and prints its result only with `--json`.
    func performLibrary(_ method: String, _ parameters: JSONObject) throws(Failure) {
        let result = try library(method, parameters)
        if wantsJSON { printJSON(result) }
    }

    /// Reads the pages of a method with rows, at most `limit` rows, and passes the rows to `take`. With `--json`, returns the
    /// last answer with all rows as `rows`.
    @discardableResult
    func libraryPages(
        _ method: String, _ parameters: JSONObject, limit: Int? = nil, _ take: ([JSONValue]) -> Void
    ) throws(Failure) -> JSONValue {
        var parameters = parameters
        var rest = limit ?? Int.max
        var all: [JSONValue] = []
        while true {
            parameters["limit"] = .integer(Int64(min(rest, Invocation.page)))
            let result = try library(method, parameters)
            let rows = (result["rows"]?.arrayValue ?? []).prefix(rest)
            rest -= rows.count
            if wantsJSON { all += rows } else { take(Array(rows)) }
            guard let next = result["next"], next != .null, !rows.isEmpty, rest > 0 else {
                guard wantsJSON, case .object(var whole) = result else { return result }
                whole["rows"] = .array(all)
                whole["next"] = nil
                return .object(whole)
            }
            parameters["after"] = next
        }
    }

    /// A number of `--limit`; nil: the option is not given.
    func limit() throws(Failure) -> Int? {
        guard let text = value("--limit") else { return nil }
        guard let number = ClockText.integer(text), number >= 1 else { throw wrong("--limit", text, "a number from 1") }
        return number
    }

    /// `--sort`: fields with commas, each with a minus sign for a falling order; nil: the option is not given.
    func sort() -> JSONValue? {
        value("--sort").map { text in
            let names = text.split(separator: ",").map { word in
                let isFalling = word.hasPrefix("-")
                return (isFalling ? "-" : "") + Invocation.sortName(String(isFalling ? word.dropFirst() : word))
            }
            return .array(names.map(JSONValue.string))
        }
    }

    private static func sortName(_ word: String) -> String {
        switch word {
        case "path", "file": "uri"
        case "random-albums": "randomAlbums"
        default: LibraryTags.name(WireName.camel(word))
        }
    }

    /// Adds a member for the session of `--session`.
    func inSession(_ parameters: JSONObject) -> JSONObject {
        var parameters = parameters
        if let session = value("--session") { parameters["session"] = .string(session) }
        return parameters
    }

    /// The present Unix time in seconds.
    var wallClock: Double {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
    }
}
