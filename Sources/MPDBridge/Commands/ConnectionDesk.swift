import LinuxSystem
import MPDProtocol

/// Commands for the connection itself.
@PlayerLoop final class ConnectionDesk: CommandDesk {
    private let library: Library
    private let clients: PartitionClients

    /// Connections of these clients.
    init(_ library: Library, _ clients: PartitionClients) {
        self.library = library
        self.clients = clients
    }

    func perform(_ request: MPDRequest, for client: MPDClient, _ finish: @escaping Finish) throws(MPDFailure) {
        switch request.command {
        case .ping: finish(.ok)
        case .close: finish(.closes)
        case .idle:
            var wanted: SubsystemSet = []
            for argument in request.arguments {
                guard let subsystem = Subsystem(argument) else { throw argument.fault("Unrecognized idle event") }
                wanted.formUnion(SubsystemSet(subsystem))
            }
            finish(.idles(wanted.isEmpty ? .all : wanted))
        case .commands, .notcommands:
            let isAllowed = request.command == .commands
            let commands = CommandTable.commands(withLibrary: library.isThere)
            for command in MPDCommand.allCases.sorted(by: { $0.rawValue < $1.rawValue })
            where commands.contains(command)
                && client.permissions.isSuperset(of: command.permissions) == isAllowed
            {
                client.write { $0.pair("command", command.rawValue) }
            }
            finish(.ok)
        case .password: password(request.arguments[0], client, finish)
        case .tagtypes: try tagTypes(request.arguments, client, finish)
        case .binarylimit:
            client.limitBinaryParts(to: try BinaryPart.limit(request.arguments[0]))
            finish(.ok)
        case _: try features(request.arguments, client, finish)
        }
    }

    /// `protocol`: switches optional parts of this connection's answers on and off.
    private func features(
        _ arguments: [Argument], _ client: MPDClient, _ finish: @escaping Finish
    ) throws(MPDFailure) {
        guard let verb = arguments.first else {
            for feature in ProtocolFeature.allCases where client.features.contains(feature) {
                client.write { $0.pair("feature", feature.rawValue) }
            }
            return finish(.ok)
        }
        var named: Set<ProtocolFeature> = []
        for argument in arguments.dropFirst() {
            guard let feature = ProtocolFeature(rawValue: argument.text) else {
                throw MPDFailure(.argument, "Unknown protocol feature")
            }
            named.insert(feature)
        }
        var features = client.features
        switch (verb.text, named.isEmpty) {
        case ("all", true): features = Set(ProtocolFeature.allCases)
        case ("clear", true): features = []
        case ("available", true):
            for feature in ProtocolFeature.allCases { client.write { $0.pair("feature", feature.rawValue) } }
        case ("enable", false): features.formUnion(named)
        case ("disable", false): features.subtract(named)
        case ("enable", true), ("disable", true): throw MPDFailure(.argument, "Not enough arguments")
        case ("all", false), ("clear", false), ("available", false): throw MPDFailure(.argument, "Too many arguments")
        case (_, _): throw MPDFailure(.argument, "Unknown sub command")
        }
        client.use(features)
        finish(.ok)
    }

    private func password(_ word: Argument, _ client: MPDClient, _ finish: @escaping Finish) {
        clients.judge(word.bytes, of: client) { [weak client] result in
            switch result {
            case .success(let rights):
                client?.grant(rights)
                finish(.ok)
            case .failure(let failure): finish(.failed(failure))
            }
        }
    }

    private func tagTypes(
        _ arguments: [Argument], _ client: MPDClient, _ finish: @escaping Finish
    ) throws(MPDFailure) {
        guard let verb = arguments.first else {
            for tag in client.tags.tags { client.write { $0.pair("tagtype", tag.rawValue) } }
            return finish(.ok)
        }
        var named: [MPDTag] = []
        for argument in arguments.dropFirst() {
            guard let tag = MPDTag(argument) else { throw MPDFailure(.argument, "Unknown tag type") }
            named.append(tag)
        }
        var tags = client.tags
        switch (verb.text, named.isEmpty) {
        case ("all", true): tags = .all
        case ("clear", true): tags = .none
        case ("available", true): for tag in MPDTag.allCases { client.write { $0.pair("tagtype", tag.rawValue) } }
        case ("reset", false): tags = TagMask(named)
        case ("enable", false): tags.enable(TagMask(named))
        case ("disable", false): tags.disable(TagMask(named))
        case ("enable", true), ("disable", true), ("reset", true):
            throw MPDFailure(.argument, "Not enough arguments")
        case ("all", false), ("clear", false), ("available", false): throw MPDFailure(.argument, "Too many arguments")
        case (_, _): throw MPDFailure(.argument, "Unknown sub command")
        }
        client.show(tags)
        finish(.ok)
    }
}

/// A part of the protocol that a connection can switch on (0.24).
enum ProtocolFeature: String, CaseIterable, Sendable {
    /// `lsinfo` of the top has no stored playlists.
    case hidesPlaylists = "hide_playlists_in_root"
}
