import LinuxSystem

/// A value for each of the clients that used it last. It saves work; a client without its value has the same answers.
struct RecentByClient<Value> {
    private struct Entry {
        let client: Int
        let source: PeerSource
        let value: Value
    }

    /// The oldest first.
    private var entries: [Entry] = []

    /// Maximum values of all clients, and of the clients of one source.
    private static var most: Int { 48 }
    private static var mostOfSource: Int { 16 }

    /// No values.
    init() {}

    /// The value of a client; nil: there is none. Setting drops the oldest value for which there is no room.
    @PlayerLoop subscript(client: MPDClient) -> Value? {
        get { entries.last { $0.client == client.number }?.value }
        set {
            entries.removeAll { $0.client == client.number }
            guard let newValue else { return }
            let isOwn: (Entry) -> Bool = { $0.source == client.source }
            if entries.count(where: isOwn) >= Self.mostOfSource, let oldest = entries.firstIndex(where: isOwn) {
                entries.remove(at: oldest)
            }
            if entries.count >= Self.most { entries.removeFirst() }
            entries.append(Entry(client: client.number, source: client.source, value: newValue))
        }
    }
}
