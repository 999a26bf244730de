/// Places of connections, by their sources. Some are left for the bridge's own user.
struct ClientPlaces {
    /// Maximum connections.
    static let most = 1000
    /// Maximum connections of all sources but the bridge's own user.
    static let mostOfOthers = 800
    /// Maximum connections of one other user of this machine.
    static let mostOfUser = 200
    /// Maximum connections of one IP address.
    static let mostOfAddress = 100
    /// Maximum connections of all IP addresses.
    static let mostOfNetwork = 400

    private var counts: [PeerSource: Int] = [:]
    private var all = 0
    private var others = 0
    private var network = 0

    /// Places without connections.
    init() {}

    /// Takes a place; false: there is none for this source.
    mutating func enter(_ source: PeerSource) -> Bool {
        let count = counts[source, default: 0]
        let hasRoom: Bool =
            switch source {
            case .own: true
            case .user: count < Self.mostOfUser && others < Self.mostOfOthers
            case .address, .unknown:
                count < Self.mostOfAddress && network < Self.mostOfNetwork && others < Self.mostOfOthers
            }
        guard hasRoom, all < Self.most else { return false }
        change(source, 1)
        return true
    }

    /// Returns a place.
    mutating func leave(_ source: PeerSource) { change(source, -1) }

    private mutating func change(_ source: PeerSource, _ step: Int) {
        all += step
        counts[source, default: 0] += step
        if counts[source] == 0 { counts[source] = nil }
        switch source {
        case .own: break
        case .user: others += step
        case .address, .unknown:
            others += step
            network += step
        }
    }
}
