import MPDProtocol

/// Messages between clients, by named channels.
struct MessageBoard {
    /// A message that a client has not read.
    struct Message: Equatable {
        let channel: String
        let text: String
    }

    /// Maximum channels of a client.
    private static let maximumChannels = 16
    /// Maximum waiting messages of a client.
    private static let maximumMessages = 64

    private var channels: [Int: Set<String>] = [:]
    private var messages: [Int: [Message]] = [:]

    /// A board without clients.
    init() {}

    /// All channels with a subscriber, in order.
    var names: [String] { channels.values.reduce(into: Set<String>()) { $0.formUnion($1) }.sorted() }

    /// Subscribes a client to a channel. Throws MPD's message.
    mutating func subscribe(_ client: Int, _ channel: String) throws(MPDFailure) {
        guard Self.isName(channel) else { throw MPDFailure(.argument, "invalid channel name") }
        let present = channels[client] ?? []
        guard !present.contains(channel) else { throw MPDFailure(.exist, "already subscribed to this channel") }
        guard present.count < Self.maximumChannels else { throw MPDFailure(.exist, "subscription list is full") }
        channels[client, default: []].insert(channel)
    }

    /// Unsubscribes a client from a channel. Throws MPD's message.
    mutating func unsubscribe(_ client: Int, _ channel: String) throws(MPDFailure) {
        guard channels[client]?.remove(channel) != nil else {
            throw MPDFailure(.noExist, "not subscribed to this channel")
        }
        if channels[client]?.isEmpty == true { channels[client] = nil }
    }

    /// Sends a message. Returns the clients that got it. Throws MPD's message.
    mutating func send(_ channel: String, _ text: String) throws(MPDFailure) -> [Int] {
        guard Self.isName(channel) else { throw MPDFailure(.argument, "invalid channel name") }
        let readers = channels.filter { $0.value.contains(channel) }.map(\.key)
        guard !readers.isEmpty else { throw MPDFailure(.noExist, "nobody is subscribed to this channel") }
        for reader in readers where messages[reader, default: []].count < Self.maximumMessages {
            messages[reader, default: []].append(Message(channel: channel, text: text))
        }
        return readers
    }

    /// Takes the messages of a client.
    mutating func take(_ client: Int) -> [Message] { messages.removeValue(forKey: client) ?? [] }

    /// Forgets a client that has gone. Calls `note` if one of its channels has no other subscriber.
    mutating func forget(_ client: Int, _ note: (Subsystem) -> Void) {
        let before = names
        channels[client] = nil
        messages[client] = nil
        if names != before { note(.subscription) }
    }

    private static func isName(_ channel: String) -> Bool {
        !channel.isEmpty
            && channel.unicodeScalars.allSatisfy {
                $0.properties.isAlphabetic && $0.isASCII || ("0"..."9").contains($0)
                    || "_-.:".unicodeScalars.contains($0)
            }
    }
}
