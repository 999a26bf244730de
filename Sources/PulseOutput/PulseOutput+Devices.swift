package import AudioCore
import CPulse
import LinuxSystem
import NowPlaying

extension PulseOutput {
    // MARK: The device in use

    /// Requests the stream's device and the device's abilities. `reason`: the reason for the present device.
    func readDevice(of stream: PulseStream, _ reason: RouteReason? = nil) {
        guard let connection, let handle = stream.stream else { return }
        let index = pa_stream_get_device_index(handle)
        connection.send(
            owner: stream,
            { pa_context_get_sink_info_by_index(connection.context, index, sinkInfoArrived, $0) },
            { [weak self, weak stream] result in
                guard let self, let stream, case .success(let answers) = result else { return }
                guard case .sink(let sink)? = answers.first else { return }
                deviceKnown(sink, of: stream, reason)
            })
    }

    private func described(_ sink: PulseSinkInfo) -> OutputDevice {
        let clock = sink.clock(isPipeWire: server?.isPipeWire == true, all: PulseEnvironment.remembersEveryClock)
        return sink.device(isDefault: sink.name == server?.defaultSink, clock: clock)
    }

    private func deviceKnown(_ sink: PulseSinkInfo, of stream: PulseStream, _ reason: RouteReason?) {
        let known = described(sink)
        stream.deviceKnown(driver: sink.driver, arguments: "")
        guard let connection, sink.driver.holds("null-sink"), sink.ownerModule != UInt32.max else {
            setDevice(known, reason)
            return
        }
        connection.send(
            owner: stream,
            { pa_context_get_module_info(connection.context, sink.ownerModule, moduleInfoArrived, $0) },
            { [weak self, weak stream] result in
                if case .success(let answers) = result, case .module(let arguments)? = answers.first {
                    stream?.deviceKnown(driver: sink.driver, arguments: arguments)
                }
                guard let self, stream?.stream != nil else { return }
                setDevice(known, reason)
            })
    }

    /// Handles a change of a device: for the current one it reads the volume and format again. The stream reports
    /// its suspension.
    func deviceChanged(_ index: UInt32, of stream: PulseStream) {
        guard let connection, let handle = stream.stream, pa_stream_get_device_index(handle) == index else { return }
        connection.send(
            owner: stream,
            { pa_context_get_sink_info_by_index(connection.context, index, sinkInfoArrived, $0) },
            { [weak self] result in
                guard let self, case .success(let answers) = result, case .sink(let sink)? = answers.first else {
                    return
                }
                var known = described(sink)
                guard let device, device.name == known.name else { return }
                known.state = device.state
                setDevice(known)
            })
    }

    // MARK: All devices

    package func listDevices(_ completion: @escaping @PlayerLoop (Result<[ListedOutput], OutputError>) -> Void) {
        if let connection, isConnected {
            DeviceList(connection, completion).ask()
            return
        }
        guard PulseLibrary.open() else { return loop.later { completion(.failure(PulseLibrary.missing)) } }
        // A connection for this request only; the owner decides when to connect for playback.
        let visit = PulseConnection(main, server: address)
        DeviceList(visit) { [loop] result in
            visit.end()
            loop.later { withExtendedLifetime(visit) {} }
            completion(result)
        }.connect(loop)
    }

    package var selectedDevice: String? { wishedSink }
}

/// A request for all devices; its closures retain it until the answer, within a second.
@PlayerLoop private final class DeviceList {
    typealias Completion = @PlayerLoop (Result<[ListedOutput], OutputError>) -> Void
    private let connection: PulseConnection
    private var completion: Completion?
    /// Present if the connection is for this request only.
    private var deadline: EventSource?

    init(_ connection: PulseConnection, _ completion: @escaping Completion) {
        self.connection = connection
        self.completion = completion
    }

    /// Connects first.
    func connect(_ loop: EventLoop) {
        connection.changed = { [self] state in
            switch state {
            case .connecting, .hung: break
            case .ready: ask()
            case .failed(let error): finish(.failure(error))
            }
        }
        deadline = loop.deadline(EventLoop.now.advanced(bySeconds: 1)) { [self] in finish(.failure(.hung)) }
        connection.begin()
    }

    func ask() {
        let context = connection.context
        var defaultSink = ""
        // Answers come in the order of the requests.
        connection.send({ pa_context_get_server_info(context, serverInfoArrived, $0) }) { result in
            if case .success(let answers) = result, case .server(let info)? = answers.last {
                defaultSink = info.defaultSink
            }
        }
        connection.send({ pa_context_get_sink_info_list(context, sinkInfoArrived, $0) }) { [self] result in
            finish(
                result.map { answers in
                    answers.compactMap { answer in
                        guard case .sink(let sink) = answer else { return nil }
                        return ListedOutput(sink.device(isDefault: sink.name == defaultSink), mixer: sink.mixer)
                    }
                })
        }
    }

    private func finish(_ result: Result<[ListedOutput], OutputError>) {
        guard let completion else { return }
        self.completion = nil
        if let deadline {
            deadline.release()
            connection.changed = nil
        }
        completion(result)
    }
}
