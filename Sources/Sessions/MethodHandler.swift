package import AudioCore
package import ControlProtocol
package import ControlServer
package import DaemonConfiguration
package import LinuxSystem
package import MediaAccess
package import NowPlaying
package import StateKeeping

/// Carries out the methods that act on sessions or ask them.
@PlayerLoop package protocol MethodHandler: AnyObject, Sendable {
    /// Carries out one request, whose parameters, role and session were judged already, and calls `answer` exactly once,
    /// at once or later, on the loop. What the answer says must have been published before it.
    func perform(_ request: MethodRequest, _ answer: @escaping Answer)

    /// Reason why the source of `play` can't play; nil: it can, as far as is known. Called before `perform`, on
    /// a worker thread, and may block; given up when `abandoned` is set.
    nonisolated func refusal(of source: MediaSource, _ abandoned: AbandonFlag) -> RPCError?

    /// Numbers for items that a request adds; nil: the handler gives them numbers itself. Called before `perform`, on a worker
    /// thread, and may block. Throws if there are none.
    nonisolated func numbers(for count: Int) throws(RPCError) -> TakenNumbers?

    /// Items for the queue of any session, made ready to be added; `media` are one or more. Nil: the handler adds none. Called
    /// before `perform`, on a worker thread, and may block. Throws if there are no numbers for them.
    nonisolated func addition(of media: [ResolvedMedia]) throws(RPCError) -> Addition?

    /// A connection ended that a request came from: settings for its life are undone.
    func clientGone(_ client: ClientIdentity)

    /// The settings were read anew. `by`: the client or user who had them read.
    func configurationChanged(from before: Configuration, by: Originator)

    /// True if something plays, is on its way to, or will happen by itself.
    var isAtWork: Bool { get }

    /// True if an idle daemon would lose something by a restart.
    var wouldLose: Bool { get }

    /// The daemon ends after this call: the sound stops and what must outlive it is written.
    func finish()
}

extension MethodHandler {
    package nonisolated func numbers(for count: Int) throws(RPCError) -> TakenNumbers? { nil }
    package nonisolated func addition(of media: [ResolvedMedia]) throws(RPCError) -> Addition? { nil }
}

extension ClientIdentity {
    /// The same, as listeners see it in `by`.
    package var originator: Originator { Originator(client: name, pid: pid, uid: uid) }
}

/// One request to carry out. The parameters have been judged by the catalogue, so that the accessors answer nil just where
/// a parameter was not given.
package struct MethodRequest: Sendable {
    package let method: MethodName
    package let client: ClientIdentity
    package let parameters: JSONObject
    /// Media of `uri` or `descriptor`, folders expanded; empty if there is none of them.
    package let media: [ResolvedMedia]
    /// Numbers for items of these media; nil: the player gives them numbers.
    package let numbers: TakenNumbers?
    /// Items of `queue.add`; nil: another method, or a folder without any.
    package let addition: Addition?

    /// A request, by its parts.
    package init(
        method: MethodName, client: ClientIdentity, parameters: JSONObject = JSONObject(), media: [ResolvedMedia] = [],
        numbers: TakenNumbers? = nil, addition: Addition? = nil
    ) {
        self.method = method
        self.client = client
        self.parameters = parameters
        self.media = media
        self.numbers = numbers
        self.addition = addition
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
