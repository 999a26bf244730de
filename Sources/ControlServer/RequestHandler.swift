package import ControlProtocol
package import LinuxSystem

/// Carries out the requests that the server does not answer itself: all but `hello` and `rpc.discover`.
@PlayerLoop package protocol RequestHandler: AnyObject {
    /// The answer of `hello` to a client that has this role from now on.
    func greeting(for role: Role) -> JSONValue

    /// The least role for a call with these parameters; the server asks for at least that of the method.
    func role(for method: Method, _ parameters: JSONObject) -> Role

    /// Judges a request by more than the catalogue, and says how it is carried out. Throws the refusal. The steps of a batch
    /// are all judged before the first of them is carried out.
    func plan(_ request: JudgedRequest) throws(RPCError) -> RequestPlan

    /// A connection ended from which a request was carried out that asked for the client's identity.
    func clientGone(_ client: ClientIdentity)

    /// True if there is a subject of events of this name.
    func hasSubject(_ name: String) -> Bool

    /// A client has come or gone.
    func clientCountChanged()
}

/// Takes the result of a request; called exactly once, on the loop.
package typealias Answer = @PlayerLoop (MethodResult) -> Void

/// Carries out a request on the loop. Of what the answer says, subscribers must have been sent the event before.
package typealias Execution = @PlayerLoop @Sendable (_ client: any ServerClient, _ answer: @escaping Answer) -> Void

/// Looks at disks and networks before a request is carried out, on a worker thread; it may block, and gives up when
/// `abandoned` is set. `descriptors` came with the request's line.
package typealias Preparation =
    @Sendable (_ descriptors: [OwnedDescriptor], _ abandoned: AbandonFlag) -> Result<Execution, RPCError>

/// Way in which a request is carried out.
package enum RequestPlan {
    case perform(Execution)
    /// The client's next requests wait until it is prepared.
    case prepare(Preparation)
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

/// A request whose method, role and parameters were judged by the catalogue.
package struct JudgedRequest: Sendable {
    /// Id as JSON text; nil: a notification.
    let id: [UInt8]?
    /// Name of the method.
    package let method: String
    package let parameters: JSONObject
    /// The rights of the client when the request is carried out.
    package let rights: ClientRights
    /// Number of the user that the client is, or for whose client it acts.
    package let user: UInt32
    /// True if it waits while the server holds requests.
    let isHeld: Bool
    /// True if it is a step of a batch.
    package let isInBatch: Bool
}

/// A client as handlers see it.
@PlayerLoop package protocol ServerClient: AnyObject {
    /// Number of the connection, never used twice by one server.
    var number: Int { get }
    /// Identity of the peer; looked up at the first use.
    var identity: ClientIdentity { get }
    /// Sends the client these events from now on, instead of those before; nil: none.
    func subscribe(_ subscription: Subscription?)
    /// Sends the client the events of a topic from now on, or no longer, beside those of its subscription.
    func follow(_ topic: String, _ isFollowed: Bool)
}

/// The peer at the other end of a connection.
package struct ClientIdentity: Sendable {
    /// Number of the connection, never used twice by one server.
    package let number: Int
    /// Name that it gave itself with `hello`, else its program's name; without control characters.
    package let name: String
    package let pid: Int32
    package let uid: UInt32
    package let role: Role
    /// True if it is of another user than the server's own and root, or speaks for one.
    package let isForeign: Bool

    /// An identity, by its parts.
    package init(number: Int, name: String, pid: Int32, uid: UInt32, role: Role, isForeign: Bool) {
        self.number = number
        self.name = name
        self.pid = pid
        self.uid = uid
        self.role = role
        self.isForeign = isForeign
    }
}
