import ControlProtocol
import Glibc
import NowPlayingClient

/// Result of a run of a hook.
struct HookResult {
    /// Event of the run.
    var event: String
    /// Start of the run, in Unix time.
    var wall: Double
    /// Duration in seconds.
    var seconds: Double
    /// End of the program.
    var end: End
    /// The last bytes of its output.
    var output: [UInt8]

    /// Possible ends of a program.
    enum End: Equatable {
        case exited(Int32)
        case killed(Int32)
        /// It exceeded its timeout.
        case timedOut
        /// It did not run, for this reason.
        case refused(String)
    }

    /// The end that a status of wait(2) describes.
    static func end(_ status: Int32) -> End {
        status & 0x7F == 0 ? .exited(status >> 8 & 0xFF) : .killed(status & 0x7F)
    }

    var isSuccess: Bool { end == .exited(0) }

    /// In words that follow the hook's name.
    var words: String {
        switch end {
        case .exited(let status): "ended with status \(status)"
        case .killed(let signal): "was killed by signal \(signal)"
        case .timedOut: "exceeded its timeout and was killed"
        case .refused(let reason): reason
        }
    }

    /// The result for the control socket.
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
