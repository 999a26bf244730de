import ControlProtocol

/// The calls of the number table, made of the catalogue: each method, with each of its numbers at each value that may hurt.
/// A new method or number is in it without further work.
struct NumberTable {
    /// Calls that differ in the value of one number only.
    struct Row {
        let method: Method
        /// The number's place in the parameters: `items[0].chapters[0].start`.
        let path: String
        /// Parameters as JSON text, one for each value.
        let parameters: [String]
    }

    let rows: [Row]

    /// Values as JSON text that stand for no number, or for one that no part of the daemon can count with.
    private static let hostile = [
        "\"NaN\"", "\"Infinity\"", "null", "1e999", "-1e999", "1e300", "-1e300", "9007199254740992",
        "-9007199254740992",
        "9223372036854775807", "9223372036854775808", "-9223372036854775808", "99999999999999999999", "-0", "-0.0",
        "1e-300",
        "0.5",
    ]
    /// Stands in the parameters where the value belongs.
    private static let mark = "@number@"

    /// `uri`: a file that plays; `bell`: one that is over at once. `item`: the id of an item in the queue. `session`: an external session of the connection.
    init(uri: String, bell: String, item: Int64, session: String) {
        let samples = Samples(uri: uri, bell: bell, item: item, session: session)
        rows = Catalogue.methods.filter { $0.name != MethodName.other(.daemonQuit).rawValue }.flatMap { method in
            method.parameters.flatMap { parameter in
                Self.leaves(parameter.type, samples).map { leaf in
                    let text = JSONWriter.text(samples.parameters(of: method, with: parameter, as: leaf.value))
                    return Row(
                        method: method, path: parameter.name + leaf.path,
                        parameters: (Self.hostile + leaf.edges).map { text.replacing("\"\(Self.mark)\"", with: $0) })
                }
            }
        }
    }

    private struct Leaf {
        var path = ""
        var value: JSONValue
        let edges: [String]
    }

    /// Each number that a value of this type holds: a value with the mark in its place, and the edges of its range.
    private static func leaves(_ type: ParameterType, _ samples: Samples) -> [Leaf] {
        switch type {
        case .boolean, .text, .choice, .uri, .textOrTexts, .filter, .cursor: []
        case .removable(let type): leaves(type, samples)
        case .positiveNumber(let limit): [Leaf(value: .string(mark), edges: edges(0, limit))]
        case .numberIn(let range): [Leaf(value: .string(mark), edges: edges(range.lowerBound, range.upperBound))]
        case .integer(let range):
            [
                Leaf(
                    value: .string(mark),
                    edges: [range.lowerBound, range.lowerBound &- 1, range.upperBound, range.upperBound &+ 1].map {
                        "\($0)"
                    })
            ]
        case .media:
            leaves(.object(Catalogue.mediaFields), samples).map { leaf in
                var fields = leaf.value.objectValue ?? JSONObject()
                fields["uri"] = .string(samples.uri)
                return Leaf(path: leaf.path, value: .object(fields), edges: leaf.edges)
            }
        case .array(let element, _):
            leaves(element, samples).map { Leaf(path: "[0]" + $0.path, value: .array([$0.value]), edges: $0.edges) }
        case .object(let members):
            members.flatMap { member in
                leaves(member.type, samples).map { leaf in
                    var object = JSONObject()
                    for other in members where !other.isOptional { object[other.name] = samples.value(of: other) }
                    object[member.name] = leaf.value
                    return Leaf(path: "." + member.name + leaf.path, value: .object(object), edges: leaf.edges)
                }
            }
        }
    }

    private static func edges(_ low: Double, _ high: Double) -> [String] {
        [low, low.nextDown, low.nextUp, high, high.nextUp, high.nextDown, (low + high) / 2].map { "\($0)" }
    }
}

/// Values that calls are carried out with, so that the number under test gets as far as it can.
private struct Samples {
    let uri: String
    let bell: String
    let item: Int64
    let session: String

    /// The method's required parameters, and this one.
    func parameters(of method: Method, with parameter: Parameter, as value: JSONValue) -> JSONValue {
        var result = JSONObject()
        for other in method.parameters where !other.isOptional { result[other.name] = self.value(of: other) }
        if let needed = method.anyOf.first, !method.anyOf.contains(parameter.name) {
            result[needed] = method.parameters.first { $0.name == needed }.map(self.value(of:))
        }
        for needed in method.oneOf.prefix(1) where !method.oneOf.contains(parameter.name) {
            result[needed] = method.parameters.first { $0.name == needed }.map(self.value(of:))
        }
        // An announcement is answered when it is over.
        if method.name == MethodName.other(.announce).rawValue { result["uri"] = .string(bell) }
        result[parameter.name] = value
        return .object(result)
    }

    /// A value that is taken.
    func value(of parameter: Parameter) -> JSONValue {
        switch (parameter.name, parameter.type) {
        case ("id", .integer): return .integer(item)
        case ("ids", _): return [.integer(item)]
        case ("session", _): return .string(session)
        case ("command", _): return "skipForward"
        case (_, let type): return value(of: type)
        }
    }

    private func value(of type: ParameterType) -> JSONValue {
        switch type {
        case .boolean: true
        case .removable(let type): value(of: type)
        case .positiveNumber, .numberIn: 1
        case .integer(let range): .integer(range.lowerBound)
        case .text, .textOrTexts, .cursor: "numbers"
        case .filter: ["title": ["is": "numbers"]]
        case .choice(let words): .string(words[0])
        case .uri, .media: .string(uri)
        case .object(let members):
            .object(JSONObject(members.filter { !$0.isOptional }.map { JSONObject.Member($0.name, value(of: $0)) }))
        case .array(let element, _): .array([value(of: element)])
        }
    }
}
