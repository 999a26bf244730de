package import AudioCore

/// The sound output.
package enum OutputChoice: Equatable, Sendable {
    case pulse
    /// No device, at the pace of one.
    case null
    /// WAV files at this path, as fast as possible.
    case file(String)
    /// One mixed WAV file of this format, at the pace of a device.
    case mixedFile(String, FixedFormat)
    /// The pipe at the standard output, at the pace of a device.
    case standardOutput(FixedFormat)
    /// The FIFO at this path, at the pace of a device.
    case pipe(String, FixedFormat)
    /// A source of a Snapcast server.
    case snapcast(SnapcastAddress, FixedFormat)

    /// Valid values, for messages.
    package static let values =
        "pulse, null, pipe:PATH[,RATE:BITS:CHANNELS], snapcast:HOST[:PORT][,RATE:BITS:CHANNELS], "
        + "file:PATH[,RATE:BITS:CHANNELS] or -[,RATE:BITS:CHANNELS]"

    /// Parses one of `values`; nil: anything else.
    package init?(_ text: String) {
        switch text {
        case "pulse": self = .pulse
        case "null": self = .null
        default:
            if text.hasPrefix("file:"), text.utf8.count > 5 {
                // A comma may also belong to the name.
                if let (path, format) = Self.address(text.dropFirst(5), nil) {
                    self = .mixedFile(path, format)
                } else {
                    self = .file(String(text.dropFirst(5)))
                }
            } else if text == "-" {
                self = .standardOutput(.compactDisc)
            } else if text.hasPrefix("-,") {
                guard let format = FixedFormat(text.dropFirst(2)) else { return nil }
                self = .standardOutput(format)
            } else if text.hasPrefix("pipe:") {
                guard let (path, format) = Self.address(text.dropFirst(5), .compactDisc) else { return nil }
                self = .pipe(path, format)
            } else if text.hasPrefix("snapcast:") {
                guard let (place, format) = Self.address(text.dropFirst(9), .snapcast),
                    let address = SnapcastAddress(place), format.sample != .float32
                else { return nil }
                self = .snapcast(address, format)
            } else {
                return nil
            }
        }
    }

    /// Splits a path or address from the format after its last comma. `usual`: the format if there is none; nil: the
    /// format is required.
    private static func address(_ text: Substring, _ usual: FixedFormat?) -> (String, FixedFormat)? {
        let comma = text.lastIndex(of: ",")
        let place = text[..<(comma ?? text.endIndex)]
        guard !place.isEmpty else { return nil }
        guard let comma else { return usual.map { (String(place), $0) } }
        return FixedFormat(text[text.index(after: comma)...]).map { (String(place), $0) }
    }
}
