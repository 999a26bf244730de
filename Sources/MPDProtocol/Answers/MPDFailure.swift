/// MPD's number for a kind of failure. Clients know only these numbers.
package enum AckCode: Int, CaseIterable, Sendable {
    case notList = 1
    case argument = 2
    case password = 3
    case permission = 4
    case unknown = 5
    case noExist = 50
    case playlistMaximum = 51
    case system = 52
    case playlistLoad = 53
    case updateAlready = 54
    case playerSync = 55
    case exist = 56
}

/// The failure of a request, in MPD's words.
package struct MPDFailure: Error, Equatable, Sendable {
    package let code: AckCode
    /// One line for people; clients compare some of them.
    package let message: String

    /// A failure, by its parts.
    package init(_ code: AckCode, _ message: String) {
        self.code = code
        self.message = message
    }
}
