import AudioCore
import ControlProtocol
import ControlServer
import DaemonConfiguration
import LinuxSystem
import NowPlaying
import PlaybackEngine
import StateKeeping

/// Carries out the methods of outputs.
@PlayerLoop final class OutputMethods {
    private let player: Player
    private let output: any AudioOutput
    private let settings: LiveConfiguration
    /// Keeps the delays; nil: nothing does.
    private let store: StateStore?
    /// True if a client has selected another output than the configured one.
    private(set) var hasChosen = false

    /// Methods about the output of this player.
    init(_ player: Player, _ output: any AudioOutput, _ settings: LiveConfiguration, _ store: StateStore?) {
        self.player = player
        self.output = output
        self.settings = settings
        self.store = store
    }

    /// `output.list`.
    func list(_ answer: @escaping Answer) {
        output.listDevices { [player] result in
            switch result {
            case .failure(let error): answer(.failure(.deviceNotFound(error.message)))
            case .success(let devices):
                let delays = player.outputDelays
                let chosen = devices.first { $0.device.name == player.currentOutput }
                let current = (chosen ?? devices.first(where: \.device.isDefault))?.device.name
                let list = devices.map {
                    Self.describe(
                        $0, isCurrent: $0.device.name == current, delay: delays.delay(of: $0.device.name))
                }
                answer(.success(["outputs": .array(list)]))
            }
        }
    }

    private static func describe(_ listed: ListedOutput, isCurrent: Bool, delay: Double) -> JSONValue {
        let device = listed.device
        var members = [
            JSONObject.Member("name", .string(device.name)),
            JSONObject.Member("description", .string(device.description)),
            JSONObject.Member("state", .string(device.state.rawValue)),
            JSONObject.Member("default", .bool(device.isDefault)),
            JSONObject.Member("current", .bool(isCurrent)),
            JSONObject.Member("delay", .number(delay)),
        ]
        if let format = device.format {
            members.append(JSONObject.Member("sampleRate", .integer(Int64(format.sampleRate))))
            members.append(JSONObject.Member("channels", .integer(Int64(format.channels.count))))
        }
        if let mixer = listed.mixer {
            members.append(JSONObject.Member("volume", .number((mixer.volume * 1000).rounded() / 1000)))
            members.append(JSONObject.Member("muted", .bool(mixer.isMuted)))
        }
        if let server = device.server {
            let value: JSONValue = ["host": .string(server.host), "port": .integer(Int64(server.port))]
            members.append(JSONObject.Member("server", value))
        }
        return .object(JSONObject(members))
    }

    /// `output.delay.set`: of an output that the server knows at this moment, or that has a delay.
    func setDelay(_ request: MethodRequest, _ answer: @escaping Answer) {
        let name = request.string("name") ?? ""
        let delay = request.double("delay") ?? 0
        let delays = player.outputDelays
        let set: @PlayerLoop () -> Void = { [self] in
            guard delays.set(delay, of: name) else {
                return answer(
                    .failure(.commandFailed(.tooMany, "\(OutputDelays.limit) outputs have a delay already")))
            }
            store?.keep(delays: delays.kept)
            player.outputDelaysChanged(by: request.client.originator)
            answer(.success(["name": .string(name), "delay": .number(delay)]))
        }
        if delays.kept[name] != nil { return set() }
        output.listDevices { result in
            switch result {
            case .failure(let error): answer(.failure(.deviceNotFound(error.message)))
            case .success(let devices):
                guard devices.contains(where: { $0.device.name == name }) else {
                    return answer(.failure(Self.noOutput(name)))
                }
                set()
            }
        }
    }

    /// Follows a change of outputs that the session `main` has made.
    func follow(_ request: MethodRequest) {
        guard request.method == .other(.outputSelect), let name = request.string("name") else {
            return player.outputDelaysChanged(by: request.client.originator)
        }
        output.selectDevice(named: name)
        player.outputSelected(name)
    }

    private static func noOutput(_ name: String) -> RPCError {
        .deviceNotFound(
            "there is no output “\(PrintableText.escaped(name, limit: 200))”; output.list lists the outputs")
    }

    /// `output.select`: takes only what the server knows at this moment.
    func select(_ request: MethodRequest, _ answer: @escaping Answer) {
        let name = request.string("name") ?? ""
        output.listDevices { [weak self] result in
            guard let self else { return }
            switch result {
            case .failure(let error): answer(.failure(.deviceNotFound(error.message)))
            case .success(let devices):
                guard devices.contains(where: { $0.device.name == name }) else {
                    return answer(.failure(Self.noOutput(name)))
                }
                output.selectDevice(named: name)
                player.outputSelected(name)
                hasChosen = name != settings.current.sink
                answer(.success(["name": .string(name)]))
            }
        }
    }
}
