import ControlProtocol
import LinuxSystem
import MPDProtocol
import NowPlayingClient

/// Commands for outputs: one device of the sound server is enabled at a time.
@PlayerLoop final class OutputDesk: CommandDesk {
    private let mirror: PlayerMirror
    private let daemon: DaemonCalls
    private let outputs: OutputTable

    /// The devices of this table, at the daemon of this mirror.
    init(_ mirror: PlayerMirror, _ daemon: DaemonCalls, _ outputs: OutputTable) {
        self.mirror = mirror
        self.daemon = daemon
        self.outputs = outputs
    }

    func perform(_ request: MPDRequest, for client: MPDClient, _ finish: @escaping Finish) throws(MPDFailure) {
        let arguments = request.arguments
        let number = try arguments.first?.count()
        let delay = request.command == .outputset ? try Self.delay(arguments) : nil
        outputs.list(mirror) { [weak self, weak client] result in
            guard let self else { return }
            switch result {
            case .failure(let failure): finish(.failed(failure))
            case .success(let outputs):
                guard let number else {
                    if let client { write(outputs, client) }
                    return finish(.ok)
                }
                guard let output = outputs.first(where: { $0.number == number }) else {
                    return finish(.failed(MPDFailure(.noExist, "No such audio output")))
                }
                guard let client else { return finish(.ok) }
                change(request.command, output, delay, client, finish)
            }
        }
    }

    private func change(
        _ command: MPDCommand, _ output: OutputTable.Output, _ delay: Double?,
        _ client: MPDClient, _ finish: @escaping Finish
    ) {
        switch command {
        case .enableoutput where output.isCurrent: finish(.ok)
        case .disableoutput where !output.isCurrent: finish(.ok)
        case .enableoutput,
            .toggleoutput where !output.isCurrent:
            daemon.call("output.select", ["name": .string(output.name)], for: client, finish)
        case .outputset:
            daemon.call(
                "output.delay.set", ["name": .string(output.name), "delay": .number(delay ?? 0)], for: client, finish)
        case _:
            finish(
                .failed(
                    MPDFailure(.system, "one output is always enabled: enable another one, and this one is disabled")))
        }
    }

    private func write(_ outputs: [OutputTable.Output], _ client: MPDClient) {
        for output in outputs {
            client.write { $0.pair("outputid", output.number) }
            client.write { $0.pair("outputname", output.title) }
            client.write { $0.pair("plugin", "pulse") }
            client.write { $0.pair("outputenabled", output.isCurrent) }
            guard output.delay > 0 else { continue }
            client.write { $0.pair("attribute", "delay=\(MPDNumbers.milliseconds(output.delay))") }
        }
    }

    private static func delay(_ arguments: [Argument]) throws(MPDFailure) -> Double {
        guard arguments[1].text == "delay" else { throw MPDFailure(.argument, "Unsupported attribute") }
        let seconds = try arguments[2].seconds()
        guard seconds <= 10 else { throw MPDFailure(.argument, "Number too large: \(arguments[2].text)") }
        return seconds
    }
}
