import ControlProtocol
import Glibc
import NowPlayingClient

/// How a run of a hook ended.
struct HookResult {
    /// What it was run for.
    var event: String
    /// When it began, in Unix time.
    var wall: Double
    /// How long it took, in seconds.
    var seconds: Double
    /// How it ended.
    var end: End
    /// The end of what it printed.
    var output: [UInt8]

    /// How a program can end.
    enum End: Equatable {
        case exited(Int32)
        case killed(Int32)
        /// It took longer than it may.
        case timedOut
        /// It was not run at all, for this reason.
        case refused(String)
    }

    /// The end by wait(2)'s status.
    static func end(_ status: Int32) -> End {
        status & 0x7F == 0 ? .exited(status >> 8 & 0xFF) : .killed(status & 0x7F)
    }

    var isSuccess: Bool { end == .exited(0) }

    /// In words that follow the hook's name.
    var words: String {
        switch end {
        case .exited(let status): "ended with status \(status)"
        case .killed(let signal): "was ended by signal \(signal)"
        case .timedOut: "took longer than it may and was ended"
        case .refused(let reason): reason
        }
    }

    /// As the control socket tells it.
    func json(withOutput: Bool) -> JSONValue {
        var object = JSONObject([
            .init("event", .string(event)), .init("wall", .number(wall)), .init("seconds", .number(seconds)),
            .init("success", .bool(isSuccess)), .init("words", .string(words)),
        ])
        if withOutput { object["output"] = .string(String(decoding: output, as: UTF8.self)) }
        if case .exited(let status) = end { object["status"] = .integer(Int64(status)) }
        if case .killed(let signal) = end { object["signal"] = .integer(Int64(signal)) }
        return .object(object)
    }
}
