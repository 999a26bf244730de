import AudioCore
import CPulse
import LinuxSystem
import NowPlaying

/// Moves of our streams to other devices, by other programs or after the loss of a device.
extension PulseOutput {
    /// Handles a move of the stream by the server: finds the reason, then reports it with the device.
    func streamMoved(_ stream: PulseStream) {
        guard let connection, let old = device?.name else { return readDevice(of: stream) }
        if let expected = takeExpectedMove() { return readDevice(of: stream, expected) }
        var isThere = false
        connection.send(
            owner: stream,
            { pa_context_get_sink_info_by_name(connection.context, old, sinkInfoArrived, $0) },
            { result in
                if case .success(let answers) = result, !answers.isEmpty { isThere = true }
            })
        // Answers come in the order of the requests.
        connection.send(
            owner: stream, { pa_context_get_server_info(connection.context, serverInfoArrived, $0) },
            { [weak self, weak stream] result in
                guard let self, let stream else { return }
                let before = server?.defaultSink
                if case .success(let answers) = result, case .server(let info)? = answers.last { serverKnown(info) }
                let isNewDefault = server?.defaultSink != before && wishedSink == nil
                readDevice(of: stream, !isThere ? .deviceGone : isNewDefault ? .defaultChanged : .moved)
            })
    }

    package func keepToDevice(named name: String?) {
        guard keptSink != name else { return }
        awaitDevice(name)
        guard let name, let connection else { return }
        // The device may be back already.
        connection.send({ pa_context_get_sink_info_by_name(connection.context, name, sinkInfoArrived, $0) }) {
            [weak self] result in
            guard let self, keptSink == name, case .success(let answers) = result, !answers.isEmpty else { return }
            delegate?.outputDeviceAppeared()
        }
    }

    package func followDefaultDevice() { awaitDevice(Self.defaultSink) }

    package func returnToKeptDevice() {
        guard let name = keptSink else { return }
        // PulseAudio itself moves back a stream that was moved there before; that stream does not move again.
        guard device?.name == name else { return moveStreams(to: name, .deviceBack) }
        loop.later { [self] in if keptSink == name, device?.name == name { setDevice(device, .deviceBack) } }
    }

    /// Moves all streams to this sink. A resulting change is reported with this reason.
    func moveStreams(to name: String, _ reason: RouteReason) {
        guard let connection else { return }
        for stream in streams {
            guard let index = stream.index else { continue }
            if device?.name != name { expectMove(reason) }
            connection.send(
                { pa_context_move_sink_input_by_name(connection.context, index, name, contextSucceeded, $0) },
                { [weak self] result in if case .failure = result { self?.expectMove(nil) } })
        }
    }

    /// Handles a new device, and reports it if one is awaited.
    func deviceAppeared(_ index: UInt32) {
        guard let connection, keptSink != nil || awaitsDevice else { return }
        connection.send(
            { pa_context_get_sink_info_by_index(connection.context, index, sinkInfoArrived, $0) },
            { [weak self] result in
                guard let self, case .success(let answers) = result, case .sink(let sink)? = answers.first else {
                    return
                }
                let isAny = keptSink == nil || keptSink == Self.defaultSink
                let device = sink.device(isDefault: false)
                guard isAny ? awaitsDevice && !device.isDummy : sink.name == keptSink else { return }
                delegate?.outputDeviceAppeared()
            })
    }

    // MARK: No device at all

    /// True if the server had only its dummy device at the last request, although it had another one before.
    var isWithoutDevice: Bool {
        hadDevice && keptSink == nil && wishedSink == nil && server?.defaultSink == OutputDevice.dummyName
    }

    /// Begins a stream if there is a device; else the stream fails. A restarted server may have its devices only after
    /// it has us: on its dummy the item would continue unheard.
    func beginOnDevice(_ stream: PulseStream, _ connection: PulseConnection) {
        // Set before the request, so that no device is missed that appears after the answer.
        setAwaitsDevice(true)
        connection.send({ pa_context_get_server_info(connection.context, serverInfoArrived, $0) }) {
            [weak self, weak stream] result in
            guard let self, let stream, self.connection === connection, streams.contains(where: { $0 === stream })
            else { return }
            if case .success(let answers) = result, case .server(let info)? = answers.last { serverKnown(info) }
            if isWithoutDevice {
                stream.failLater(OutputError(.noDevice, "the sound server has no device yet"))
                // For the output the stream failed with its device.
                streamDied(stream, OutputError(.noDevice, "the sound server has no device yet"))
            } else {
                setAwaitsDevice(false)
                begin(stream, connection)
            }
        }
    }
}
