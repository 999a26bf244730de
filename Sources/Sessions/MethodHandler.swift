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
    /// Carries out one request, whose parameters, role and session are already checked, and calls `answer` exactly
    /// once, at once or later, on the loop. The changes in the answer must be published before it.
    func perform(_ request: MethodRequest, _ answer: @escaping Answer)

    /// Name of the session that such a request without `session` goes to now; nil: there is only one.
    func session(for method: MethodName, _ parameters: JSONObject) -> String?

    /// Reason why the source of `play` can't play at this position in seconds, nil: at its start; nil: no reason is known.
    /// Called before `perform`, on a worker thread, and may block; it ends early when `abandoned` is set.
    nonisolated func refusal(of source: MediaSource, at position: Double?, _ abandoned: AbandonFlag) -> RPCError?

    /// Numbers for the items that a request adds; nil: the handler numbers them itself. Called before `perform`, on a
    /// worker thread, and may block. Throws if none are free.
    nonisolated func numbers(for count: Int) throws(RPCError) -> TakenNumbers?

    /// Items prepared for the queue of any session; `media` are one or more. Nil: the handler adds none. Called before
    /// `perform`, on a worker thread, and may block. Throws if no numbers are free.
    nonisolated func addition(of media: [ResolvedMedia]) throws(RPCError) -> Addition?

    /// A client has disconnected: undoes its settings for the life of the connection.
    func clientGone(_ client: ClientIdentity)

    /// The settings were read again. `by`: the client or user that requested it.
    func configurationChanged(from before: Configuration, by: Originator)

    /// True if a session plays, is about to play, or will act by itself.
    var isAtWork: Bool { get }

    /// True if an idle daemon would lose something by a restart.
    var wouldLose: Bool { get }

    /// The daemon ends after this call: stops the sound and writes the state that must survive.
    func finish()
}

extension MethodHandler {
    package func session(for method: MethodName, _ parameters: JSONObject) -> String? { nil }
    package nonisolated func numbers(for count: Int) throws(RPCError) -> TakenNumbers? { nil }
    package nonisolated func addition(of media: [ResolvedMedia]) throws(RPCError) -> Addition? { nil }
}

extension ClientIdentity {
    /// The client as the member `by` of states shows it.
    package var originator: Originator { Originator(client: name, pid: pid, uid: uid) }
}

/// One request to carry out. The catalogue has checked the parameters, so the accessors return nil only for parameters
/// that were not given.
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

    /// A boolean.
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
