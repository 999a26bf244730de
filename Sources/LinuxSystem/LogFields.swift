package import NowPlaying

/// Facts about a line of the log, for the fields of the journal. Lines without a journal do not show them.
package struct LogFields: Sendable {
    /// The fault that the line reports; nil: none with a number of its own.
    package let fault: KnownFault?
    /// The name of the session.
    package let session: String?
    /// The cause of the state that shows the same.
    package let cause: Cause?
    /// The address of the item, as states show it.
    package let item: String?

    /// Facts, by their parts.
    package init(
        _ fault: KnownFault? = nil, session: String? = nil, cause: Cause? = nil, item: String? = nil
    ) {
        self.fault = fault
        self.session = session
        self.cause = cause
        self.item = item
    }

    /// Names and values in the order of the manual. Values are of one line.
    var fields: [(name: String, value: String)] {
        let values = [
            ("MESSAGE_ID", fault?.rawValue), ("NOWPLAYING_SESSION", session), ("NOWPLAYING_CAUSE", cause?.rawValue),
            ("NOWPLAYING_ITEM", item.map(Self.publicAddress)),
        ]
        return values.compactMap { name, value in value.map { (name, PrintableText.escaped($0, limit: 800)) } }
    }

    /// An address without user, password, query and fragment, any of which may be a secret (RFC 3986, section 3). A path of a
    /// file has neither, and its address writes their signs as `%3F` and `%23`.
    package static func publicAddress(_ address: String) -> String {
        let shown = Array(address.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") })
        let slash = UInt8(ascii: "/")
        guard let first = shown.firstIndex(of: slash), first + 1 < shown.count, shown[first + 1] == slash else {
            return String(decoding: shown, as: UTF8.self)
        }
        let start = first + 2
        let end = shown[start...].firstIndex(of: slash) ?? shown.count
        // The host begins after the last sign: a password may have one, too.
        let host = shown[start..<end].lastIndex(of: UInt8(ascii: "@")).map { $0 + 1 } ?? start
        return String(decoding: shown[..<start] + shown[host...], as: UTF8.self)
    }
}
