import MPDProtocol

/// A kind of subject that has stickers.
enum StickerType: Equatable, Sendable {
    case song, playlist, filter
    case tag(MPDTag)

    /// Reads the name of a type. Throws MPD's message.
    init(_ argument: Argument) throws(MPDFailure) {
        switch argument.text {
        case "song": self = .song
        case "playlist": self = .playlist
        case "filter": self = .filter
        case _:
            guard let tag = MPDTag(argument) else { throw MPDFailure(.argument, "unknown sticker domain") }
            self = .tag(tag)
        }
    }

    /// The name in the store.
    var name: String {
        switch self {
        case .song: "song"
        case .playlist: "playlist"
        case .filter: "filter"
        case .tag(let tag): tag.rawValue
        }
    }

    /// The key of a line that names a subject.
    var key: String { self == .song ? "file" : name }

    /// All names.
    static let allNames = ["filter", "playlist", "song"] + MPDTag.allCases.map(\.rawValue)
}

/// A subject with a matching sticker.
struct FoundSticker: Equatable, Sendable {
    let name: [UInt8]
    let value: String
}

/// A comparison of values in `sticker find`.
struct StickerTest: Equatable, Sendable {
    private enum Relation: String {
        case equals = "="
        case less = "<"
        case greater = ">"
        case numberEquals = "eq"
        case numberLess = "lt"
        case numberGreater = "gt"
        case contains
        case startsWith = "starts_with"
    }

    /// Nil: every value matches.
    private let test: (relation: Relation, value: String)?

    static func == (one: StickerTest, other: StickerTest) -> Bool {
        one.test?.relation == other.test?.relation && one.test?.value == other.test?.value
    }

    /// Reads an operator and a value, or no arguments. Throws MPD's message.
    init(_ arguments: [Argument]) throws(MPDFailure) {
        guard !arguments.isEmpty else {
            test = nil
            return
        }
        guard arguments.count == 2, let relation = Relation(rawValue: arguments[0].text) else {
            throw MPDFailure(.argument, arguments.count == 2 ? "bad operator" : "bad request")
        }
        test = (relation, arguments[1].text)
    }

    /// True if a value matches.
    func fits(_ value: String) -> Bool {
        guard let test else { return true }
        let (number, wanted) = (Int64(value) ?? 0, Int64(test.value) ?? 0)
        return switch test.relation {
        case .equals: value == test.value
        case .less: value.utf8.lexicographicallyPrecedes(test.value.utf8)
        case .greater: test.value.utf8.lexicographicallyPrecedes(value.utf8)
        case .numberEquals: number == wanted
        case .numberLess: number < wanted
        case .numberGreater: number > wanted
        case .contains: TextSearch.contains(value, test.value)
        case .startsWith: value.hasPrefix(test.value)
        }
    }
}

/// The options at the end of `sticker find`: `sort` and `window`.
struct StickerTail: Equatable, Sendable {
    private enum Key: String {
        case uri, value
        case number = "value_int"
    }

    private var key = Key.uri
    private var isFalling = false
    private var window: Range<Int> = 0..<Int.max

    /// Removes the options from these arguments and reads them. Throws MPD's message.
    init(_ arguments: inout [Argument]) throws(MPDFailure) {
        if arguments.count >= 2, arguments[arguments.count - 2].text == "window" {
            window = try arguments[arguments.count - 1].indices()
            arguments.removeLast(2)
        }
        if arguments.count >= 2, arguments[arguments.count - 2].text == "sort" {
            let text = arguments[arguments.count - 1].text
            isFalling = text.hasPrefix("-")
            guard let key = Key(rawValue: isFalling ? String(text.dropFirst()) : text) else {
                throw MPDFailure(.argument, "Unknown sort tag")
            }
            self.key = key
            arguments.removeLast(2)
        }
    }

    /// The rows of the window in their order.
    func sorted(_ rows: [FoundSticker]) -> ArraySlice<FoundSticker> {
        let ordered = rows.sorted { one, other in
            let (left, right) = isFalling ? (other, one) : (one, other)
            switch key {
            case .uri: break
            case .value where left.value != right.value: return left.value < right.value
            case .number:
                let (less, more) = (Int64(left.value) ?? 0, Int64(right.value) ?? 0)
                if less != more { return less < more }
            case .value: break
            }
            return left.name.lexicographicallyPrecedes(right.name)
        }
        return ordered.dropFirst(window.lowerBound).prefix(window.count)
    }
}
