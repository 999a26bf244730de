import ControlProtocol
import LinuxSystem
import MPDProtocol

/// Commands for the abilities of the daemon, and for mounts of the system.
@PlayerLoop final class AbilityDesk: CommandDesk {
    private let mirror: PlayerMirror
    private let names: SongNameTable

    /// The abilities of the daemon of this mirror.
    init(_ mirror: PlayerMirror, _ names: SongNameTable) {
        self.mirror = mirror
        self.names = names
    }

    func perform(_ request: MPDRequest, for client: MPDClient, _ finish: @escaping Finish) throws(MPDFailure) {
        let arguments = request.arguments
        switch request.command {
        case .config:
            guard client.isLocal else {
                throw MPDFailure(.permission, "Command only permitted to local clients")
            }
            if let folder = names.names.onlyFolder { client.write { $0.pair("music_directory", folder) } }
            finish(.ok)
        case .decoders: decoders(client, finish)
        case .urlhandlers:
            for scheme in ["file", "http", "https"] where scheme != "file" || client.user != nil {
                client.write { $0.pair("handler", scheme + "://") }
            }
            finish(.ok)
        case .listmounts:
            client.write { $0.pair("mount", "") }
            if let folder = names.names.onlyFolder { client.write { $0.pair("storage", folder) } }
            finish(.ok)
        case .listneighbors: throw MPDFailure(.unknown, "No neighbor plugin configured")
        case .mount:
            guard !arguments[0].bytes.isEmpty else { throw MPDFailure(.argument, "Bad mount point") }
            throw MPDFailure(.noExist, "the system mounts disks and shares: name their folders in [library]")
        case _:
            throw MPDFailure(.argument, arguments[0].bytes.isEmpty ? "Bad mount point" : "Not a mount point")
        }
    }

    private func decoders(_ client: MPDClient, _ finish: @escaping Finish) {
        mirror.call("formats.list") { [weak client] result in
            switch result {
            case .failure(let failure): finish(.failed(failure))
            case .success(let answer):
                for format in answer["formats"]?.arrayValue ?? [] where format["plays"] == true {
                    client?.write { $0.decoder(format) }
                }
                finish(.ok)
            }
        }
    }
}

extension AnswerWriter {
    /// MIME types by file name extension.
    private static let types: [String: [String]] = [
        "flac": ["audio/flac", "audio/x-flac"], "mp3": ["audio/mpeg"], "ogg": ["audio/ogg", "application/ogg"],
        "oga": ["audio/ogg", "application/ogg"], "opus": ["audio/opus"], "wav": ["audio/wav", "audio/x-wav"],
        "aiff": ["audio/aiff"], "aac": ["audio/aac"], "m4a": ["audio/mp4"], "wma": ["audio/x-ms-wma"],
        "mka": ["audio/x-matroska"], "webm": ["audio/webm"],
    ]

    /// Writes a format of the daemon as a decoder.
    fileprivate mutating func decoder(_ format: JSONValue) {
        let endings = (format["endings"]?.arrayValue ?? []).compactMap(\.stringValue)
        guard let name = format["name"]?.stringValue else { return }
        pair("plugin", name)
        for ending in endings { pair("suffix", ending) }
        var types: [String] = []
        for type in endings.flatMap({ Self.types[$0] ?? [] }) where !types.contains(type) { types.append(type) }
        for type in types { pair("mime_type", type) }
    }
}
