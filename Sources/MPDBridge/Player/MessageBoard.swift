import LinuxSystem
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
    /// Maximum waiting messages of a client, and their bytes.
    private static let maximumMessages = 64
    private static let maximumBytes = 64 << 10
    /// Maximum bytes of a channel's name.
    private static let maximumName = 128
    /// Bytes of memory of a message without its texts.
    private static let costOfMessage = 96

    private var channels: [Int: Set<String>] = [:]
    private var messages: [Int: Waiting] = [:]

    /// Waiting messages of a client, and the memory for them.
    private struct Waiting {
        var messages: [Message] = []
        var bytes = 0
        let share: HeldShare?
    }

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

    /// Sends a message. A client whose messages have no room for it does not get it. Returns the subscribers. `share`: the
    /// memory of a client; nil: there is no bound. Throws MPD's message.
    @PlayerLoop mutating func send(
        _ channel: String, _ text: String, share: (Int) -> HeldShare? = { _ in nil }
    ) throws(MPDFailure) -> [Int] {
        guard Self.isName(channel) else { throw MPDFailure(.argument, "invalid channel name") }
        let readers = channels.filter { $0.value.contains(channel) }.map(\.key)
        guard !readers.isEmpty else { throw MPDFailure(.noExist, "nobody is subscribed to this channel") }
        let message = Message(channel: channel, text: text)
        let cost = channel.utf8.count + text.utf8.count + Self.costOfMessage
        for reader in readers {
            var waiting = messages[reader] ?? Waiting(share: share(reader))
            guard waiting.messages.count < Self.maximumMessages, waiting.bytes + cost <= Self.maximumBytes,
                waiting.share?.add(cost) ?? true
            else { continue }
            waiting.messages.append(message)
            waiting.bytes += cost
            messages[reader] = waiting
        }
        return readers
    }

    /// Takes the messages of a client.
    mutating func take(_ client: Int) -> [Message] { messages.removeValue(forKey: client)?.messages ?? [] }

    /// Forgets a client that has gone. Calls `note` if one of its channels has no other subscriber.
    mutating func forget(_ client: Int, _ note: (Subsystem) -> Void) {
        let before = names
        channels[client] = nil
        messages[client] = nil
        if names != before { note(.subscription) }
    }

    private static func isName(_ channel: String) -> Bool {
        !channel.isEmpty && channel.utf8.count <= maximumName
            && channel.unicodeScalars.allSatisfy {
                $0.properties.isAlphabetic && $0.isASCII || ("0"..."9").contains($0)
                    || "_-.:".unicodeScalars.contains($0)
            }
    }
}
