import ControlProtocol
import NowPlayingClient

/// `library loudness`: shows how far the library has measured files without loudness tags, and pauses or resumes that.
enum LoudnessMeasuring {
    /// `library loudness [pause|resume]`.
    static func run(_ run: Invocation, _ word: Word?) throws(Failure) {
        switch word?.text {
        case nil: try show(run)
        case "pause": try set(run, paused: true)
        case "resume": try set(run, paused: false)
        case let text?: throw run.wrong("library loudness", text, "pause or resume")
        }
    }

    private static func show(_ run: Invocation) throws(Failure) {
        var loudness = try run.library("library.status")["loudness"] ?? .null
        // Without it, the library is older or shows this user only a part; its answer to the method shows which.
        if loudness.objectValue == nil {
            do throws(Failure) { loudness = try call(run, JSONObject()) } catch {
                guard error.status == .denied else { throw error }
                throw Failure(.denied, hidden)
            }
        }
        guard loudness["state"]?.stringValue != nil else { throw Failure(.denied, hidden) }
        if run.wantsJSON { return run.printJSON(loudness) }
        for line in LoudnessText.lines(loudness) { run.output.line(line) }
    }

    private static let hidden =
        "the library shows this user only a part of it, without its loudness; its own user and root see all"

    private static func set(_ run: Invocation, paused: Bool) throws(Failure) {
        let result = try call(run, JSONObject([.init("paused", .bool(paused))]))
        if run.wantsJSON { run.printJSON(result) }
    }

    private static func call(_ run: Invocation, _ parameters: JSONObject) throws(Failure) -> JSONValue {
        do throws(Failure) { return try run.library("library.loudness", parameters) } catch {
            guard error.remote?.code == -32601 else { throw error }
            let control = ServiceControl(socket: try run.library().path)
            var failure = error
            failure.message =
                "the library that runs is older than nowplayingctl, and does not measure loudness\n"
                + "After an update, restart it: \(control.command) restart nowplaying-library"
            throw failure
        }
    }
}
