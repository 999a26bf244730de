import ControlProtocol
import LinuxSystem
import MPDProtocol

/// The outputs of the daemon with their numbers for clients. A device keeps its number while it is absent.
@PlayerLoop final class OutputTable {
    /// A device of the sound server.
    struct Output: Sendable {
        /// MPD's `outputid`.
        let number: Int
        /// The daemon's name of the device.
        let name: String
        /// The name for people.
        let title: String
        /// Seconds.
        let delay: Double
        /// True for the device that plays, or that the next play uses.
        let isCurrent: Bool
    }

    private var numbers: [String: Int] = [:]

    /// A table without devices.
    init() {}

    /// Requests the present outputs, in the order of their numbers.
    func list(
        _ mirror: PlayerMirror, _ answer: @escaping @PlayerLoop (Result<[Output], MPDFailure>) -> Void
    ) {
        mirror.call("output.list") { [weak self] result in
            guard let self else { return }
            answer(result.map { self.outputs($0["outputs"]?.arrayValue ?? []) })
        }
    }

    private func outputs(_ list: [JSONValue]) -> [Output] {
        list.compactMap { output in
            guard let name = output["name"]?.stringValue else { return nil }
            let number = numbers[name] ?? numbers.count
            numbers[name] = number
            return Output(
                number: number, name: name, title: output["description"]?.stringValue ?? name,
                delay: output["delay"]?.doubleValue ?? 0, isCurrent: output["current"] == true)
        }
        .sorted { $0.number < $1.number }
    }
}
