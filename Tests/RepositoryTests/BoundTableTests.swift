import Foundation
import Testing

/// The tables of bounds in docs/security.md that name what clients of MPD and of the page can make the programs hold and spend.
@Suite struct BoundTableTests {
    /// For each row, tests that fill it: the folder of the suite, the suite, and the name of the function.
    private static let mpd: KeyValuePairs<String, [String]> = [
        "connections": [
            "MPDBridgeTests/BoundTests.places", "MPDBridgeTests/StrangerTests.places",
            "AcceptanceTests/MPDBoundTests.bounds",
        ],
        "a connection without any right": ["MPDBridgeTests/ClientPatienceTests.stranger"],
        "a line": ["AcceptanceTests/MPDBoundTests.bounds"],
        "a command list": ["MPDProtocolTests/ConversationTests.listLimits", "AcceptanceTests/MPDBoundTests.bounds"],
        "unread answers": ["MPDBridgeTests/ClientPatienceTests.unread", "AcceptanceTests/MPDBoundTests.bounds"],
        "long commands: the library, listings of the queue": ["MPDBridgeTests/BoundTests.long"],
        "memory of answers and lists: command lists, values of tags, sorted songs, indexes of the queue, stickers, messages":
            [
                "MPDBridgeTests/BoundTests.memory", "AcceptanceTests/MPDBoundTests.bounds",
            ],
        "a turn of the loop": ["MPDBridgeTests/BoundTests.turns", "AcceptanceTests/MPDBoundTests.bounds"],
        "a filter": ["MPDBridgeTests/RegularExpressionTests.limits"],
        "processor time for filters": [
            "MPDBridgeTests/RegularExpressionTests.bounds", "MPDBridgeTests/RegularExpressionTests.budget",
        ],
        "memory of a pattern": [
            "MPDBridgeTests/RegularExpressionTests.bounds", "MPDBridgeTests/RegularExpressionTests.invalid",
        ],
        "messages": ["MPDBridgeTests/BoundTests.messages", "AcceptanceTests/MPDBoundTests.bounds"],
        "pictures that are being read, places in results": [
            "MPDBridgeTests/BoundTests.recent", "AcceptanceTests/MPDBoundTests.bounds",
        ],
        "part of a picture": ["MPDProtocolTests/AnswerTests.parts"],
        "passwords": ["MPDBridgeTests/StrangerTests.guesses", "AcceptanceTests/MPDBoundTests.bounds"],
        "stickers": [
            "MPDBridgeTests/StickerBoundTests.lengths", "MPDBridgeTests/StickerBoundTests.size",
            "AcceptanceTests/MPDBoundTests.bounds",
        ],
        "lines in the log: wrong passwords, refused connections": [
            "MPDBridgeTests/BoundTests.log", "AcceptanceTests/MPDBoundTests.bounds",
        ],
    ]

    private static let page: KeyValuePairs<String, [String]> = [
        "connections": ["WebBridgeTests/RequestTests.unfinished", "WebSecurityTests/PlaceTests.slowReaders"],
        "requests, streams and WebSockets of a caller": [
            "WebSecurityTests/PlaceTests.streamsOfOneDevice", "WebSecurityTests/BoundTests.unread",
        ],
        "head of a request": ["WebBridgeTests/RequestTests.limits", "WebSecurityTests/BoundTests.heads"],
        "body of a request": ["WebBridgeTests/RequestTests.drippingBody", "WebSecurityTests/BoundTests.bodies"],
        "message of a WebSocket": ["WebBridgeTests/SocketTests.fragments", "WebSecurityTests/BoundTests.fragments"],
        "messages and bodies that have not ended": [
            "WebBridgeTests/SocketTests.unfinished", "WebSecurityTests/BoundTests.messages",
        ],
        "answers that a client does not read": [
            "WebBridgeTests/SocketTests.bounded", "WebSecurityTests/BoundTests.unread",
        ],
        "events that a client does not read": ["WebSecurityTests/BoundTests.unread"],
        "processor time": ["WebSecurityTests/BoundTests.flood"],
        "figures": ["WebBridgeTests/MetricsTests.hammered", "WebBridgeTests/MetricsTests.absent"],
        "announcements": [
            "WebBridgeTests/RequestTests.arrivingAnnouncements", "WebSecurityTests/PlaceTests.announcements",
        ],
        "speech": ["WebBridgeTests/SpeechTests.limits", "WebBridgeTests/SpeechTests.time"],
        "wrong codes and tokens": ["WebSecurityTests/BoundTests.guesses", "WebAccessTests/PairingTests.delays"],
        "guesses of one code": ["WebAccessTests/PairingTests.guessingAlone", "WebAccessTests/PairingTests.guessing"],
        "proofs of a device": ["WebAccessTests/ProofTests.bounds"],
        "paired devices": ["WebAccessTests/PairingTests.limit"],
        "users whose groups are looked up": ["WebAccessTests/UserGroupTests.hangs"],
        "rooms": [
            "WebBridgeTests/RoomTests.many", "WebBridgeTests/RoomTests.flood", "WebBridgeTests/RoomTests.hostile",
        ],
        "pictures of the library that are known": ["WebBridgeTests/KnownPictureTests.bounds"],
    ]

    /// The first cells of the rows of a section.
    private static func rows(_ section: String) throws -> [String] {
        let text = try String(contentsOfFile: ScriptRun.root + "/docs/security.md", encoding: .utf8)
        let part = text.components(separatedBy: "\n### ").first { $0.hasPrefix(section + "\n") } ?? ""
        let lines = part.components(separatedBy: "\n## ")[0].split(separator: "\n").filter { $0.hasPrefix("| ") }
        return lines.dropFirst().map { $0.dropFirst(2).components(separatedBy: " |")[0] }
    }

    @Test(arguments: [("MPD", mpd), ("The page (nowplaying-web)", page)])
    func eachRowHasATest(_ section: String, _ tests: KeyValuePairs<String, [String]>) throws {
        #expect(try Self.rows(section) == tests.map(\.key))
        for (row, names) in tests {
            for name in names {
                let parts = name.split(separator: ".").map(String.init)
                let file = ScriptRun.root + "/Tests/" + parts[0] + ".swift"
                let text = try String(contentsOfFile: file, encoding: .utf8)
                #expect(text.contains("func \(parts[1])("), "\(row): \(name)")
            }
        }
    }
}
