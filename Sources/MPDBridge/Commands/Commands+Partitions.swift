import LinuxSystem
import MPDProtocol

/// Partitions.
extension Commands {
    /// Carries out a command of partitions.
    func partition(_ request: MPDRequest, _ client: MPDClient, _ finish: @escaping Finish) throws(MPDFailure) {
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
                    for name in names { client?.writer.pair("partition", name) }
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
