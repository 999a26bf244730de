/// The thing that a request asks for.
package enum WebRoute: Equatable, Sendable {
    /// A file of the page, by its path below the folder of the page.
    case page([String])
    case artwork(ArtworkRequest)
    /// JSON-RPC: one POST, or a WebSocket.
    case calls(isUpgrade: Bool)
    /// States as server-sent events. `session`: nil, the active one.
    case events(session: String?)
    case announce(AnnounceRequest)
    /// The figures of the daemon and the library.
    case metrics
    case pair
    /// The first half of a proof: the claim of a device.
    case prove
    /// A request of a browser for the permission to send another request.
    case preflight

    /// The route of a request.
    package init(_ head: RequestHead) throws(HTTPFault) {
        let path = head.target.path
        if head.method == .options {
            self = .preflight
            return
        }
        switch path.first {
        case "rpc" where path.count == 1:
            let isUpgrade = UpgradeRequest.isWanted(head)
            guard isUpgrade || head.method != .head else { throw .method("GET, POST") }
            self = .calls(isUpgrade: isUpgrade || head.method == .get)
        case "events" where path.count == 1:
            guard head.method == .get else { throw .method("GET") }
            self = .events(session: try head.target.value("session"))
        case "announce" where path.count == 1:
            guard head.method == .post else { throw .method("POST") }
            self = .announce(try AnnounceRequest(head))
        case "metrics" where path.count == 1:
            guard head.method != .post else { throw .method("GET, HEAD") }
            self = .metrics
        case "pair" where path.count == 1:
            guard head.method == .post else { throw .method("POST") }
            self = .pair
        case "prove" where path.count == 1:
            guard head.method == .post else { throw .method("POST") }
            self = .prove
        case "artwork":
            guard head.method != .post else { throw .method("GET, HEAD") }
            self = .artwork(try ArtworkRequest(head))
        case _:
            guard head.method != .post else { throw .method("GET, HEAD") }
            self = .page(path.isEmpty ? ["index.html"] : path)
        }
    }
}

/// A request for a picture or a film: `/artwork/ID.ENDING?size=600`.
package struct ArtworkRequest: Equatable, Sendable {
    /// Kind of a picture, as in artwork.get.
    package enum Kind: String, Sendable {
        case image, preview, video
    }

    package let id: String
    package let kind: Kind
    /// Pixels of the square that the picture covers; nil: the largest.
    package let size: Int?
    /// The permission that the address itself has; nil: none.
    package let grant: Grant?

    /// A permission for this picture: `until=UNIX&key=TEXT`.
    package struct Grant: Equatable, Sendable {
        /// Unix time in seconds.
        package let until: Int64
        /// The signature of the picture and the time.
        package let key: String
    }

    /// Reads the path and the query. A film is a still picture for who saves data.
    init(_ head: RequestHead) throws(HTTPFault) {
        guard head.target.path.count == 2, let dot = head.target.path[1].lastIndex(of: ".") else { throw .notFound }
        let name = head.target.path[1]
        id = String(name[..<dot])
        guard (1...128).contains(id.utf8.count), id.utf8.allSatisfy(RequestHead.isTokenByte) else { throw .notFound }
        if let until = try head.target.value("until").flatMap(Int64.init), let key = try head.target.value("key") {
            grant = Grant(until: until, key: key)
        } else {
            grant = nil
        }
        let isFilm = ["mp4", "webm", "mov", "m4v"].contains(name[name.index(after: dot)...].lowercased())
        let savesData = head.elements("save-data").contains("on")
        switch try head.target.value("kind") {
        case "preview": kind = .preview
        case nil: kind = isFilm ? savesData ? .preview : .video : .image
        case _: throw HTTPFault(.badRequest, "“kind” has to be preview")
        }
        guard let text = try head.target.value("size") else {
            size = nil
            return
        }
        guard let number = Int(text), (1...16_384).contains(number) else {
            throw HTTPFault(.badRequest, "“size” has to be a number of pixels from 1 to 16384")
        }
        size = number
    }
}

/// A request to play a sound, which is the body, or to speak a text: `/announce?wait`.
package struct AnnounceRequest: Equatable, Sendable {
    /// True: the body is a text for the speech program.
    package let isText: Bool
    /// True: the answer comes at the end of the announcement.
    package let waits: Bool
    /// Parameters of the method announce, as text.
    package let parameters: [RequestTarget.Item]

    /// Most bytes of a sound.
    package static let maximumBytes = 16 << 20
    /// Most characters of a text.
    package static let maximumCharacters = 1000

    /// Most bytes of the body.
    package var maximumBody: Int { isText ? Self.maximumCharacters * 4 : Self.maximumBytes }

    private static let names = ["policy", "duckTo", "volume", "priority"]

    init(_ head: RequestHead) throws(HTTPFault) {
        var parameters: [RequestTarget.Item] = []
        isText = ContentType.isText(head)
        waits = try head.target.value("wait") != nil
        for item in head.target.query where item.name != "wait" {
            guard Self.names.contains(item.name) else {
                throw HTTPFault(
                    .badRequest,
                    "unknown parameter “\(item.name.prefix(64))”; there are wait, policy, duckTo, volume and priority")
            }
            _ = try head.target.value(item.name)
            parameters.append(item)
        }
        self.parameters = parameters
    }
}
