import LinuxSystem
import MPDProtocol

/// Partitions.
@PlayerLoop final class PartitionDesk: CommandDesk {
    private let mirror: PlayerMirror
    private let daemon: DaemonCalls
    private let outputs: OutputTable
    private weak var partitions: Partitions?

    /// These partitions, one of which has this mirror.
    init(_ mirror: PlayerMirror, _ daemon: DaemonCalls, _ outputs: OutputTable, _ partitions: Partitions) {
        self.mirror = mirror
        self.daemon = daemon
        self.outputs = outputs
        self.partitions = partitions
    }

    func perform(_ request: MPDRequest, for client: MPDClient, _ finish: @escaping Finish) throws(MPDFailure) {
        guard let partitions else { throw MPDFailure(.system, "the bridge is about to end") }
        let name = request.arguments.first?.text ?? ""
        let answer: @PlayerLoop (MPDFailure?) -> Void = { finish($0.map { .failed($0) } ?? .ok) }
        switch request.command {
        case .partition:
            partitions.enter(name) { [weak client] result in
                switch result {
                case .failure(let failure): finish(.failed(failure))
                case .success(let commands):
                    client?.join(commands)
                    finish(.ok)
                }
            }
        case .listpartitions:
            partitions.list { [weak client] result in
                switch result {
                case .failure(let failure): finish(.failed(failure))
                case .success(let names):
                    for name in names { client?.write { $0.pair("partition", name) } }
                    finish(.ok)
                }
            }
        case .newpartition: partitions.create(name, by: daemon.link(client), answer)
        case .delpartition: partitions.delete(name, by: daemon.link(client), answer)
        case _:
            outputs.list(mirror) { result in
                switch result {
                case .failure(let failure): finish(.failed(failure))
                case .success(let outputs):
                    let isKnown = outputs.contains { $0.name == name || $0.title == name }
                    finish(
                        .failed(
                            isKnown
                                ? MPDFailure(.system, "all partitions play on the same output")
                                : MPDFailure(.noExist, "No such output")))
                }
            }
        }
    }
}
