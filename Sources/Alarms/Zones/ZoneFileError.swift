/// Reason why bytes are not the file of a time zone.
package enum ZoneFileError: Error, Hashable, Sendable {
    /// It has more than `ZoneFile.limit` bytes.
    case tooLong
    /// It does not begin as such a file does.
    case otherFormat
    /// It ends within this part.
    case truncated(Part)
    /// Its header has a number for this part that is impossible.
    case wrongCount(Part)
    /// The times of this part do not ascend.
    case disordered(Part)
    /// An element of this part is out of range.
    case outOfRange(Part)
    /// The rule at its end is not one of POSIX, from this byte of the rule on.
    case wrongRule(byte: Int)

    /// A part of the file, in words.
    package enum Part: String, Sendable {
        case header
        case times = "transition times"
        case types = "types of transitions"
        case offsets = "local time types"
        case designations
        case leapSeconds = "leap seconds"
        case indicators
        case rule = "rule at its end"
    }

    /// The reason in words, to follow the name of the file and a colon.
    package var message: String {
        switch self {
        case .tooLong: "more than \(ZoneFile.limit) bytes"
        case .otherFormat: "not a time zone file"
        case .truncated(let part): "it ends within its \(part.rawValue)"
        case .wrongCount(let part): "impossible number of \(part.rawValue)"
        case .disordered(let part): "its \(part.rawValue) do not ascend"
        case .outOfRange(let part): "a value is out of range in its \(part.rawValue)"
        case .wrongRule(let byte): "the rule at its end is invalid from byte \(byte) on"
        }
    }
}
