/// The methods that one server answers, by name.
package struct MethodTable: Sendable {
    /// A notification to subscribers.
    package typealias Notification = (name: String, summary: String)

    /// Name of the program in `rpc.discover`.
    package let title: String
    /// All methods, in the order of the manual.
    package let methods: [Method]
    package let notifications: [Notification]
    private let byName: [String: Method]

    /// A table of these methods, whose names must differ.
    package init(title: String, methods: [Method], notifications: [Notification]) {
        self.title = title
        self.methods = methods
        self.notifications = notifications
        byName = Dictionary(uniqueKeysWithValues: methods.map { ($0.name, $0) })
    }

    /// The method with this name on the wire; nil: there is none.
    package func method(_ name: String) -> Method? { byName[name] }

    /// The refusal of a method that is not in the table.
    package func unknownMethod(_ name: String) -> RPCError {
        let shown = String(name.prefix(64))
        guard let nearest = NearestName.of(name, among: methods.map(\.name)) else {
            return .methodNotFound("unknown method “\(shown)”")
        }
        let isClose = NearestName.suggestion(for: name, among: methods.map(\.name)) != nil
        return .methodNotFound(
            "unknown method “\(shown)”" + (isClose ? "; did you mean “\(nearest)”?" : ""), nearest: nearest)
    }
}
