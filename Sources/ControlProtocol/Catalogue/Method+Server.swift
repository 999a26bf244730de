extension Method {
    /// `hello`, which every server has and answers itself: the name of a client, and the rights that the client gives up.
    package static let hello = Method(
        name: "hello", kind: .server, role: .read, reach: .network(.read),
        parameters: [
            .optional("client", .text, "name of the client, shown to others in “by”"),
            .optional(
                "role", .choice([Role.read, .remote, .control].map(\.rawValue)),
                "reduce this client's rights to this role, with a foreign user's rights to media"),
            .optional(
                "actsFor",
                .object([
                    .required("uid", .integer(0...Int64(UInt32.max) - 1), "user id of that client"),
                    .required("pid", .integer(1...Int64(Int32.max)), "process id of that client"),
                    .required("client", .text, "name of that client"),
                ]),
                "act from now on for a client of another server: “by” names that client; for the daemon's own user and "
                    + "root; without “role” the role becomes control"),
        ],
        isHeld: false,
        help:
            "Introduces the client and describes the daemon. A client that acts for others drops rights with "
            + "“role” or “actsFor”; it cannot regain them.",
        result: "server, version, protocol, instance, role and capabilities", example: #"{"client": "remote"}"#)

    /// `rpc.discover`, which every server has and answers itself.
    package static let discovery = Method(
        name: "rpc.discover", kind: .server, role: .read, reach: .networkAndBroker(.read), parameters: [],
        isHeld: false,
        help: "Returns this catalogue as an OpenRPC document.", result: "an OpenRPC document", example: "{}")
}
