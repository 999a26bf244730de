package import AudioCore
package import ControlProtocol
package import LinuxSystem
package import NowPlaying
package import PlaybackEngine

/// Carries out what the control server itself does not answer: everything that acts on the player or asks it.
@PlayerLoop package protocol MethodHandler: AnyObject, Sendable {
    /// Carries out one request, whose parameters, role and session were judged already, and calls `answer` exactly once,
    /// at once or later, on the loop. What the answer says must have been published before it.
    ///
    /// Never called for `hello`, `nowPlaying.get`, `nowPlaying.subscribe`, `nowPlaying.unsubscribe`, `rpc.discover` and
    /// `daemon.quit`.
    func perform(_ request: MethodRequest, _ answer: @escaping @PlayerLoop (MethodResult) -> Void)

    /// Why the one thing that `play` names can't be played; nil: it can, as far as can be told. Called before `perform`, on
    /// a worker thread, and may block; given up when `abandoned` is set.
    nonisolated func refusal(of source: MediaSource, _ abandoned: AbandonFlag) -> RPCError?

    /// A connection ended that a request came from: what it set for its life is undone.
    func clientGone(_ client: ClientIdentity)

    /// Takes over the settings that may change while it plays, as the owner of the daemon wrote them anew. `by`: who had
    /// them read.
    func take(_ configuration: Configuration, instead before: Configuration, by: Originator)

    /// Whether something plays, is on its way to, or will happen by itself.
    var isAtWork: Bool { get }

    /// Whether something would not be there again after a restart, though nothing is at work.
    var wouldLose: Bool { get }

    /// The daemon ends after this call: the sound stops and what must outlive it is written.
    func finish()
}

/// How a request ended.
package enum MethodResult: Sendable {
    case success(JSONValue)
    /// A result that is JSON text already.
    case encoded([UInt8])
    /// A result with an open file that goes along with its line.
    case withDescriptor(JSONValue, OwnedDescriptor)
    case failure(RPCError)
}

/// Who is at the other end of a connection.
package struct ClientIdentity: Sendable {
    /// Number of the connection, never used twice by one daemon.
    package let number: Int
    /// What it called itself with `hello`, else its program's name; without control characters.
    package let name: String
    package let pid: Int32
    package let uid: UInt32
    package let role: Role
    /// Whether it is of another user than the daemon's own and root, or speaks for one.
    package let isForeign: Bool

    /// The same, as listeners see it in `by`.
    package var originator: Originator { Originator(client: name, pid: pid, uid: uid) }
}

/// A playable thing that a client named: it exists, and the client may have it played.
package struct ResolvedMedia: Sendable {
    package let source: MediaSource
    /// What the client said about it; nil: nothing.
    package let details: ItemDetails?

    /// A playable thing, by its parts.
    package init(source: MediaSource, details: ItemDetails? = nil) {
        self.source = source
        self.details = details
    }
}

/// One request to carry out. The parameters have been judged by the catalogue, so that the accessors answer nil just where
/// a parameter was not given.
package struct MethodRequest: Sendable {
    package let method: MethodName
    package let client: ClientIdentity
    package let parameters: JSONObject
    /// What `uri`, `descriptor` or `items` name, folders expanded; empty if there is none of them.
    package let media: [ResolvedMedia]

    /// A request, by its parts.
    package init(
        method: MethodName, client: ClientIdentity, parameters: JSONObject = JSONObject(), media: [ResolvedMedia] = []
    ) {
        self.method = method
        self.client = client
        self.parameters = parameters
        self.media = media
    }

    /// A number.
    package func double(_ name: String) -> Double? { parameters[name]?.doubleValue }

    /// A whole number.
    package func integer(_ name: String) -> Int? { parameters[name]?.integerValue.map { Int($0) } }

    /// A text.
    package func string(_ name: String) -> String? { parameters[name]?.stringValue }

    /// A truth.
    package func bool(_ name: String) -> Bool? { parameters[name]?.boolValue }

    /// An array.
    package func array(_ name: String) -> [JSONValue]? { parameters[name]?.arrayValue }

    /// An array of numbers.
    package func doubles(_ name: String) -> [Double]? { array(name)?.compactMap(\.doubleValue) }

    /// The id of an item.
    package func itemID(_ name: String) -> ItemID? { parameters[name]?.integerValue.map(ItemID.init) }

    /// Ids of items, in the order given.
    package func itemIDs(_ name: String) -> [ItemID]? { array(name)?.compactMap { $0.integerValue.map(ItemID.init) } }

    /// The fields of an item among the parameters (`item.update`).
    package var metadata: MediaMetadata { MediaMetadata(fields: parameters) }
}
