import CLinux
import ControlProtocol
import Glibc
import LinuxSystem
import NowPlayingClient

/// A second connection to the daemon, for calls of foreign users. It has given up all rights that they lack, so the daemon
/// judges the media that they name. It opens at the first call, and again after the daemon's end.
@PlayerLoop final class RestrictedDaemon {
    private let loop: EventLoop
    private let paths: [String]
    private var connection: NowPlayingClient.Connection?
    private var source: EventSource?
    private var callers: [Int64: @PlayerLoop (JSONValue?) -> Void] = [:]
    /// Calls that wait until the daemon has confirmed that the rights are given up; nil: it has confirmed that.
    private var waiting: [(method: String, parameters: JSONValue, caller: @PlayerLoop (JSONValue?) -> Void)]? = []

    /// Finds the daemon at one of these paths.
    init(_ loop: EventLoop, paths: [String]) {
        self.loop = loop
        self.paths = paths
    }

    /// Calls a method. `caller` gets the whole answer, with `result` or `error`; nil: no daemon is there.
    func call(
        _ method: String, _ parameters: JSONValue, _ caller: @escaping @PlayerLoop (JSONValue?) -> Void
    ) {
        do throws(ClientError) {
            let connection = try opened()
            guard waiting == nil else {
                waiting?.append((method, parameters, caller))
                return
            }
            callers[try connection.request(method, parameters)] = caller
        } catch {
            end()
            caller(nil)
        }
    }

    private func opened() throws(ClientError) -> NowPlayingClient.Connection {
        if let connection { return connection }
        let made = try NowPlayingClient.Connection(firstOf: paths)
        let hello = try made.request("hello", ["client": "nowplaying-mpris", "role": "control"])
        source = loop.watch(made.descriptor, UInt32(EPOLLIN.rawValue)) { [unowned self] _ in serve() }
        connection = made
        waiting = []
        callers[hello] = { [unowned self] answer in
            guard let role = answer?["result"]?["role"]?.stringValue, role != Role.admin.rawValue else { return end() }
            let calls = waiting ?? []
            waiting = nil
            for next in calls { call(next.method, next.parameters, next.caller) }
        }
        return made
    }

    private func serve() {
        guard let connection else { return }
        do throws(ClientError) {
            guard try connection.read() else { return end() }
            while let line = connection.bufferedLine() {
                let answer = try NowPlayingClient.Connection.parse(line)
                guard let id = answer["id"]?.integerValue else { continue }
                callers.removeValue(forKey: id)?(answer)
            }
        } catch { end() }
    }

    private func end() {
        source = nil
        connection = nil
        let unanswered = Array(callers.values) + (waiting ?? []).map(\.caller)
        callers = [:]
        waiting = []
        for caller in unanswered { caller(nil) }
    }
}
