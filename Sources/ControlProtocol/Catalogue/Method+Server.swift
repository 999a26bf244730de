extension Method {
    /// `hello`, which every server has and answers itself: the name of a client, and the rights that it gives up.
    package static let hello = Method(
        name: "hello", kind: .server, role: .read,
        parameters: [
            .optional("client", .text, "name of the client, shown to others in “by”"),
            .optional(
                "role", .choice([Role.read.rawValue, Role.control.rawValue]),
                "have no more rights than these from now on, and name media as a foreign user does"),
        ],
        isHeld: false,
        help:
            "Introduces the client and tells what the daemon is. A client that acts for others gives up rights of "
            + "its own with “role”; it does not get them back.",
        result: "server, version, protocol, instance, role and capabilities", example: #"{"client": "remote"}"#)

    /// `rpc.discover`, which every server has and answers itself.
    package static let discovery = Method(
        name: "rpc.discover", kind: .server, role: .read, parameters: [], isHeld: false,
        help: "Answers this catalogue as an OpenRPC document.", result: "an OpenRPC document", example: "{}")
}
