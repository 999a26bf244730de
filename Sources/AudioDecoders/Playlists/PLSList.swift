/// PLS: an INI file with the keys `File1`, `Title1`, `Length1`, and so on, in any order.
enum PLSList {
    /// The entries in the order of their numbers.
    static func entries(_ content: [UInt8]) -> [PlaylistEntry] {
        var found: [Int: PlaylistEntry] = [:]
        for line in PlaylistText.lines(PlaylistText.normalized(content)) {
            guard let equals = line.firstIndex(of: UInt8(ascii: "=")) else { continue }
            let key = PlaylistText.trimmed(line[..<equals])
            let value = PlaylistText.trimmed(line[(equals + 1)...])
            guard !value.isEmpty else { continue }
            if let number = number(key, "File") {
                found[number, default: PlaylistEntry(location: [])].location = Array(value)
            } else if let number = number(key, "Title") {
                found[number, default: PlaylistEntry(location: [])].metadata = PlaylistTitle.metadata(value)
            } else if let number = number(key, "Length") {
                found[number, default: PlaylistEntry(location: [])].duration = PlaylistText.seconds(value)
            }
        }
        return found.keys.sorted().compactMap { found[$0] }.filter { !$0.location.isEmpty }
    }

    private static func number(_ key: ArraySlice<UInt8>, _ name: StaticString) -> Int? {
        guard PlaylistText.has(key, prefix: name) else { return nil }
        let digits = key.dropFirst(name.utf8CodeUnitCount)
        guard !digits.isEmpty, digits.count <= 9, digits.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }) else {
            return nil
        }
        return Int(String(decoding: digits, as: UTF8.self))
    }
}
