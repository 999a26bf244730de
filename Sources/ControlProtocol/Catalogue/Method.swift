/// Rights of a peer; each role includes the roles before it.
package enum Role: String, Sendable, CaseIterable, Comparable {
    /// `remote`: for programs that act for unidentified people.
    case read, remote, control, admin

    private var rank: Int {
        switch self {
        case .read: 0
        case .remote: 1
        case .control: 2
        case .admin: 3
        }
    }

    package static func < (a: Role, b: Role) -> Bool { a.rank < b.rank }
}

/// One method of the catalogue.
package struct Method: Sendable {
    /// Subject of a method; orders the manual.
    package enum Kind: String, Sendable, CaseIterable {
        case nowPlaying, command, queue, feedback, output, session, server, library, list
    }

    /// The programs through which callers reach a method.
    package enum Reach: Equatable, Sendable {
        /// The socket of its server alone: the default.
        case socket
        /// Also nowplaying-web, for callers with this role or a higher one.
        case network(Role)
        /// Also nowplaying-web, and nowplaying-mqtt, whose callers have the role control.
        case networkAndBroker(Role)

        /// The least role of callers of nowplaying-web; nil: none of them reaches the method.
        package var network: Role? {
            switch self {
            case .socket: nil
            case .network(let role), .networkAndBroker(let role): role
            }
        }

        /// True if clients of a broker of MQTT reach the method.
        package var includesBroker: Bool {
            switch self {
            case .socket, .network: false
            case .networkAndBroker: true
            }
        }
    }

    /// Name on the wire.
    package var name: String
    package var kind: Kind
    /// The least role that may call the method.
    package var role: Role
    /// A method that names no reach stays on the socket.
    package var reach = Reach.socket
    package var parameters: [Parameter]
    /// Groups of parameters; a call may have at most one of each group.
    package var exclusive: [[String]] = []
    /// A call must have at least one of these parameters; empty: no such rule.
    package var anyOf: [String] = []
    /// A call must have exactly one of these parameters; empty: no such rule.
    package var oneOf: [String] = []
    /// True if a batch must not contain the method.
    package var isRefusedInBatch = false
    /// True if the method waits while the server holds requests.
    package var isHeld = true
    /// Its effect in a sentence or two.
    package var help: String
    /// Content of `result`, as text.
    package var result: String
    /// Parameters of a typical call, as JSON.
    package var example: String

    /// A method, by its parts.
    package init(
        name: String, kind: Kind, role: Role, reach: Reach = .socket, parameters: [Parameter],
        exclusive: [[String]] = [], anyOf: [String] = [], oneOf: [String] = [], isRefusedInBatch: Bool = false,
        isHeld: Bool = true, help: String, result: String, example: String
    ) {
        self.name = name
        self.kind = kind
        self.role = role
        self.reach = reach
        self.parameters = parameters
        self.exclusive = exclusive
        self.anyOf = anyOf
        self.oneOf = oneOf
        self.isRefusedInBatch = isRefusedInBatch
        self.isHeld = isHeld
        self.help = help
        self.result = result
        self.example = example
    }
}

extension Method {
    /// A method of the daemon that is not a remote command.
    init(
        name: MethodName.Other, kind: Kind, role: Role, reach: Reach = .socket, parameters: [Parameter],
        exclusive: [[String]] = [], anyOf: [String] = [], oneOf: [String] = [], isRefusedInBatch: Bool = false,
        isHeld: Bool = true, help: String, result: String, example: String
    ) {
        self.init(
            name: name.rawValue, kind: kind, role: role, reach: reach, parameters: parameters, exclusive: exclusive,
            anyOf: anyOf, oneOf: oneOf, isRefusedInBatch: isRefusedInBatch, isHeld: isHeld, help: help, result: result,
            example: example)
    }
}
