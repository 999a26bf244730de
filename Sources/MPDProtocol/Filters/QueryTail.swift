/// The options at the end of a query: `window`, `sort`, `group` and `position`, read from the end.
package struct QueryTail: Equatable, Sendable {
    /// Key of a sort order.
    package enum SortKey: Equatable, Sendable {
        case tag(MPDTag)
        case lastModified
        case added
        case priority
    }

    /// Order of the answer.
    package struct Sort: Equatable, Sendable {
        package let key: SortKey
        package let isFalling: Bool

        /// Reads `Artist` or `-Last-Modified`. Throws MPD's message.
        package init(_ argument: Argument) throws(MPDFailure) {
            isFalling = argument.bytes.first == UInt8(ascii: "-")
            let name = isFalling ? Argument(Array(argument.bytes.dropFirst())) : argument
            if name.isWord("Last-Modified") {
                key = .lastModified
            } else if name.isWord("Added") {
                key = .added
            } else if name.isWord("prio") {
                key = .priority
            } else if let tag = MPDTag(name) {
                key = .tag(tag)
            } else {
                throw MPDFailure(.argument, "Unknown sort tag")
            }
        }
    }

    /// Options of a command.
    package struct Options: OptionSet, Sendable {
        /// One bit for each option.
        package let rawValue: UInt8

        /// Options, by their bits.
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        package static let position = Options(rawValue: 1)
        package static let window = Options(rawValue: 2)
        package static let sort = Options(rawValue: 4)
        package static let groups = Options(rawValue: 8)
    }

    /// Nil: everything.
    package private(set) var window: MPDRange?
    package private(set) var sort: Sort?
    /// In the order of the request.
    package private(set) var groups: [MPDTag] = []
    package private(set) var position: Destination?

    /// Removes the options at the end of `arguments` and reads them. Throws MPD's message.
    package init(_ arguments: inout [Argument], _ options: Options) throws(MPDFailure) {
        if options.contains(.position), let value = Self.take("position", &arguments) {
            position = try Destination(value)
        }
        if options.contains(.window), let value = Self.take("window", &arguments) { window = try value.range() }
        if options.contains(.sort), let value = Self.take("sort", &arguments) { sort = try Sort(value) }
        while options.contains(.groups), let value = Self.take("group", &arguments) {
            guard let tag = MPDTag(value) else { throw value.fault("Unknown tag type") }
            groups.insert(tag, at: 0)
        }
    }

    /// Takes the last argument as the value of the option in the argument before it.
    private static func take(_ option: String, _ arguments: inout [Argument]) -> Argument? {
        guard arguments.count >= 2, arguments[arguments.count - 2] == Argument(option) else { return nil }
        let value = arguments.removeLast()
        arguments.removeLast()
        return value
    }
}
