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
        get { value(of: client.number) }
        set { set(newValue, of: client.number, at: client.source) }
    }

    /// The value of the client of this number.
    func value(of client: Int) -> Value? { entries.last { $0.client == client }?.value }

    /// Sets the value of the client of this number and source.
    mutating func set(_ value: Value?, of client: Int, at source: PeerSource) {
        entries.removeAll { $0.client == client }
        guard let value else { return }
        let isOfSource: (Entry) -> Bool = { $0.source == source }
        if entries.count(where: isOfSource) >= Self.mostOfSource, let oldest = entries.firstIndex(where: isOfSource) {
            entries.remove(at: oldest)
        }
        if entries.count >= Self.most { entries.removeFirst() }
        entries.append(Entry(client: client, source: source, value: value))
    }
}
