import ControlProtocol
import NowPlayingClient

/// Tracks of the library on their way into the queue.
enum Adding {
    /// Items of one request to the daemon.
    private static let page: Int64 = 10_000

    /// Adds the tracks at the place of `--next` or `--at`, and plays them with `--play`.
    static func add(_ run: Invocation, _ selection: Selection, _ place: JSONObject) throws(Failure) {
        var parameters = run.inSession(selection.parameters)
        for member in place.members { parameters[member.name] = member.value }
        _ = try send(run, parameters)
    }

    /// Replaces the queue by the tracks and plays the first. The old items stay until the new ones are there.
    static func play(_ run: Invocation, _ selection: Selection) throws(Failure) {
        var parameters = run.inSession(selection.parameters)
        parameters["at"] = 0
        parameters["play"] = true
        let count = try send(run, parameters)
        while true {
            let rest = try run.call(
                "queue.list", ["offset": .integer(count), "limit": .integer(page), "fields": ["id"]])
            let ids = rest["items"]?.arrayValue?.compactMap { $0["id"] } ?? []
            if ids.isEmpty { break }
            var removal = JSONObject([.init("ids", .array(ids))])
            removal["ifVersion"] = rest["version"]
            _ = try run.call("queue.remove", .object(removal))
        }
        if run.has("--watch") { return try Following(run, isWatching: true).watch() }
        try run.reportStall(state: try run.state().stateName)
    }

    /// Sends the request and returns the number of added items. Throws if there are none.
    private static func send(_ run: Invocation, _ parameters: JSONObject) throws(Failure) -> Int64 {
        var parameters = parameters
        // A request without a condition means all tracks.
        if parameters["filter"] == nil, parameters["list"] == nil { parameters["filter"] = ["all": []] }
        let result: JSONValue
        do throws(Failure) { result = try run.library("library.add", parameters) } catch {
            // Missing files have a message of their own.
            guard error.remote?.reason == "noMatch", error.remote?.data["missing"] == 0 else { throw error }
            guard let list = parameters["list"]?.stringValue else { throw try nothing(run) }
            throw Failure(.noSuchContent, "the list \"\(TerminalText.safe(list))\" has no tracks at present")
        }
        let count = result["count"]?.integerValue ?? 0
        guard count > 0 else { throw try nothing(run) }
        if run.wantsJSON { run.printJSON(result) }
        return count
    }

    /// The failure of a query without results. It says if a scan is in progress or the library is empty.
    static func nothing(_ run: Invocation, _ message: String = "no track of the library matches") throws(Failure)
        -> Failure
    {
        let status = try run.library("library.status")
        if status["scan"]?.objectValue != nil {
            return Failure(.noSuchContent, message + "; a scan is in progress: nowplayingctl library")
        }
        guard status["tracks"]?.integerValue == 0 else { return Failure(.noSuchContent, message) }
        return Failure(.noSuchContent, "the library is empty\nSee its folders: nowplayingctl library")
    }
}
