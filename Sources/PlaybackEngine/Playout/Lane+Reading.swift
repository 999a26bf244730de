import AudioCore
import LinuxSystem

/// Readings of a lane's timing.
extension Lane {
    /// Reads the timing, up to ten times until the answer is plausible or three in a row agree.
    func readTiming(_ completion: @escaping @PlayerLoop (Result<StreamTiming, OutputError>) -> Void) {
        readTiming(before: [], completion)
    }

    private func readTiming(
        before: [StreamTiming], _ completion: @escaping @PlayerLoop (Result<StreamTiming, OutputError>) -> Void
    ) {
        guard let stream else {
            return EventLoop.current.later { completion(.failure(OutputError(.refused, "the stream was closed"))) }
        }
        stream.readTiming { [self] result in
            guard case .success(let timing) = result, before.count < 10, !isSteppedAndUneven,
                !readings.isPlausible(timing, audibleFrom: audibleFrom, canRewind: self.stream?.canRewind)
            else { return completion(result) }
            let series = before + [timing]
            if series.count >= 3, series.suffix(3).allSatisfy({ readings.agree($0, timing) }) {
                // The readings are right: the device lost or inserted sound without a report.
                note(timing, isPrompt: self.stream?.isStepped != true)
                return completion(result)
            }
            readTiming(before: series, completion)
        }
    }
}
