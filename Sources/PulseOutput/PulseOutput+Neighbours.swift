import AudioCore
import CPulse
import LinuxSystem

/// Streams of other programs that interrupt us by the configuration.
extension PulseOutput {
    /// Records the streams that play already: they do not interrupt.
    func beginWatchingNeighbours() {
        guard let connection, isConnected, watchesNeighbours, !neighbours.programs.isEmpty, streams.last?.index != nil
        else { return }
        connection.send(
            { pa_context_get_sink_input_info_list(connection.context, sinkInputInfoArrived, $0) },
            { [weak self] result in
                guard let self, case .success(let answers) = result, self.connection === connection else { return }
                for case .sinkInput(let info) in answers where !isOurs(info.index) {
                    _ = neighbours.update(info, ourSink: streams.last?.sink, wasThere: true)
                }
            })
    }

    /// Handles a change of a stream that is not ours.
    func neighbourChanged(_ index: UInt32, isGone: Bool) {
        guard watchesNeighbours, !neighbours.programs.isEmpty, let connection else { return }
        if isGone { return report(neighbours.ended(index)) }
        connection.send(
            { pa_context_get_sink_input_info(connection.context, index, sinkInputInfoArrived, $0) },
            { [weak self] result in
                guard let self, self.connection === connection, watchesNeighbours else { return }
                guard case .success(let answers) = result, case .sinkInput(let info)? = answers.first else {
                    return report(neighbours.ended(index))
                }
                report(neighbours.update(info, ourSink: streams.last?.sink))
            })
    }

    private func isOurs(_ index: UInt32) -> Bool { (streams + announcements).contains { $0.index == index } }

    private func report(_ change: Neighbours.Change?) {
        switch change {
        case .began(let name): delegate?.outputInterrupted(by: name)
        case .ended: delegate?.outputInterruptionEnded()
        case nil: break
        }
    }

    package func acceptNeighbours() { neighbours.accept() }

    // MARK: Requests of the server

    /// Handles a request of the server for silence, for example for a telephone call (`module-role-cork`), or the
    /// withdrawal of that request.
    func serverAsks(_ stream: PulseStream, cork: Bool) {
        guard cork else { return stream.reportRequest(nil) }
        guard let connection else { return }
        // The server does not name the program; this takes the one whose stream has a role of its own.
        connection.send(
            owner: stream,
            { pa_context_get_sink_input_info_list(connection.context, sinkInputInfoArrived, $0) },
            { [weak self, weak stream] result in
                guard let self, let stream, stream.isAskedToCork else { return }
                let answers = (try? result.get()) ?? []
                var name: String?
                for case .sinkInput(let info) in answers
                where !isOurs(info.index) && !["", "music", "video"].contains(info.role) {
                    name = info.application.isEmpty ? info.role : info.application
                }
                stream.reportRequest(name ?? "the sound server")
            })
    }
}
