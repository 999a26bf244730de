import ControlProtocol
import NowPlaying

/// A client of another server, for which a connection of that server acts: `actsFor` of `hello`.
struct Principal: Sendable {
    let uid: UInt32
    let pid: Int32
    /// Its name, without control characters.
    let name: String

    /// The principal of a checked parameter; nil: members are missing.
    init?(_ value: JSONValue) {
        guard let uid = value["uid"]?.integerValue, let pid = value["pid"]?.integerValue,
            let name = value["client"]?.stringValue
        else { return nil }
        self.uid = UInt32(clamping: uid)
        self.pid = Int32(clamping: pid)
        self.name = PrintableText.stripped(name, limit: 128)
    }
}
