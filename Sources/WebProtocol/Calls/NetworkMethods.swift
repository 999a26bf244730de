package import ControlProtocol
import NowPlaying

/// The methods that callers over the network have.
package enum NetworkMethods {
    /// The program that answers a method.
    package enum Server: Equatable, Sendable {
        case bridge
        case daemon
        case library
    }

    /// The instant at which the bridge has a request, on the clock of anchors.
    package static let clockNow = Method(
        name: "clock.now", kind: .server, role: .read, reach: .network(.read),
        parameters: [
            .optional("sent", .numberIn(-1e15...1e15), "any number of the caller, returned as it came")
        ],
        isHeld: false,
        help: "Returns the instants at which nowplaying-web got the request and answered it.",
        result: "sent, received and answered: seconds of the clock of anchors", example: #"{"sent": 12.5}"#)

    /// The devices that the caller sees: itself, or all for the daemon's own user.
    private static let devicesList = Method(
        name: "devices.list", kind: .server, role: .read, reach: .network(.read), parameters: [], isHeld: false,
        help: "Lists the paired devices that the caller sees: itself, or all of them for the daemon's own user.",
        result: "devices, each with id, name, role, paired and lastUsed: Unix times in seconds", example: "{}")

    /// Ends the access of a device.
    private static let devicesRevoke = Method(
        name: "devices.revoke", kind: .server, role: .read, reach: .network(.read),
        parameters: [.required("id", .text, "id of a device from devices.list")], isHeld: false,
        help: "Revokes a device that the caller sees; its connections end at once.", result: "an empty object",
        example: #"{"id": "0123456789abcdef"}"#)

    /// An address of one picture that needs no token.
    private static let artworkLink = Method(
        name: "artwork.link", kind: .server, role: .read, reach: .network(.read),
        parameters: [
            .required("id", .text, "id of a picture of a state"),
            .required("size", .integer(1...2048), "pixels of the square that the picture covers"),
        ],
        isHeld: false,
        help:
            "Returns an address of a picture for programs without a token, such as players of a Snapcast server. It is good "
            + "for this picture and for a day, and ends with nowplaying-web. It fails while no other machine can reach "
            + "nowplaying-web.",
        result: "address and until: the Unix time of its end in seconds", example: #"{"id": "abcd", "size": 600}"#)

    /// Methods that the bridge itself answers.
    private static let own =
        [Method.hello, .discovery, clockNow, devicesList, devicesRevoke, artworkLink] + RoomMethods.methods

    /// The one table of all methods whose rows name a role on the network, each with that role.
    package static let table: MethodTable = {
        let foreign = known.filter { method in !own.contains { $0.name == method.name } }
        let methods = (own + foreign).compactMap { method -> Method? in
            guard let role = method.reach.network else { return nil }
            var method = method
            method.role = role
            return method
        }
        return MethodTable(
            title: "nowplaying-web", methods: methods,
            notifications: Catalogue.table.notifications + LibraryCatalogue.table.notifications
                + [(RoomMethods.changed, "Rooms of the Snapcast server that have changed, as in rooms.list.")])
    }()

    /// The methods of the daemon and of the library.
    private static let known = Catalogue.table.methods + LibraryCatalogue.table.methods

    /// The server of a method. Throws for one that this caller may not call, or that is not there.
    package static func server(of method: String, for role: Role) throws(RPCError) -> Server {
        guard let found = table.method(method) else {
            guard known.contains(where: { $0.name == method }) else { throw table.unknownMethod(method) }
            throw .denied("“\(method)” cannot be called over the network; use the socket of its server")
        }
        guard found.role <= role else {
            throw .denied("“\(method)” needs the role \(found.role.rawValue); this caller has \(role.rawValue)")
        }
        if own.contains(where: { $0.name == method }) { return .bridge }
        switch found.kind {
        case .library, .list: return .library
        case .nowPlaying, .command, .queue, .feedback, .output, .session, .server:
            return LibraryCatalogue.table.method(method) == nil ? .daemon : .library
        }
    }

    /// Throws for parameters that name open files, which can't be sent over the network, or an external session.
    package static func check(_ method: String, _ parameters: JSONObject) throws(RPCError) {
        if parameters["external"] == true {
            throw .denied("an external session needs the socket of the daemon")
        }
        if parameters["actsFor"] != nil { throw .denied("“actsFor” needs the socket of the daemon") }
        guard !namesDescriptor(.object(parameters)) else {
            throw .denied("“descriptor” names an open file, which cannot be sent over the network")
        }
    }

    private static func namesDescriptor(_ value: JSONValue) -> Bool {
        switch value {
        case .object(let object): object.members.contains { $0.name == "descriptor" || namesDescriptor($0.value) }
        case .array(let elements): elements.contains(where: namesDescriptor)
        case .null, .bool, .integer, .number, .string: false
        }
    }
}
