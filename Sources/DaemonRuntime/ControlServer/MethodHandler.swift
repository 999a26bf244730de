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

    /// Reason why the source of `play` can't play; nil: it can, as far as is known. Called before `perform`, on
    /// a worker thread, and may block; given up when `abandoned` is set.
    nonisolated func refusal(of source: MediaSource, _ abandoned: AbandonFlag) -> RPCError?

    /// A connection ended that a request came from: what it set for its life is undone.
    func clientGone(_ client: ClientIdentity)

    /// Takes over the settings that may change while it plays, as the owner of the daemon wrote them anew. `by`: who had
    /// them read.
    func take(_ configuration: Configuration, instead before: Configuration, by: Originator)

    /// True if something plays, is on its way to, or will happen by itself.
    var isAtWork: Bool { get }

    /// True if an idle daemon would lose something by a restart.
    var wouldLose: Bool { get }

    /// The daemon ends after this call: the sound stops and what must outlive it is written.
    func finish()
}

/// Result of a request.
package enum MethodResult: Sendable {
    case success(JSONValue)
    /// A result that is JSON text already.
    case encoded([UInt8])
    /// A result with an open file that goes along with its line.
    case withDescriptor(JSONValue, OwnedDescriptor)
    case failure(RPCError)
}

/// Identity of a client.
package struct ClientIdentity: Sendable {
    /// Number of the connection, never used twice by one daemon.
    package let number: Int
    /// Its name from `hello`, else its program's name; without control characters.
    package let name: String
    package let pid: Int32
    package let uid: UInt32
    package let role: Role
    /// True if its user is neither the daemon's own nor root, or if it speaks for such a user.
    package let isForeign: Bool

    /// The same, as listeners see it in `by`.
    package var originator: Originator { Originator(client: name, pid: pid, uid: uid) }
}

/// A playable thing that a client named: it exists, and the client may have it played.
package struct ResolvedMedia: Sendable {
    package let source: MediaSource
    /// Details from the client; nil: none.
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
    /// Media of `uri`, `descriptor` or `items`, folders expanded; empty if there is none of them.
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
